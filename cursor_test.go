package toolshelf_test

import (
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

// TestStoredCursorsStayValid requests the rows after stored cursors. A program may keep a
// cursor while the library is updated, so the stored cursors must not change.
func TestStoredCursorsStayValid(t *testing.T) {
	files := map[string]string{"commands/deploy.md": "Deploy.", "commands/Review.md": "Review.", "commands/ops/restart.md": "Restart.",
		"src/docs/a.md": "", "src/web/a.js": "", "src/b.go": "12", "src/C.go": "1", "src/naïve.txt": "123"}
	fsys := memoryOf(t, files)
	for i, name := range []string{"src/naïve.txt", "src/C.go", "src/b.go", "src/docs", "src/web"} {
		at := written.AddDate(0, 0, -i)
		if err := fsys.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
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
		list, err := c.ListUsage(t.Context(), toolshelf.Page{Size: 2, Cursor: cursor}, toolshelf.Renderer{})
		for _, command := range list.Commands {
			rows = append(rows, command.Name)
		}
		return rows, list.Pagination.NextCursor, err
	}
	entries := func(order toolshelf.SortKey, limit int) func(string) ([]string, string, error) {
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
