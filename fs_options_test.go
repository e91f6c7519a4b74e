package toolshelf_test

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestPatternsOfACallAreBounded(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"a": ""})))
	many := make([]string, 100)
	for i := range many {
		many[i] = strings.Repeat("{a,b}", 9) + fmt.Sprint("*", i)
	}
	bomb := make([]string, 100)
	for i := range bomb {
		bomb[i] = strings.Repeat("{,}", 300) + fmt.Sprintf("**/*e*e*Z%d", i)
	}
	for _, tt := range []struct {
		name  string
		globs []string
		ok    bool
	}{
		{"a thousand plain patterns", strings.Fields(strings.Repeat("node_modules *.log ", 500)), true},
		{"braces that stand for one pattern", bomb, true},
		{"a thousand alternatives", []string{"{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f,g,h,i,j}"}, true},
		{"many times as many", many, false},
		{"long alternatives", []string{strings.Repeat("{a,b}", 9) + strings.Repeat("c", 500)}, false},
	} {
		_, err := c.Tree(t.Context(), ".", toolshelf.Exclude(tt.globs...))
		if tt.ok && err != nil || !tt.ok && !errors.Is(err, toolshelf.ErrInvalidPattern) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

var withoutSizes = bridge.WithoutSizes.(toolshelf.DirOption)

func TestWithoutSizes(t *testing.T) {
	fsys := openedDirs{memoryOf(t, map[string]string{"a/long-name.txt": "x", "a/b": "", "c": "xx", "d": ""}), new(atomic.Int64), new(atomic.Int64)}
	c := catalog(t, toolshelf.WithFs(fsys))
	old := time.Unix(1e9, 0)
	must.Do(t, fsys.Fs.Chtimes("d", old, old))
	entry := func(name string, kind toolshelf.EntryType, size int64) toolshelf.Entry {
		return toolshelf.Entry{Name: name, Type: kind, Size: size}
	}
	for _, order := range []string{toolshelf.ByName, toolshelf.BySize, toolshelf.ByModified} {
		fsys.stats.Store(0)
		l := must.Get(c.ListDir(t.Context(), ".", toolshelf.SortedBy(order), withoutSizes))(t)
		want := toolshelf.DirListing{Path: "./", Files: 2, Dirs: 1, NoSizes: true,
			Entries: []toolshelf.Entry{entry("a", toolshelf.EntryDirectory, 0), entry("c", toolshelf.EntryFile, -1), entry("d", toolshelf.EntryFile, -1)}}
		if diff := cmp.Diff(want, l); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", order, diff)
		}
		if text := "Directory: ./\nTotal: 2 files, 1 directory\n\n[DIR]  a/\n[FILE] c\n[FILE] d"; l.String() != text {
			t.Errorf("by %s: %q, want %q", order, l, text)
		}
		tree := must.Get(c.Tree(t.Context(), ".", toolshelf.SortedBy(order), withoutSizes, toolshelf.Exclude("l*")))(t)
		if text := "Directory tree: ./\n\nExcluding: l*\n\n[DIR]  a/\n  [FILE] b\n[FILE] c\n[FILE] d"; tree.String() != text {
			t.Errorf("by %s: %q, want %q", order, tree, text)
		}
		if diff := cmp.Diff(entry("b", toolshelf.EntryFile, -1), tree.Children[0].Children[0].Entry); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", order, diff)
		}
		const directories = 3 // opened, and checked with Lstat
		if n := fsys.stats.Load(); order == toolshelf.ByName && n > directories {
			t.Errorf("%d reads of metadata", n)
		}
	}
}

func TestRelativePath(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	embedded := fstest.MapFS{"c.md": {Data: []byte("C.\n")}}
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir(filepath.Join(root, "commands"), outside), toolshelf.WithCommandsFS("built in", embedded),
		toolshelf.WithSkillsDir("."), toolshelf.WithReports("reports", outside))
	for _, tt := range []struct{ layer, full, want string }{
		{filepath.Join(root, "commands"), filepath.Join(root, "commands", "x", "a.md"), "commands/x/a.md"},
		{outside, filepath.Join(outside, "a.md"), filepath.ToSlash(outside) + "/a.md"},
		{"built in", "c.md", "built in/c.md"},
		{".", filepath.Join(root, "pdf", "SKILL.md"), "pdf/SKILL.md"},
		{"", filepath.Join(root, "reports", "a", "a_v1.md"), "reports/a/a_v1.md"},
		{"", filepath.Join(outside, "a", "a_v1_local.md"), filepath.ToSlash(outside) + "/a/a_v1_local.md"},
		{"unknown", filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{outside, filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{"", filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{outside, "", ""},
		{"built in", "", ""},
	} {
		if got := bridgeOf(c).RelativePath(tt.layer, tt.full); got != tt.want {
			t.Errorf("RelativePath(%q, %q) is %q, want %q", tt.layer, tt.full, got, tt.want)
		}
	}
	if bridgeOf(c).Root() != root {
		t.Errorf("the root is %q, want %q", bridgeOf(c).Root(), root)
	}
	if none := bridgeOf(catalog(t, toolshelf.WithRoot(root))); none.RelativePath("", filepath.Join(root, "a.md")) != filepath.Join(root, "a.md") {
		t.Error("without reports, a path changes")
	}
	inMemory := bridgeOf(catalog(t, toolshelf.WithFs(memoryOf(t, nil)), toolshelf.WithRoot("srv/app"), toolshelf.WithCommandsDir("commands", "../shared")))
	for layer, want := range map[string]string{"commands": "commands/a.md", "../shared": "../shared/a.md"} {
		if full := path.Join("srv/app", layer, "a.md"); filepath.ToSlash(inMemory.Root()) != "srv/app" || inMemory.RelativePath(layer, full) != want {
			t.Errorf("the root is %q, and %q is %q, want %q", inMemory.Root(), full, inMemory.RelativePath(layer, full), want)
		}
	}
}
