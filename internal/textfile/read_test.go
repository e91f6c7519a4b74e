package textfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// inOrder is a filesystem whose files can only be read in order, and counts the opened files.
type inOrder struct {
	fstest.MapFS
	opened *int
}

func (f inOrder) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	if info, infoErr := fs.Stat(f.MapFS, name); err == nil && infoErr == nil && !info.IsDir() {
		*f.opened++
		return struct{ fs.File }{file}, nil
	}
	return file, err
}

// reader returns a Reader of a file d/a.txt, and the number of times that the file was opened.
func reader(t *testing.T, content string, ordered bool) (Reader, *int) {
	t.Helper()
	files, opened := fstest.MapFS{"d/a.txt": {Data: []byte(content), ModTime: time.Unix(1, 0)}}, new(int)
	var fsys fs.FS = files
	if ordered {
		fsys = inOrder{files, opened}
	}
	root := must.Get(confine.Over(afero.FromIOFS{FS: fsys}, "."))(t)
	return Reader{FS: root, Lines: &index.Cache[*text.LineIndex]{Max: 1 << 20}}, opened
}

func TestReadDescribesThePage(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		from, to      int
		want          text.Page
	}{
		{"an empty file", "", 0, 0, text.Page{Encoding: "utf-8"}},
		{"all lines", "a\nb\n", 0, 0, text.Page{Text: "a\nb\n", First: 1, Last: 2, Total: 2, LineEnding: "lf", Encoding: "utf-8"}},
		{"the last line", "a\nb\n", -1, 0, text.Page{Text: "b\n", First: 2, Last: 2, Total: 2, LineEnding: "lf", Encoding: "utf-8"}},
		{"CRLF", "a\r\nb", 0, 0, text.Page{Text: "a\r\nb", First: 1, Last: 2, Total: 2, LineEnding: "crlf", Encoding: "utf-8"}},
		{"CR", "a\rb\r", 0, 0, text.Page{Text: "a\rb\r", First: 1, Last: 2, Total: 2, LineEnding: "cr", Encoding: "utf-8"}},
		{"both line breaks", "a\r\nb\n", 0, 0, text.Page{Text: "a\r\nb\n", First: 1, Last: 2, Total: 2, LineEnding: "mixed", Encoding: "utf-8"}},
		{"a line without a line break", "a", 0, 0, text.Page{Text: "a", First: 1, Last: 1, Total: 1, Encoding: "utf-8"}},
	} {
		for _, ordered := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, " in order ", ordered), func(t *testing.T) {
				r, _ := reader(t, tt.content, ordered)
				got := must.Get(r.Read(t.Context(), "d/a.txt", text.Request{From: tt.from, To: tt.to, Max: 1000}))(t)
				tt.want.Path, tt.want.Size = "d/a.txt", int64(len(tt.content))
				must.Match(t, "result", tt.want, got)
			})
		}
	}
}

func TestReadErrors(t *testing.T) {
	r, _ := reader(t, "GIF89a\x00\x01", false)
	for _, tt := range []struct {
		name string
		is   error
	}{
		{"d/none.txt", fs.ErrNotExist},
		{"d", confine.ErrNotRegular},
		{"../a.txt", confine.ErrEscape},
	} {
		if got, err := r.Read(t.Context(), tt.name, text.Request{Max: 10}); !errors.Is(err, tt.is) || got != (text.Page{}) {
			t.Errorf("%s: got %+v, %v; want %v", tt.name, got, err, tt.is)
		}
	}
	var notText *text.NotTextError
	if got, err := r.Read(t.Context(), "d/a.txt", text.Request{Max: 10}); !errors.As(err, &notText) || got.Size != 8 || got.Text != "" {
		t.Errorf("an image: got %+v, %v; want the size and a NotTextError", got, err)
	}
}

// TestAFileInOrderHasTheSamePages reads a file that is larger than one block, also backwards.
func TestAFileInOrderHasTheSamePages(t *testing.T) {
	var content strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&content, "line %058d\n", i+1)
	}
	for _, from := range []int{1, 9000, 2, -1, -9999} {
		var got [2]text.Page
		for i, ordered := range []bool{false, true} {
			r, opened := reader(t, content.String(), ordered)
			var err error
			if got[i], err = r.Read(t.Context(), "d/a.txt", text.Request{From: from, To: from, Max: 1000}); err != nil {
				t.Fatal(err)
			}
			if *opened > 3 {
				t.Errorf("line %d: the file is opened %d times", from, *opened)
			}
		}
		if diff := cmp.Diff(got[0], got[1], cmpopts.IgnoreFields(text.Page{}, "Total")); diff != "" || got[1].Changed || len(got[1].Text) != 64 {
			t.Errorf("line %d, -any order +in order:\n%s", from, diff)
		}
	}
}
