package tree_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

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
	const entry = tree.Entry
	tests := map[string]struct {
		files map[string]tree.File
		want  int64
	}{
		"a file":                     {map[string]tree.File{"a.md": {}}, entry + 4},
		"a content in the store":     {map[string]tree.File{"a.md": {Size: 1000}}, entry + 4},
		"a content in memory":        {map[string]tree.File{"a.md": {Size: 1000, Kept: 1000}}, entry + 1004},
		"a link":                     {map[string]tree.File{"a": {Link: "target"}}, entry + 7},
		"a target of 4,097 bytes":    {map[string]tree.File{"a": {Link: strings.Repeat("a", 4097)}}, 0},
		"a directory":                {map[string]tree.File{"dir/a.md": {}, "dir/b.md": {}}, 3*entry + 11},
		"99 directories":             {map[string]tree.File{strings.Repeat("d/", 99) + "a": {}}, 100*entry + 100},
		"a file with files below":    {map[string]tree.File{"a": {}, "a/b": {}}, 2*entry + 2},
		"100 directories":            {map[string]tree.File{strings.Repeat("d/", 100) + "a": {}}, 0},
		"a name of 4,097 bytes":      {map[string]tree.File{strings.Repeat("a", 4097): {}}, 0},
		"a name that is not a path":  {map[string]tree.File{"../a": {}}, 0},
		"the name of the top itself": {map[string]tree.File{".": {}}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for limit, want := range map[int64]error{test.want: nil, test.want - 1: errLimit} {
				builder := tree.NewBuilder(limit, errLimit)
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
	builder := tree.NewBuilder(3*tree.Entry+100, errLimit)
	for i := range 1000 {
		name := fmt.Sprintf("dir%d/sub/a", i)
		for range 2 {
			must.Do(t, builder.Put(name, tree.File{Kept: 50}))
		}
		builder.Remove(name)
	}
	if got := names(t, builder.FS("")); got != "" {
		t.Errorf("files: %s", got)
	}
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
		for i, remove := range []func(*tree.Builder, string){(*tree.Builder).Remove, (*tree.Builder).RemoveAll} {
			builder := tree.NewBuilder(1<<20, errLimit)
			for _, name := range all {
				must.Do(t, builder.Put(name, tree.File{}))
			}
			before := builder.FS("")
			remove(builder, name)
			if got := names(t, builder.FS("")); got != want[i] {
				t.Errorf("without %q: %s, want %s", name, got, want[i])
			}
			if got := names(t, before); got != "a/ a/b c/ c/d/ c/d/e c/f g" {
				t.Errorf("without %q, the earlier FS has %s", name, got)
			}
		}
	}
}

func TestAnFSDoesNotChangeWithTheBuilder(t *testing.T) {
	builder := tree.NewBuilder(1<<20, errLimit)
	put := func(name string, size int64) *tree.FS {
		must.Do(t, builder.Put(name, tree.File{Size: size, ModTime: time.Unix(size, 0)}))
		return builder.FS("")
	}
	first := put("dir/a", 1)
	second := put("dir/a", 2)
	third := put("dir/b", 3)
	for i, files := range []*tree.FS{first, second, third} {
		info, err := files.Stat("dir/a")
		dir, dirErr := files.Stat("dir")
		if err != nil || dirErr != nil || info.Size() != int64(min(i+1, 2)) || dir.ModTime().Unix() != int64(i+1) {
			t.Errorf("FS %d: dir/a = %v, %v; dir = %v, %v", i+1, info, err, dir, dirErr)
		}
	}
	if got := names(t, second); got != "dir/ dir/a" {
		t.Errorf("files: %s", got)
	}
}

func TestMerge(t *testing.T) {
	builder := tree.NewBuilder(5*tree.Entry+7, errLimit)
	put := func(b *tree.Builder, names ...string) {
		for _, name := range names {
			if err := b.Put(name, tree.File{}); err != nil {
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
	if got := names(t, builder.FS("")); got != "a/ a/b a/d c" {
		t.Errorf("files: %s", got)
	}
	if err := builder.Put("eee", tree.File{}); !errors.Is(err, errLimit) {
		t.Errorf("Put beyond the limit: %v", err)
	}
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
			builder := tree.NewBuilder(1<<20, errLimit)
			put := func(b *tree.Builder, names string) {
				for _, name := range strings.Fields(names) {
					must.Do(t, b.Put(name, tree.File{}))
				}
			}
			put(builder, test.first)
			next := builder.Next()
			put(next, test.second)
			builder.Merge(next)
			if got := names(t, builder.FS("")); got != test.want {
				t.Errorf("files: %s, want %s", got, test.want)
			}
		})
	}
}
