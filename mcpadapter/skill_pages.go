package mcpadapter

import (
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// listSize returns the maximum number of rows on a page of a list whose cursors name
// rows.
func (a *Adapter) listSize() int { return min(a.config.pageSize, paging.MaxRows) }

// after returns the items after a cursor, or all items for a nil cursor. The items are in
// the byte order of their keys. The scope names the list; a cursor of another list is
// invalid.
func after[T any](items []T, scope string, cursor *string, key func(T) string) ([]T, error) {
	if cursor == nil {
		return items, nil
	}
	encoded, ok := strings.CutPrefix(*cursor, scope+".")
	if !ok || encoded == "" {
		return nil, invalidCursor(*cursor)
	}
	_, page, err := toolshelf.Paginate(items, toolshelf.Page{Size: 1, Cursor: encoded}, key)
	if err != nil {
		return nil, invalidCursor(*cursor)
	}
	return items[page.Page-1:], nil // pages of one item are numbered from 1
}

// cursorAfter returns the cursor of the items after an item.
func cursorAfter[T any](item T, scope string, key func(T) string) string {
	_, page, err := toolshelf.Paginate([]T{item, item}, toolshelf.Page{Size: 1}, key) // a first page with a next page
	if err != nil {
		panic(err) // the page is valid
	}
	return scope + "." + page.NextCursor
}
