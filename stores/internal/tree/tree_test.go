package tree_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

// newFS returns the files of a Builder without a limit.
func newFS(version string, files map[string]tree.File) *tree.FS {
	builder := tree.NewBuilder(math.MaxInt64, nil)
	for name, file := range files {
		if err := builder.Put(name, file); err != nil {
			panic(err)
		}
	}
	return builder.FS(version)
}

func file(content string) tree.File {
	return tree.File{Size: int64(len(content)), Mode: 0o444, ModTime: time.Unix(int64(len(content)), 0), Version: "v-" + content,
		Content: func(context.Context) (io.ReaderAt, error) { return strings.NewReader(content), nil }}
}

func link(target string) tree.File {
	return tree.File{Size: int64(len(target)), Link: target, Version: target}
}

func TestAnFSIsAFilesystem(t *testing.T) {
	files := newFS("7", map[string]tree.File{
		"a.md": file("A"), "dir/b.md": file("BB"), "dir/empty.md": file(""), "dir/sub/c.md": file("CCC"),
		"dir/up.md": link("../a.md"), "same": link("dir/sub"), "dir/sub/chain.md": link("../../same/c.md"),
	})
	if err := fstest.TestFS(files, "a.md", "dir/b.md", "dir/empty.md", "dir/sub/c.md"); err != nil {
		t.Error(err)
	}
	if files.Version() != "7" {
		t.Errorf("version = %q", files.Version())
	}
	for name, want := range map[string]string{"dir/up.md": "A", "same/c.md": "CCC", "same/chain.md": "CCC"} {
		content, err := fs.ReadFile(files, name)
		info, statErr := fs.Stat(files, name)
		if err != nil || statErr != nil || string(content) != want {
			t.Errorf("%s = %q, %v, %v", name, content, err, statErr)
			continue
		}
		if got := info.(interface{ Version() string }).Version(); got != "v-"+want {
			t.Errorf("version of %s = %q", name, got)
		}
	}
	info, err := fs.Stat(files, "dir")
	if err != nil || !info.ModTime().Equal(time.Unix(3, 0)) {
		t.Errorf("time of dir: %v, %v; want the time of the newest file", info, err)
	}
}

func TestNamesThatAreNoPathsAreOmitted(t *testing.T) {
	all := map[string]tree.File{"good.md": file("x"), "both": file("x"), "both/below.md": file("x")}
	for _, name := range []string{"", ".", "/abs.md", "a//b.md", "../x.md", "c/../d.md", "dir/", "./e.md", "bad\xff.md"} {
		all[name] = file("x")
	}
	files := newFS("", all)
	var names []string
	must.Do(t, fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	}))
	if got := strings.Join(names, " "); got != ". both both/below.md good.md" {
		t.Errorf("files: %s", got)
	}
}

func TestLinksStayInside(t *testing.T) {
	files := newFS("", map[string]tree.File{
		"a/b.md": file("x"), "abs": link("/a/b.md"), "a/up": link("../../a/b.md"), "loop": link("loop2"), "loop2": link("loop"),
		"gone": link("missing"), "a/file": link("b.md/x"),
	})
	for _, name := range []string{"abs", "a/up", "loop", "loop/x", "gone", "a/file"} {
		if _, err := files.Open(name); err == nil {
			t.Errorf("Open(%q) succeeds", name)
		}
		if _, err := files.Lstat(name); err != nil && name != "loop/x" {
			t.Errorf("Lstat(%q): %v", name, err)
		}
	}
	if _, err := files.ReadLink("a/b.md"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadLink of a file: %v", err)
	}
}

func TestContentIsReadOnceAndLate(t *testing.T) {
	calls := 0
	failing := file("x")
	failing.Content = func(context.Context) (io.ReaderAt, error) { calls++; return nil, fs.ErrPermission }
	f := must.Get(newFS("", map[string]tree.File{"a.md": failing}).Open("a.md"))(t)
	if _, err := f.Stat(); err != nil || calls != 0 {
		t.Errorf("Stat: %v, %d reads of the content", err, calls)
	}
	for range 2 {
		if _, err := f.Read(make([]byte, 1)); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "a.md") {
			t.Errorf("Read: %v", err)
		}
	}
	if calls != 1 {
		t.Errorf("%d reads of the content, want 1", calls)
	}
}

func TestBelow(t *testing.T) {
	files := newFS("7", map[string]tree.File{
		"dir/a.md": file("A"), "dir/sub/b.md": file("B"), "top.md": file("T"),
		"dir/in": link("sub/b.md"), "dir/out": link("../top.md"), "alias": link("dir"),
	})
	for _, name := range []string{"dir", "alias"} {
		below := must.Get(files.Below(name))(t)
		if content, err := fs.ReadFile(below, "in"); err != nil || string(content) != "B" {
			t.Errorf("%s: in = %q, %v", name, content, err)
		}
		if _, err := below.Open("out"); err == nil {
			t.Errorf("%s: a link leads outside", name)
		}
		if info, err := below.Lstat("."); err != nil || info.Name() != "." || below.Version() != "7" {
			t.Errorf("%s: Lstat = %v, %v, version %q", name, info, err, below.Version())
		}
	}
	for _, name := range []string{"missing", "top.md", "../dir"} {
		if _, err := files.Below(name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Below(%q): %v", name, err)
		}
	}
}
