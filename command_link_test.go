package toolshelf_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// TestGetOfALinkedCommand changes a command file that is a link, and the target,
// after the catalog has cached the command. Each change keeps the size of the
// file, and the modification time where a file system allows this.
func TestGetOfALinkedCommand(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(root, link string) error
		want   string
		err    error
	}{
		{"the target changes", func(root, link string) error { return rewrite(filepath.Join(root, "lib", "one.md"), "New") }, "New", nil},
		{"another file replaces the target", func(root, link string) error {
			return os.Rename(filepath.Join(root, "lib", "two.md"), filepath.Join(root, "lib", "one.md"))
		}, "Two", nil},
		{"the link leads to another file", func(root, link string) error { return relink("../lib/two.md", link) }, "Two", nil},
		{"a file replaces the link", func(root, link string) error {
			return os.Rename(filepath.Join(root, "lib", "two.md"), link)
		}, "Two", nil},
		{"a link between leads to another file", func(root, link string) error {
			return relink("two.md", filepath.Join(root, "lib", "between.md"))
		}, "Two", nil},
		{"a directory on the way is replaced", func(root, link string) error {
			return errors.Join(os.Rename(filepath.Join(root, "lib"), filepath.Join(root, "old")), os.Rename(filepath.Join(root, "other"), filepath.Join(root, "lib")))
		}, "Else", nil},
		{"the target is gone", func(root, link string) error { return os.Remove(filepath.Join(root, "lib", "one.md")) }, "", toolshelf.ErrFileRead},
		{"the link leads out of the root", func(root, link string) error { return relink("../../outside.md", link) }, "", toolshelf.ErrFileRead},
		{"the target becomes a link out of the root", func(root, link string) error {
			return relink("../../outside.md", filepath.Join(root, "lib", "one.md"))
		}, "", toolshelf.ErrFileRead},
		{"the link leads to a directory", func(root, link string) error { return relink("../lib", link) }, "", toolshelf.ErrFileRead},
		{"the link is gone", func(root, link string) error { return os.Remove(link) }, "", toolshelf.ErrCommandNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := filepath.Join(diskOf(t, map[string]string{
				"root/lib/one.md": "One", "root/lib/two.md": "Two", "root/other/between.md": "Else", "root/commands/b.md": "", "outside.md": "Out",
			}), "root")
			link := filepath.Join(root, "commands", "a.md")
			if err := errors.Join(os.Symlink("one.md", filepath.Join(root, "lib", "between.md")), os.Symlink(filepath.FromSlash("../lib/between.md"), link)); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
			c := catalog(t, toolshelf.WithRoot(root))
			for deadline := time.Now().Add(time.Minute); ; {
				if command, err := c.Get(t.Context(), "a"); err != nil || command.Content != "One" {
					t.Fatalf("got %q, %v", command.Content, err)
				}
				if toolshelf.Cached(c, "a") {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("never cached")
				}
			}
			if err := tt.change(root, link); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				command, err := c.Get(t.Context(), "a")
				if command.Content != tt.want || !errors.Is(err, tt.err) {
					t.Errorf("got %q, %v; want %q, %v", command.Content, err, tt.want, tt.err)
				}
			}
		})
	}
}

// A cached command behind a link is served without opening the file.
func TestGetOfACachedLinkedCommandOpensNoFile(t *testing.T) {
	root := diskOf(t, map[string]string{"lib/one.md": "One"})
	link := filepath.Join(root, "commands", "a.md")
	if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o755), os.Symlink(filepath.FromSlash("../lib/one.md"), link)); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	fsys := &openedFiles{}
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithRoot(root))
	opens := func() int64 {
		t.Helper()
		before := fsys.opened.Load()
		if command, err := c.Get(t.Context(), "a"); err != nil || command.Content != "One" {
			t.Fatalf("got %q, %v", command.Content, err)
		}
		return fsys.opened.Load() - before
	}
	for deadline := time.Now().Add(time.Minute); opens() > 0; {
		if time.Now().After(deadline) {
			t.Fatal("never served from the cache")
		}
	}
}

// openedFiles is the operating system's filesystem, and counts the opened
// Markdown files.
type openedFiles struct {
	afero.OsFs
	opened atomic.Int64
}

func (f *openedFiles) Open(name string) (afero.File, error) {
	if filepath.Ext(name) == ".md" {
		f.opened.Add(1)
	}
	return f.OsFs.Open(name)
}

// rewrite replaces the content of a file and sets the modification time back.
func rewrite(file, text string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, []byte(text), 0o644), os.Chtimes(file, info.ModTime(), info.ModTime()))
}

func relink(target, link string) error {
	return errors.Join(os.Remove(link), os.Symlink(filepath.FromSlash(target), link))
}
