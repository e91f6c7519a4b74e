package filetree_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func newFS(version string, files map[string]filetree.File) *filetree.FS {
	return filetree.New(version, maps.All(files))
}

func file(content string) filetree.File {
	return filetree.File{Size: int64(len(content)), Mode: 0o444, ModTime: time.Unix(int64(len(content)), 0), Version: "v-" + content,
		Content: func(context.Context) (io.ReaderAt, error) { return strings.NewReader(content), nil }}
}

func link(target string) filetree.File {
	return filetree.File{Size: int64(len(target)), Link: target, Version: target}
}

func TestAnFSIsAFilesystem(t *testing.T) {
	files := newFS("7", map[string]filetree.File{
		"a.md": file("A"), "dir/b.md": file("BB"), "dir/empty.md": file(""), "dir/sub/c.md": file("CCC"),
		"dir/up.md": link("../a.md"), "same": link("dir/sub"), "dir/sub/chain.md": link("../../same/c.md"),
	})
	if err := fstest.TestFS(files, "a.md", "dir/b.md", "dir/empty.md", "dir/sub/c.md"); err != nil {
		t.Error(err)
	}
	must.Equal(t, "version", "7", files.Version())
	for name, want := range map[string]string{"dir/up.md": "A", "same/c.md": "CCC", "same/chain.md": "CCC"} {
		content, err := fs.ReadFile(files, name)
		info, statErr := fs.Stat(files, name)
		if err != nil || statErr != nil || string(content) != want {
			t.Errorf("%s = %q, %v, %v", name, content, err, statErr)
			continue
		}
		must.Equal(t, fmt.Sprintf("version of %s", name), "v-"+want,
			info.(interface{ Version() string }).Version())
	}
	info, err := fs.Stat(files, "dir")
	if err != nil || !info.ModTime().Equal(time.Unix(3, 0)) {
		t.Errorf("time of dir: %v, %v; want the time of the newest file", info, err)
	}
}

func TestNamesThatAreNoPathsAreOmitted(t *testing.T) {
	builder := filetree.NewBuilder(1<<20, errLimit)
	for _, name := range []string{"good.md", "both", "both/below.md",
		"", ".", "/abs.md", "a//b.md", "../x.md", "c/../d.md", "dir/", "./e.md", "bad\xff.md"} {
		must.Do(t, builder.Put(name, file("x")))
	}
	must.Equal(t, "files", "both/ both/below.md good.md", names(t, builder.FS("")))
}

func TestFilesWithoutLimitsHaveNamesOfEachLength(t *testing.T) {
	deep, long := strings.Repeat("d/", 100)+"a", strings.Repeat("a", 4097)
	files := newFS("", map[string]filetree.File{deep: file("x"), long: file("x"), "link": link(deep)})
	for _, name := range []string{deep, long, "link"} {
		must.Equal(t, "content", "x", string(must.Get(fs.ReadFile(files, name))(t)))
	}
}

func TestLinksStayInside(t *testing.T) {
	files := newFS("", map[string]filetree.File{
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
	must.Fail(files.ReadLink("a/b.md"))(t, "ReadLink of a file", fs.ErrInvalid)
}

func TestContentIsReadOnceAndLate(t *testing.T) {
	calls := 0
	failing := file("x")
	failing.Content = func(context.Context) (io.ReaderAt, error) { calls++; return nil, fs.ErrPermission }
	f := must.Get(newFS("", map[string]filetree.File{"a.md": failing}).Open("a.md"))(t)
	if _, err := f.Stat(); err != nil || calls != 0 {
		t.Errorf("Stat: %v, %d reads of the content", err, calls)
	}
	for range 2 {
		if _, err := f.Read(make([]byte, 1)); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "a.md") {
			t.Errorf("Read: %v", err)
		}
	}
	must.Equal(t, "calls", 1, calls)
	must.Do(t, f.Close())
	must.Fail(f.Read(make([]byte, 1)))(t, "Read after Close", fs.ErrClosed)
}

func TestBelow(t *testing.T) {
	files := newFS("7", map[string]filetree.File{
		"dir/a.md": file("A"), "dir/sub/b.md": file("B"), "top.md": file("T"),
		"dir/in": link("sub/b.md"), "dir/out": link("../top.md"), "alias": link("dir"),
	})
	for _, name := range []string{"dir", "alias"} {
		below := must.Get(files.Below(name))(t)
		must.Equal(t, name, "B", string(must.Get(fs.ReadFile(below, "in"))(t)))
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

var errLimit = errors.New("limit")

// names returns the names of all files and directories.
func names(t *testing.T, files fs.FS) string {
	t.Helper()
	var all []string
	must.Do(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() {
			name += "/"
		}
		all = append(all, name)
		return err
	}))
	return strings.Join(all[1:], " ") // without the top
}

func TestABuilderCountsNamesDirectoriesAndContents(t *testing.T) {
	const entry = filetree.Entry
	tests := map[string]struct {
		files map[string]filetree.File
		want  int64
	}{
		"a file":                     {map[string]filetree.File{"a.md": {}}, entry + 4},
		"a content in the store":     {map[string]filetree.File{"a.md": {Size: 1000}}, entry + 4},
		"a content in memory":        {map[string]filetree.File{"a.md": {Size: 1000, Kept: 1000}}, entry + 1004},
		"a link":                     {map[string]filetree.File{"a": {Link: "target"}}, entry + 7},
		"a target of 4,097 bytes":    {map[string]filetree.File{"a": {Link: strings.Repeat("a", 4097)}}, 0},
		"a directory":                {map[string]filetree.File{"dir/a.md": {}, "dir/b.md": {}}, 3*entry + 11},
		"99 directories":             {map[string]filetree.File{strings.Repeat("d/", 99) + "a": {}}, 100*entry + 100},
		"a file with files below":    {map[string]filetree.File{"a": {}, "a/b": {}}, 2*entry + 2},
		"100 directories":            {map[string]filetree.File{strings.Repeat("d/", 100) + "a": {}}, 0},
		"a name of 4,097 bytes":      {map[string]filetree.File{strings.Repeat("a", 4097): {}}, 0},
		"a name that is not a path":  {map[string]filetree.File{"../a": {}}, 0},
		"the name of the top itself": {map[string]filetree.File{".": {}}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for limit, want := range map[int64]error{test.want: nil, test.want - 1: errLimit} {
				builder := filetree.NewBuilder(limit, errLimit)
				var err error
				for _, file := range slices.Sorted(maps.Keys(test.files)) {
					err = errors.Join(err, builder.Put(file, test.files[file]))
				}
				if err = errors.Join(err, builder.Use(0)); !errors.Is(err, want) {
					t.Errorf("limit of %d bytes: %v, want %v", limit, err, want)
				}
			}
		})
	}
}

func TestRemovedAndReplacedFilesDoNotCount(t *testing.T) {
	builder := filetree.NewBuilder(3*filetree.Entry+100, errLimit)
	for i := range 1000 {
		name := fmt.Sprintf("dir%d/sub/a", i)
		for range 2 {
			must.Do(t, builder.Put(name, filetree.File{Kept: 50}))
		}
		builder.Remove(name)
	}
	must.Equal(t, "files", "", names(t, builder.FS("")))
}

func TestABuilderRemoves(t *testing.T) {
	all := []string{"a", "a/b", "c/d/e", "c/f", "g"}
	for name, want := range map[string][2]string{ // Remove, RemoveAll
		"a":      {"a/ a/b c/ c/d/ c/d/e c/f g", "c/ c/d/ c/d/e c/f g"},
		"a/b":    {"a c/ c/d/ c/d/e c/f g", "a c/ c/d/ c/d/e c/f g"},
		"c":      {"a/ a/b c/ c/d/ c/d/e c/f g", "a/ a/b g"},
		"c/d":    {"a/ a/b c/ c/d/ c/d/e c/f g", "a/ a/b c/ c/f g"},
		"c/d/e":  {"a/ a/b c/ c/f g", "a/ a/b c/ c/f g"},
		"g":      {"a/ a/b c/ c/d/ c/d/e c/f", "a/ a/b c/ c/d/ c/d/e c/f"},
		"g/h":    {"a/ a/b c/ c/d/ c/d/e c/f g", "a/ a/b c/ c/d/ c/d/e c/f g"},
		"../g":   {"a/ a/b c/ c/d/ c/d/e c/f g", "a/ a/b c/ c/d/ c/d/e c/f g"},
		".":      {"a/ a/b c/ c/d/ c/d/e c/f g", ""},
		"c/d/..": {"a/ a/b c/ c/d/ c/d/e c/f g", "a/ a/b c/ c/d/ c/d/e c/f g"},
	} {
		for i, remove := range []func(*filetree.Builder, string){(*filetree.Builder).Remove, (*filetree.Builder).RemoveAll} {
			builder := filetree.NewBuilder(1<<20, errLimit)
			for _, name := range all {
				must.Do(t, builder.Put(name, filetree.File{}))
			}
			before := builder.FS("")
			remove(builder, name)
			must.Equal(t, fmt.Sprintf("without %q", name), want[i], names(t, builder.FS("")))
			must.Equal(t, fmt.Sprintf("without %q, the earlier FS", name),
				"a/ a/b c/ c/d/ c/d/e c/f g", names(t, before))
		}
	}
}

func TestAnFSDoesNotChangeWithTheBuilder(t *testing.T) {
	builder := filetree.NewBuilder(1<<20, errLimit)
	put := func(name string, size int64) *filetree.FS {
		must.Do(t, builder.Put(name, filetree.File{Size: size, ModTime: time.Unix(size, 0)}))
		return builder.FS("")
	}
	first := put("dir/a", 1)
	second := put("dir/a", 2)
	third := put("dir/b", 3)
	for i, files := range []*filetree.FS{first, second, third} {
		info, err := files.Stat("dir/a")
		dir, dirErr := files.Stat("dir")
		if err != nil || dirErr != nil || info.Size() != int64(min(i+1, 2)) || dir.ModTime().Unix() != int64(i+1) {
			t.Errorf("FS %d: dir/a = %v, %v; dir = %v, %v", i+1, info, err, dir, dirErr)
		}
	}
	must.Equal(t, "files", "dir/ dir/a", names(t, second))
}

func TestMerge(t *testing.T) {
	builder := filetree.NewBuilder(5*filetree.Entry+7, errLimit)
	put := func(b *filetree.Builder, names ...string) {
		for _, name := range names {
			if err := b.Put(name, filetree.File{}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	put(builder, "a/b", "c")
	next := builder.Next()
	put(next, "a/d")
	if next.File("a/d") == nil || next.File("c") != nil || next.File("a") != nil {
		t.Error("File does not return exactly the files of next")
	}
	builder.Merge(next)
	must.Equal(t, "files", "a/ a/b a/d c", names(t, builder.FS("")))
	must.Is(t, "Put beyond the limit", errLimit, builder.Put("eee", filetree.File{}))
}

func TestMergeReplaces(t *testing.T) {
	tests := map[string]struct{ first, second, want string }{
		"a directory by a file":             {"a/b a/c/d e", "a", "a e"},
		"a file by a directory":             {"a e", "a/b", "a/ a/b e"},
		"no file of two directories":        {"a/b a/c/d", "a/c/e a/f", "a/ a/b a/c/ a/c/d a/c/e a/f"},
		"nothing without files":             {"a/b c", "", "a/ a/b c"},
		"a directory over a file by a file": {"a a/b", "a", "a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			builder := filetree.NewBuilder(1<<20, errLimit)
			put := func(b *filetree.Builder, names string) {
				for _, name := range strings.Fields(names) {
					must.Do(t, b.Put(name, filetree.File{}))
				}
			}
			put(builder, test.first)
			next := builder.Next()
			put(next, test.second)
			builder.Merge(next)
			must.Equal(t, "files", test.want, names(t, builder.FS("")))
		})
	}
}
