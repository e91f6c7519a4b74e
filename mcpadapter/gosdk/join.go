package gosdk

import (
	"crypto/sha256"
	"encoding/json"

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

// join returns one page of a list: first the rows of the adapter, then the server's own
// rows, except the rows that the adapter also has. ours returns a page of the adapter's
// rows; its cursor is nil for the first page. The server's own rows begin on the last page
// of the adapter's rows if the page has room. kind names the list.
func join[T any](kind string, size int, own []T, cursor *string, ours func(cursor *string) (rows []T, next string, err error), taken func(T) bool) (page []T, next string, err error) {
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
