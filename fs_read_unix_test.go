//go:build unix

package toolshelf_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestReadFileAndGrepOfSpecialFiles(t *testing.T) {
	root := diskOf(t, map[string]string{"dir/a": "x"})
	socket, err := net.Listen("unix", filepath.Join(root, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	must.Do(t, errors.Join(unix.Mkfifo(filepath.Join(root, "fifo"), 0o644), os.Symlink("fifo", filepath.Join(root, "tofifo")),
		os.Symlink("/dev/zero", filepath.Join(root, "device")), os.Symlink("loop", filepath.Join(root, "loop"))))
	c := catalog(t, toolshelf.WithRoot(root))
	for _, tt := range []struct {
		name    string
		want    *toolshelf.Error
		message string
	}{
		{"fifo", toolshelf.ErrFileRead, "'fifo' is not a regular file; choose another file"},
		{"tofifo", toolshelf.ErrFileRead, "'tofifo' is not a regular file; choose another file"},
		{"socket", toolshelf.ErrFileRead, "'socket' is not a regular file; choose another file"},
		{"device", toolshelf.ErrOutsideRoot, "Path 'device' is outside project root"},
		{"fifo/x", toolshelf.ErrNotFound, "File 'fifo/x' not found"},
	} {
		_, err := c.ReadFile(t.Context(), tt.name)
		checkError(t, tt.name, err, tt.want, tt.message)
		_, err = c.Grep(t.Context(), tt.name, "x")
		checkError(t, "Grep of "+tt.name, err, tt.want, tt.message)
	}
	if found, err := c.Grep(t.Context(), ".", "x"); err != nil || found.Total != 1 || found.Searched != 1 {
		t.Errorf("Grep: %+v, %v", found, err)
	}
	if _, err := c.ReadFile(t.Context(), "loop"); !errors.Is(err, toolshelf.ErrFileRead) || strings.Contains(err.Error(), root) {
		t.Errorf("loop: %v", err)
	}
	devices := catalog(t, toolshelf.WithRoot("/dev"))
	_, err = devices.ReadFile(t.Context(), "zero")
	checkError(t, "zero", err, toolshelf.ErrFileRead, "'zero' is not a regular file; choose another file")
}

// The files of /proc have the size 0, and their magic links lead anywhere.
func TestReadFileAndGrepOfProc(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc")
	}
	c := catalog(t, toolshelf.WithRoot("/proc/self"))
	text, err := c.ReadFile(t.Context(), "limits") // status changes between two calls
	if err != nil || text.Total <= 0 || text.Total != strings.Count(text.Text, "\n") || text.Size != 0 || text.NextLine != 0 {
		t.Errorf("limits: %+v, %v", text, err)
	}
	last, err := c.ReadFile(t.Context(), "limits", toolshelf.Lines(-1, 0))
	if err != nil || last.First != text.Total || last.Text == "" || !strings.HasSuffix(text.Text, last.Text) {
		t.Errorf("the last line: %+v, %v", last, err)
	}
	found, err := c.Grep(t.Context(), ".", "^Pid:", toolshelf.MaxDepth(1), toolshelf.InFiles("status", "exe"))
	if err != nil || found.Total != 1 || found.Searched != 1 {
		t.Errorf("Grep: %+v, %v", found, err)
	}
	for _, name := range []string{"root/etc/passwd", "exe", "cwd/doc.go"} {
		if _, err := c.Grep(t.Context(), name, "x"); !errors.Is(err, toolshelf.ErrOutsideRoot) {
			t.Errorf("Grep of %s: %v", name, err)
		}
		if _, err := c.ReadFile(t.Context(), name); !errors.Is(err, toolshelf.ErrOutsideRoot) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadFileOfAHugeFile reads parts of a sparse file of 5 GB.
func TestReadFileOfAHugeFile(t *testing.T) {
	const size = 5 << 30
	root := diskOf(t, map[string]string{"huge": numbered(1000)})
	f, err := os.OpenFile(filepath.Join(root, "huge"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\nlast\n"), size-6); err != nil {
		t.Skip("no sparse files: ", err)
	}
	must.Do(t, f.Close())
	c := catalog(t, toolshelf.WithRoot(root))
	for _, tt := range []struct {
		name                  string
		options               []toolshelf.ReadOption
		want                  string
		first, last, nextLine int
		nextColumn            int64
	}{
		{"the first line", []toolshelf.ReadOption{toolshelf.Lines(1, 1)}, numbered(1), 1, 1, 2, 0},
		{"the last line", []toolshelf.ReadOption{toolshelf.Lines(-1, 0)}, "last\n", -1, -1, 0, 0},
		{"the page before the hole", nil, numbered(1000), 1, 1000, 1001, 0},
		{"the hole", []toolshelf.ReadOption{toolshelf.Lines(1001, 0), toolshelf.MaxBytes(3)}, "\x00\x00\x00", 1001, 1001, 1001, 3},
		{"after a part of the hole", []toolshelf.ReadOption{toolshelf.Lines(1001, 0), toolshelf.Column(20 << 20), toolshelf.MaxBytes(2)}, "\x00\x00", 1001, 1001, 1001, 20<<20 + 2},
	} {
		var text toolshelf.FileText
		heap := heapOf(func() any {
			if text, err = c.ReadFile(t.Context(), "huge", tt.options...); err != nil {
				t.Fatal(err)
			}
			return text
		})
		got := []any{text.Text, text.First, text.Last, text.Total, text.Size, text.NextLine, text.NextColumn}
		want := []any{tt.want, tt.first, tt.last, -1, int64(size), tt.nextLine, tt.nextColumn}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %.100v, want %.100v", tt.name, got, want)
				break
			}
		}
		if heap > 4<<20 {
			t.Errorf("%s: %d bytes are kept", tt.name, heap)
		}
	}
}

// TestReadFileKeepsOffsetsOfUnchangedFiles changes a file whose offsets the catalog keeps.
func TestReadFileKeepsOffsetsOfUnchangedFiles(t *testing.T) {
	const n = 100_000
	root := diskOf(t, map[string]string{"a": numbered(n)})
	name := filepath.Join(root, "a")
	c := catalog(t, toolshelf.WithRoot(root))
	read := func(from, to int) toolshelf.FileText {
		t.Helper()
		text := must.Get(c.ReadFile(t.Context(), "a", toolshelf.Lines(from, to)))(t)
		return text
	}
	// The catalog keeps the offsets as soon as the change time of the file is old enough.
	for kept := false; !kept; kept = toolshelf.CachedFiles(c) == 1 {
		if last := read(n, n); last.Total != n || last.Text != numbered(n)[16*(n-1):] {
			t.Fatalf("the last line: %+v", last)
		}
	}
	if first := read(1, 1); first.Total != n {
		t.Errorf("%d lines after the second call, want %d", first.Total, n)
	}
	// The same size, half of the lines, the same modification time.
	info := must.Get(os.Stat(name))(t)
	double := strings.ReplaceAll(numbered(n), "0\n0", "000")
	double += strings.Repeat("x", len(numbered(n))-len(double))
	must.Do(t, errors.Join(os.WriteFile(name, []byte(double), 0o644), os.Chtimes(name, info.ModTime(), info.ModTime())))
	lines := strings.SplitAfter(double, "\n")
	if first := read(1, 1); first.Total != -1 || first.Text != lines[0] {
		t.Errorf("the first line of the new version: %+v", first)
	}
	if text := read(50_000, 50_000); text.Text != lines[49_999] || text.First != 50_000 {
		t.Errorf("a line of the new version: %+v, want %q", text, lines[49_999])
	}
}

// TestReadFileChecksTheTextOfChangedFiles changes a file of which the catalog knows that the
// text is ASCII without CR. The size stays.
func TestReadFileChecksTheTextOfChangedFiles(t *testing.T) {
	const n = 20_000
	content := numbered(n)
	changed := strings.Replace(content, "15000\n", "150\xff\r\n", 1)
	for _, tt := range []struct {
		rule     string
		change   func(name string) error
		atReadAt bool // the change is after the open
	}{
		{"between two pages", func(name string) error { return os.WriteFile(name, []byte(changed), 0o644) }, false},
		{"another file, between two pages", func(name string) error {
			return errors.Join(os.WriteFile(name+".new", []byte(changed), 0o644), os.Rename(name+".new", name))
		}, false},
		{"during the call", func(name string) error { return os.WriteFile(name, []byte(changed), 0o644) }, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			root := diskOf(t, map[string]string{"a": content})
			name := filepath.Join(root, "a")
			change := func() {
				info, err := os.Stat(name)
				if err == nil {
					err = errors.Join(tt.change(name), os.Chtimes(name, info.ModTime(), info.ModTime()))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			reads, atRead := 0, -1
			c := catalog(t, toolshelf.WithFs(changing{afero.NewBasePathFs(afero.NewOsFs(), root), &reads, func(read int) {
				if read == atRead {
					change()
				}
			}}))
			page := func(first int) toolshelf.FileText {
				t.Helper()
				text := must.Get(c.ReadFile(t.Context(), "a", toolshelf.Lines(first, first+n/2-1), toolshelf.MaxBytes(1<<20)))(t)
				return text
			}
			for kept := false; !kept; kept = toolshelf.CachedFiles(c) == 1 {
				page(1)
			}
			if first := page(1); first.Text != content[:len(content)/2] || first.LineEnding != "lf" || first.Changed {
				t.Fatalf("the first page: %.100v", first)
			}
			if tt.atReadAt {
				atRead = reads + 1
			} else {
				change()
			}
			want := strings.ReplaceAll(changed[len(changed)/2:], "\xff", "\ufffd")
			for _, changed := range []bool{tt.atReadAt, false} {
				second := page(n/2 + 1)
				if second.Text != want || second.Invalid != 1 || second.LineEnding != "mixed" || second.Changed != changed {
					t.Errorf("the second page: changed %v, %d invalid bytes, line ending %q, %.100q", second.Changed, second.Invalid, second.LineEnding, second.Text)
				}
			}
		})
	}
}
