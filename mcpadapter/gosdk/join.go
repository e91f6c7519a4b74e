package gosdk

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math"

	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// identify returns the identity of a list from its kind and all its items.
func identify[T any](kind string, items []T) (paging.Identity, error) {
	hash := sha256.New()
	hash.Write([]byte(kind))
	e := json.NewEncoder(hash)
	for _, item := range items {
		if err := e.Encode(item); err != nil {
			return paging.Identity{}, err
		}
	}
	return paging.Identify(hash.Sum(nil)), nil
}

// wholeKey is the key of a context that requests a list without pages.
type wholeKey struct{}

// whole returns a context that makes join return the whole list. A binding requests the
// rows of another binding with this context, because each page of the other binding
// costs the whole list of the bindings below.
func whole(ctx context.Context) context.Context { return context.WithValue(ctx, wholeKey{}, true) }

// join returns one page of a list, or the whole list for a context of whole: first the rows of the
// adapter, then the server's own rows, except the rows that the adapter also has. ours returns a
// page of the adapter's rows; its cursor is nil for the first page. The server's own rows begin on
// the last page of the adapter's rows if the page has room. kind names the list.
func join[T any](ctx context.Context, kind string, size int, own []T, cursor *string, ours func(cursor *string) (rows []T, next string, err error), taken func(T) bool) (page []T, next string, err error) {
	id, err := identify(kind, own)
	if err != nil {
		return nil, "", err
	}
	first, afterOurs := 0, false
	if cursor != nil {
		if first, afterOurs = id.Offset(*cursor, len(own)); afterOurs {
			cursor = nil
		}
	}
	rows, next, err := ours(cursor)
	if err != nil {
		return nil, "", err
	}
	if ctx.Value(wholeKey{}) != nil {
		size = math.MaxInt
		for next != "" {
			var more []T
			after := next
			if more, next, err = ours(&after); err != nil {
				return nil, "", err
			}
			rows = append(rows, more...)
		}
	}
	page = []T{}
	if !afterOurs {
		if page = append(page, rows...); next != "" {
			return page, next, nil
		}
	}
	for i := first; i < len(own); i++ {
		if taken(own[i]) {
			continue
		}
		if len(page) == size {
			return page, id.Cursor(i), nil
		}
		page = append(page, own[i])
	}
	return page, "", nil
}
