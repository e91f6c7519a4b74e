package toolshelf

import (
	"cmp"
	"sort"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/cursor"
)

const (
	defaultPageSize = 50
	maxPageSize     = 100
)

// A Page selects a part of a list. The zero Page selects the first 50 rows.
type Page struct {
	Number int    // counts from 1; 0 means 1; a page beyond the end is empty, without an error
	Size   int    // rows per page, 1 to 100; 0 means 50
	Cursor string // Pagination.NextCursor of the previous page; excludes Number
}

// Pagination describes the returned page.
type Pagination struct {
	Page       int    `json:"page"`                  // the requested number; with a cursor, the number of the page whose rows include the first returned row
	PageSize   int    `json:"page_size"`             // rows per page, with the default applied
	Total      int    `json:"total"`                 // rows of the whole list
	TotalPages int    `json:"total_pages"`           // Total / PageSize, rounded up; 0 for an empty list
	HasNext    bool   `json:"has_next"`              // rows follow this page
	HasPrev    bool   `json:"has_prev"`              // a page precedes this one
	NextCursor string `json:"next_cursor,omitempty"` // for Page.Cursor; empty if no row follows
}

// Paginate returns one page of items, without copying, by the rules of [Catalog.List].
//
// A page number is a position: if rows are added or removed between two calls, the second page may
// repeat or miss rows. A cursor identifies the last row of the previous page, so no row is repeated
// or missing. Cursors require items in strictly ascending byte order of key(item). With a nil key,
// Paginate returns and accepts no cursors. A cursor contains the readable key of a row, and is
// neither a secret nor a permission.
//
// Paginate returns [ErrInvalidPage] if Number is negative, [ErrInvalidPageSize] if Size is outside
// 0 to 100, and [ErrInvalidCursor] if a cursor was not made by Paginate, was altered, or comes with
// a Number. Paginate calls key O(log len(items)) times.
func Paginate[T any](items []T, page Page, key func(T) string) ([]T, Pagination, error) {
	page, err := page.normalized()
	if err != nil {
		return nil, Pagination{}, inOp("Paginate", err)
	}
	rows, p, err := paginate(items, page, "", key, strings.Compare)
	return rows, p, inOp("Paginate", err)
}

// paginate is Paginate for a normalized page and keys in the order of compare. The scope names the
// list of a cursor. Every other list rejects the cursor.
func paginate[T any](items []T, page Page, scope string, key func(T) string, compare func(a, b string) int) ([]T, Pagination, error) {
	total := len(items)
	p := Pagination{
		Page:       page.Number,
		PageSize:   page.Size,
		Total:      total,
		TotalPages: total / page.Size,
	}
	if total%page.Size > 0 {
		p.TotalPages++
	}

	start := total
	switch {
	case page.Cursor != "":
		if key == nil {
			return nil, Pagination{}, invalidCursor("this list has no cursors; request a page by number")
		}
		last, ok := cursor.Decode(scope, page.Cursor)
		if !ok {
			return nil, Pagination{}, cursorOfAnotherList()
		}
		start = sort.Search(total, func(i int) bool { return compare(key(items[i]), last) > 0 })
		p.Page = start/page.Size + 1
		p.HasPrev = start > 0
	default:
		// Compare page counts, because the product may overflow.
		if page.Number <= p.TotalPages {
			start = (page.Number - 1) * page.Size
		}
		p.HasPrev = page.Number > 1
	}

	end := min(start+page.Size, total)
	p.HasNext = end < total
	if p.HasNext && key != nil {
		p.NextCursor = cursor.Encode(scope, key(items[end-1]))
	}
	return items[start:end:end], p, nil
}

// normalized fills in the defaults, or returns the error of an invalid Page.
func (p Page) normalized() (Page, error) {
	switch {
	case p.Number < 0:
		return p, &Error{Code: CodeInvalidPage,
			Message: "page is " + strconv.Itoa(p.Number) + "; pages are numbered from 1"}
	case p.Size < 0 || p.Size > maxPageSize:
		return p, &Error{Code: CodeInvalidPageSize,
			Message: "page size is " + strconv.Itoa(p.Size) + "; use 1 to " + strconv.Itoa(maxPageSize)}
	case p.Cursor != "" && p.Number != 0:
		return p, invalidCursor("a page number is also given; use either the cursor or the number")
	}
	p.Number, p.Size = cmp.Or(p.Number, 1), cmp.Or(p.Size, defaultPageSize)
	return p, nil
}

func invalidCursor(reason string) error {
	return &Error{Code: CodeInvalidCursor, Message: "invalid cursor: " + reason}
}

func cursorOfAnotherList() error {
	return invalidCursor("made for another list, or altered; request the first page without a cursor")
}
