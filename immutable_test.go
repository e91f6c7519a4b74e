package toolshelf_test

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

func TestEmbeddedFilesystemsAreImmutable(t *testing.T) {
	sub := func(fsys fs.FS, dir string) fs.FS {
		sub, err := fs.Sub(fsys, dir)
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}
	for name, tt := range map[string]struct {
		fsys fs.FS
		want bool
	}{
		"embed.FS":                {embedded, true},
		"fs.Sub":                  {sub(embedded, "testdata"), true},
		"fs.Sub of fs.Sub":        {sub(sub(embedded, "testdata"), "project"), true},
		"a pointer, which may be": {&embedded, false}, // assigned another embed.FS
		"fstest.MapFS":            {fstest.MapFS{}, false},
		"fs.Sub of another":       {sub(os.DirFS("testdata"), "project"), false},
		"fs.Sub of a wrapper":     {sub(struct{ fs.FS }{embedded}, "testdata"), false},
		"os.DirFS":                {os.DirFS("."), false},
	} {
		if got := toolshelf.IsEmbedded(tt.fsys); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}

// opened counts the Opens of a filesystem.
type opened struct {
	fs.FS
	files atomic.Int64
}

func (o *opened) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if err == nil {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			o.files.Add(1)
		}
	}
	return f, err
}

// An immutable layer is read once by each of the methods that read whole files,
// and other filesystems without times are read again.
func TestAnImmutableLayerIsReadOnce(t *testing.T) {
	commands := &opened{FS: fstest.MapFS{"a.md": {Data: []byte("apples")}, "b.md": {Data: []byte("pears")}}}
	skills := &opened{FS: fstest.MapFS{"zed/SKILL.md": {Data: []byte(skillFile("zed"))}, "zed/a.txt": {Data: []byte("a")}}}
	for _, tt := range []struct {
		name string
		mark func(fs.FS) fs.FS
		want bool // that no file is read again
	}{
		{"marked", toolshelf.Immutable, true},
		{"not marked", func(fsys fs.FS) fs.FS { return fsys }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithCommandsFS("c", tt.mark(commands)), toolshelf.WithSkillsFS("s", tt.mark(skills)))
			calls := map[string]func(){
				"List": func() {
					if diff := cmp.Diff([]string{"a", "b"}, names(t, c)); diff != "" {
						t.Error(diff)
					}
				},
				"Get": func() {
					if got, err := c.Get(t.Context(), "a"); err != nil || got.Content != "apples" {
						t.Errorf("%q, %v", got.Content, err)
					}
				},
				"Search": func() {
					if got := search(t, c, "apples"); got != "a/tier2" {
						t.Errorf("found %q", got)
					}
				},
				"ListSkills": func() { skillsOf(t, c) },
				"SearchSkills": func() {
					if found, err := c.SearchSkills(t.Context(), "zed", 0); err != nil || len(found.Results) != 1 {
						t.Errorf("%v, %v", found, err)
					}
				},
			}
			for _, call := range calls {
				call()
			}
			for name, call := range calls {
				before := commands.files.Load() + skills.files.Load()
				call()
				if read := commands.files.Load() + skills.files.Load() - before; (read == 0) != tt.want {
					t.Errorf("%s opens %d files again", name, read)
				}
			}
		})
	}
	if _, err := toolshelf.New(toolshelf.WithCommandsFS("c", toolshelf.Immutable(nil))); !errors.Is(err, toolshelf.ErrInvalidOption) {
		t.Errorf("no filesystem: %v", err)
	}
}
