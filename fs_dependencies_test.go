package toolshelf_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

var withDependencies = map[string]string{
	".gitignore":                       "node_modules/\n/venv\n",
	".git/HEAD":                        "",
	".git/objects/ab/cdef":             "",
	"web/node_modules/a/index.js":      "",
	"web/node_modules/a/.git/HEAD":     "",
	"web/node_modules/b/index.js":      "",
	"web/node_modules/.bin/a":          "",
	"web/app.js":                       "",
	"web/vendor/c/index.js":            "",
	"venv/pyvenv.cfg":                  "",
	"lib/node_modules":                 "a file",
	"lib/empty/site-packages/.keep/me": "",
}

func TestTreeCountsTheEntriesOfDependencies(t *testing.T) {
	for name, fsys := range map[string]toolshelf.Option{
		"memory": toolshelf.WithFs(memoryOf(t, withDependencies)),
		"disk":   toolshelf.WithRoot(diskOf(t, withDependencies)),
	} {
		c := catalog(t, fsys)
		for _, tt := range []struct {
			name, path string
			options    []toolshelf.DirOption
			want       string
		}{
			{"ignored directories are shown", ".", []toolshelf.DirOption{toolshelf.Gitignore(), toolshelf.ShowHidden()}, `Directory tree: ./

[DIR]  .git/ (2 entries)
[DIR]  lib/
  [DIR]  empty/
    [DIR]  site-packages/ (1 entry)
  [FILE] node_modules (6 B)
[DIR]  venv/ (1 entry)
[DIR]  web/
  [DIR]  node_modules/ (3 entries)
  [DIR]  vendor/
    [DIR]  c/
      [FILE] index.js (0 B)
  [FILE] app.js (0 B)
[FILE] .gitignore (20 B)`},
			{"hidden and excluded directories are not", "", []toolshelf.DirOption{toolshelf.Exclude("lib", "vendor", "web/node_modules")}, `Directory tree: ./

Excluding: lib, vendor, web/node_modules

[DIR]  venv/ (1 entry)
[DIR]  web/
  [FILE] app.js (0 B)`},
			{"the directory of the call", "web/node_modules", []toolshelf.DirOption{toolshelf.ShowHidden(), toolshelf.Exclude(".bin")}, `Directory tree: web/node_modules/

Excluding: .bin

[DIR]  a/
  [DIR]  .git/ (1 entry)
  [FILE] index.js (0 B)
[DIR]  b/
  [FILE] index.js (0 B)`},
			{"the last level", "web", []toolshelf.DirOption{toolshelf.MaxDepth(1)}, `Directory tree: web/

[DIR]  node_modules/
[DIR]  vendor/
[FILE] app.js (0 B)`},
			{"a limit counts only the entries of the tree", "web", []toolshelf.DirOption{toolshelf.Limit(3)}, `Directory tree: web/

[DIR]  node_modules/ (3 entries)
[DIR]  vendor/ (1 entry)
[FILE] app.js (0 B)

Cut at 3 entries; raise this limit, or give the path of a subdirectory`},
		} {
			tree, err := c.Tree(t.Context(), tt.path, append(tt.options, toolshelf.SkipDependencies())...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tree.String()); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, tt.name, diff)
			}
		}
	}
}

func TestTreeCountsTheEntriesOfEmptyDependencies(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"app.js": ""})
	for _, dir := range []string{"node_modules", "empty"} {
		if err := fsys.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := catalog(t, toolshelf.WithFs(fsys)).Tree(t.Context(), ".", toolshelf.SkipDependencies())
	want := "Directory tree: ./\n\n[DIR]  empty/\n[DIR]  node_modules/ (0 entries)\n[FILE] app.js (0 B)"
	if err != nil || tree.String() != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, tree.String()))
	}
}

func TestFindFilesSkipsDependencies(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, withDependencies)))
	for _, tt := range []struct {
		path, pattern, want string
		skipped             int
	}{
		{".", "*.js", "web/vendor/c/index.js web/app.js", 2},
		{"web/node_modules", "*.js", "web/node_modules/a/index.js web/node_modules/b/index.js", 0},
		{".", "web/node_modules/*/index.js", "web/node_modules/a/index.js web/node_modules/b/index.js", 0},
		{".", "web/n*/*/index.js", "", 1},
		{".", "/*", "", 0}, // no level below
		{".", "node_modules", "lib/node_modules", 2},
	} {
		found, err := c.FindFiles(t.Context(), tt.path, tt.pattern, toolshelf.SkipDependencies(), toolshelf.Exclude("site-packages"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(found.Files, " "); got != tt.want || found.Dependencies != tt.skipped {
			t.Errorf("%s in %s: %q and %d directories skipped, want %q and %d", tt.pattern, tt.path, got, found.Dependencies, tt.want, tt.skipped)
		}
	}
	found, err := c.FindFiles(t.Context(), ".", "*.css", toolshelf.SkipDependencies(), toolshelf.Exclude("lib"))
	if want := "No files found matching pattern '*.css'\n\n2 directories of dependencies were not searched (see show_dependencies)"; err != nil || found.String() != want {
		t.Errorf("%q, %v; want %q", found, err, want)
	}
}

func TestUnreadableDependenciesHaveAReason(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(faulty{Fs: memoryOf(t, withDependencies), open: map[string]error{"node_modules": fs.ErrPermission}}))
	tree, err := c.Tree(t.Context(), "web", toolshelf.SkipDependencies(), toolshelf.Exclude("vendor"))
	want := "Directory tree: web/\n\nExcluding: vendor\n\n[DIR]  node_modules/ (permission denied)\n[FILE] app.js (0 B)"
	if err != nil || tree.String() != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, tree.String()))
	}
}
