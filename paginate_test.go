package toolshelf_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func self(s string) string { return s }

// letters is a list of n rows in byte order.
func letters(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("row%07d", i)
	}
	return rows
}

func TestPaginateByNumber(t *testing.T) {
	for _, tt := range []struct {
		name  string
		total int
		page  toolshelf.Page
		first string // of the page; "" for none
		rows  int
		want  toolshelf.Pagination
	}{
		{"the zero page is the first of 50", 120, toolshelf.Page{}, "row0000000", 50,
			toolshelf.Pagination{Page: 1, PageSize: 50, Total: 120, TotalPages: 3, HasNext: true}},
		{"a page in the middle", 120, toolshelf.Page{Number: 2}, "row0000050", 50,
			toolshelf.Pagination{Page: 2, PageSize: 50, Total: 120, TotalPages: 3, HasNext: true, HasPrev: true}},
		{"the last page is short", 120, toolshelf.Page{Number: 3}, "row0000100", 20,
			toolshelf.Pagination{Page: 3, PageSize: 50, Total: 120, TotalPages: 3, HasPrev: true}},
		{"a full last page has no next", 100, toolshelf.Page{Number: 2}, "row0000050", 50,
			toolshelf.Pagination{Page: 2, PageSize: 50, Total: 100, TotalPages: 2, HasPrev: true}},
		{"beyond the end is empty", 3, toolshelf.Page{Number: 100}, "", 0,
			toolshelf.Pagination{Page: 100, PageSize: 50, Total: 3, TotalPages: 1, HasPrev: true}},
		{"the largest number there is", 3, toolshelf.Page{Number: math.MaxInt, Size: 100}, "", 0,
			toolshelf.Pagination{Page: math.MaxInt, PageSize: 100, Total: 3, TotalPages: 1, HasPrev: true}},
		{"an empty list has no pages", 0, toolshelf.Page{}, "", 0,
			toolshelf.Pagination{Page: 1, PageSize: 50}},
		{"one row a page", 2, toolshelf.Page{Number: 2, Size: 1}, "row0000001", 1,
			toolshelf.Pagination{Page: 2, PageSize: 1, Total: 2, TotalPages: 2, HasPrev: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows, got, err := toolshelf.Paginate(letters(tt.total), tt.page, self)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) != tt.rows || tt.rows > 0 && rows[0] != tt.first {
				t.Errorf("got %d rows from %q, want %d from %q", len(rows), strings.Join(rows[:min(1, len(rows))], ""), tt.rows, tt.first)
			}
			if (got.NextCursor != "") != got.HasNext {
				t.Errorf("next cursor %q where HasNext is %v", got.NextCursor, got.HasNext)
			}
			must.Match(t, "pagination", tt.want, got, cmpopts.IgnoreFields(got, "NextCursor"))
		})
	}
}

func TestPaginateRejectsInvalidPages(t *testing.T) {
	_, first, err := toolshelf.Paginate(letters(9), toolshelf.Page{Size: 3}, self)
	if err != nil {
		t.Fatal(err)
	}
	cursor := first.NextCursor
	for _, tt := range []struct {
		name string
		page toolshelf.Page
		key  func(string) string
		want error
	}{
		{"page -1", toolshelf.Page{Number: -1}, self, toolshelf.ErrInvalidPage},
		{"the smallest page number there is", toolshelf.Page{Number: math.MinInt}, self, toolshelf.ErrInvalidPage},
		{"size -1", toolshelf.Page{Size: -1}, self, toolshelf.ErrInvalidPageSize},
		{"size 101", toolshelf.Page{Size: 101}, self, toolshelf.ErrInvalidPageSize},
		{"a cursor beside a number", toolshelf.Page{Number: 1, Cursor: cursor}, self, toolshelf.ErrInvalidCursor},
		{"a cursor where there are none", toolshelf.Page{Cursor: cursor}, nil, toolshelf.ErrInvalidCursor},
		{"a number as cursor", toolshelf.Page{Cursor: "50"}, self, toolshelf.ErrInvalidCursor},
		{"base64 of something else", toolshelf.Page{Cursor: "YWJj"}, self, toolshelf.ErrInvalidCursor},
		{"a padded cursor", toolshelf.Page{Cursor: cursor + "="}, self, toolshelf.ErrInvalidCursor},
		{"a cursor with a line break", toolshelf.Page{Cursor: cursor[:4] + "\n" + cursor[4:]}, self, toolshelf.ErrInvalidCursor},
		{"half a cursor", toolshelf.Page{Cursor: cursor[:len(cursor)/2]}, self, toolshelf.ErrInvalidCursor},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := toolshelf.Paginate(letters(9), tt.page, tt.key); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestEveryAlteredByteOfACursorIsRejected(t *testing.T) {
	for _, total := range []int{2, 20, 200} { // keys of a length that leaves 0, 2 and 4 bits of base64 unused
		rows := make([]string, total)
		for i := range rows {
			rows[i] = fmt.Sprintf("%0*d", len(fmt.Sprint(total)), i)
		}
		_, first, err := toolshelf.Paginate(rows, toolshelf.Page{Size: 1}, self)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first.NextCursor {
			for c := range 256 {
				altered := []byte(first.NextCursor)
				altered[i] = byte(c)
				if string(altered) == first.NextCursor {
					continue
				}
				if _, _, err := toolshelf.Paginate(rows, toolshelf.Page{Size: 1, Cursor: string(altered)}, self); !errors.Is(err, toolshelf.ErrInvalidCursor) {
					t.Fatalf("cursor %q altered to %q: %v", first.NextCursor, altered, err)
				}
			}
		}
	}
}

func TestPagesCoverEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := letters(rapid.IntRange(0, 400).Draw(t, "total"))
		size := rapid.IntRange(1, 100).Draw(t, "size")
		byCursor := rapid.Bool().Draw(t, "by cursor")

		var seen []string
		page := toolshelf.Page{Size: size}
		for n := 1; ; n++ {
			if !byCursor {
				page.Number = n
			}
			got, p, err := toolshelf.Paginate(rows, page, self)
			if err != nil {
				t.Fatal(err)
			}
			if p.Page != n {
				t.Fatalf("page %d says it is %d", n, p.Page)
			}
			seen = append(seen, got...)
			if !p.HasNext {
				if n != max(1, p.TotalPages) {
					t.Fatalf("%d pages, where TotalPages is %d", n, p.TotalPages)
				}
				break
			}
			page.Cursor = p.NextCursor
			if !byCursor {
				page.Cursor = ""
			}
		}
		if !slices.Equal(seen, rows) {
			t.Fatalf("the pages hold %d rows of %d, or in another order", len(seen), len(rows))
		}
	})
}

func TestCursorWalkUnderChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 60, rapid.ID).Draw(t, "rows")
		slices.Sort(names)
		stays := slices.Clone(names) // rows that are there from the begin to the end
		size := rapid.IntRange(1, 10).Draw(t, "size")

		times := map[string]int{}
		page := toolshelf.Page{Size: size}
		for range 10_000 {
			rows, p, err := toolshelf.Paginate(names, page, self)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				times[r]++
			}
			if !p.HasNext {
				break
			}
			page.Cursor = p.NextCursor
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				name := rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "row")
				if i, found := slices.BinarySearch(names, name); found {
					names = slices.Delete(slices.Clone(names), i, i+1)
					stays = slices.DeleteFunc(stays, func(s string) bool { return s == name })
				} else if name > rows[len(rows)-1] || rapid.Bool().Draw(t, "before") {
					names = slices.Insert(slices.Clone(names), i, name)
				}
			}
		}
		for name, n := range times {
			if n > 1 && slices.Contains(stays, name) {
				t.Fatalf("%q was seen %d times", name, n)
			}
		}
		for _, name := range stays {
			if times[name] != 1 {
				t.Fatalf("%q, there all the time, was seen %d times", name, times[name])
			}
		}
	})
}

func TestPaginateDoesNotGrowIntoItems(t *testing.T) {
	items := letters(10)
	rows, _, err := toolshelf.Paginate(items, toolshelf.Page{Size: 3}, self)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(rows, "appended")
	if items[3] != "row0000003" {
		t.Error("appending to a page overwrites the row after it")
	}
}

func FuzzCursor(f *testing.F) {
	rows := letters(30)
	_, first, err := toolshelf.Paginate(rows, toolshelf.Page{Size: 10}, self)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(first.NextCursor)
	f.Add("")
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, cursor string) {
		got, p, err := toolshelf.Paginate(rows, toolshelf.Page{Size: 10, Cursor: cursor}, self)
		switch {
		case err != nil:
			if !errors.Is(err, toolshelf.ErrInvalidCursor) {
				t.Fatal(err)
			}
		case len(got) > 10 || p.Page < 1 || p.Total != len(rows):
			t.Fatalf("%d rows, %+v", len(got), p)
		}
	})
}

func ExamplePaginate() {
	rows := []string{"ant", "bee", "cat", "dog", "eel"}
	key := func(s string) string { return s }
	page := toolshelf.Page{Size: 2}
	for {
		got, p, err := toolshelf.Paginate(rows, page, key)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(got, "page", p.Page, "of", p.TotalPages)
		if !p.HasNext {
			return
		}
		page.Cursor = p.NextCursor
	}
	// Output:
	// [ant bee] page 1 of 3
	// [cat dog] page 2 of 3
	// [eel] page 3 of 3
}

// TestStoredCursorsStayValid requests the rows after stored cursors. A program may keep a
// cursor while the library is updated, so the stored cursors must not change.
func TestStoredCursorsStayValid(t *testing.T) {
	files := map[string]string{"commands/deploy.md": "Deploy.", "commands/Review.md": "Review.", "commands/ops/restart.md": "Restart.",
		"src/docs/a.md": "", "src/web/a.js": "", "src/b.go": "12", "src/C.go": "1", "src/naïve.txt": "123"}
	fsys := memoryOf(t, files)
	for i, name := range []string{"src/naïve.txt", "src/C.go", "src/b.go", "src/docs", "src/web"} {
		at := written.AddDate(0, 0, -i)
		must.Do(t, fsys.Chtimes(name, at, at))
	}
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithNestedCommands())
	commands := func(cursor string) (rows []string, next string, err error) {
		list, err := c.List(t.Context(), toolshelf.Page{Size: 2, Cursor: cursor})
		for _, command := range list.Commands {
			rows = append(rows, command.Name)
		}
		return rows, list.Pagination.NextCursor, err
	}
	usage := func(cursor string) (rows []string, next string, err error) {
		list, err := bridgeOf(c).ListUsage(t.Context(), 2, cursor, nil)
		for _, command := range list.Rows {
			rows = append(rows, command.Name)
		}
		return rows, list.NextCursor, err
	}
	entries := func(order string, limit int) func(string) ([]string, string, error) {
		return func(cursor string) (rows []string, next string, err error) {
			list, err := c.ListDir(t.Context(), "src", toolshelf.SortedBy(order), toolshelf.Limit(limit), toolshelf.After(cursor))
			for _, entry := range list.Entries {
				rows = append(rows, entry.Name)
			}
			return rows, list.NextCursor, err
		}
	}
	own := func(cursor string) ([]string, string, error) {
		rows, page, err := toolshelf.Paginate([]string{"a", "b", "naïve"}, toolshelf.Page{Size: 2, Cursor: cursor}, self)
		return rows, page.NextCursor, err
	}
	for _, tt := range []struct {
		name         string
		request      func(cursor string) (rows []string, next string, err error)
		stored, want string
	}{
		{"List", commands, "AR_n-RdvcHM6cmVzdGFydA", "Review"},
		{"ListUsage", usage, "AR_n-RdvcHM6cmVzdGFydA", "Review"},
		{"ListDir by name, after a file", entries(toolshelf.ByName, 4), "AYKcUFwAAAAAAAAAAAAAAAAAQy5nbw", "naïve.txt"},
		{"ListDir by name, after a directory", entries(toolshelf.ByName, 1), "AWLuW4YBAAAAAAAAAAAAAAAAZG9jcw", "web"},
		{"ListDir by size, after a file", entries(toolshelf.BySize, 4), "AZ_ro30AAAAAAAAAAAIAAAAAYi5nbw", "C.go"},
		{"ListDir by size, after a directory", entries(toolshelf.BySize, 1), "AZhozPUBAAAAAAAAAAAAAAAAZG9jcw", "web"},
		{"ListDir by time", entries(toolshelf.ByModified, 3), "AUzNHAQAAAAAAGke7agAAAAAbmHDr3ZlLnR4dA", "C.go b.go"},
		{"Paginate", own, "AUXY0pFi", "naïve"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, cursor, err := tt.request(""); err != nil || cursor != tt.stored {
				t.Errorf("got the cursor %q and %v, want %q", cursor, err, tt.stored)
			}
			rows, _, err := tt.request(tt.stored)
			if got := strings.Join(rows, " "); err != nil || got != tt.want {
				t.Errorf("after the stored cursor: got %q and %v, want %q", got, err, tt.want)
			}
		})
	}
}
