package toolshelf_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// failing reports an error for some names of a filesystem.
type failing struct {
	afero.Fs
	errs map[string]error // by base name
}

func (f failing) fail(op, name string) error {
	if err := f.errs[filepath.Base(name)]; err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (f failing) Open(name string) (afero.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	return f.Fs.Open(name)
}

func (f failing) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	return f.Fs.OpenFile(name, flag, perm)
}

func TestUnreadable(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(failing{memory(t, "."), map[string]error{"Build.md": fs.ErrPermission, "crlf.md": errors.New("input/output error")}}))
	want := []string{"analyze-logs", "broken", "deploy_app", "empty", "zeta"}
	if diff := cmp.Diff(want, names(t, c)); diff != "" {
		t.Errorf("one unreadable file, the others (-want +got):\n%s", diff)
	}
	_, err := c.Get(t.Context(), "Build")
	if !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Get: %v, want ErrFileRead of fs.ErrPermission", err)
	}
	if got := strings.Join(problems(t, c), "\n"); !strings.Contains(got, "FILE_READ_ERROR commands/Build.md") || !strings.Contains(got, "FILE_READ_ERROR commands/crlf.md") {
		t.Errorf("Lint reports\n%s", got)
	}

	c = catalog(t, toolshelf.WithFs(failing{memory(t, "."), map[string]error{"commands": fs.ErrPermission}}))
	for op, call := range map[string]func() error{
		"List": func() error { _, err := c.List(t.Context(), toolshelf.Page{}); return err },
		"Get":  func() error { _, err := c.Get(t.Context(), "Build"); return err },
		"Lint": func() error { _, err := c.Lint(t.Context()); return err },
	} {
		if err := call(); !errors.Is(err, toolshelf.ErrPermissionDenied) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s of an unreadable directory: %v", op, err)
		}
	}
}

func TestEachCallSeesTheCurrentFiles(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "one"})
	file := func(name string) string { return filepath.Join(root, "commands", name) }
	c := catalog(t, toolshelf.WithRoot(root))
	description := func(name string) string {
		command, err := c.Get(t.Context(), name)
		if err != nil {
			return string(toolshelf.CodeOf(err))
		}
		for info := range c.All(t.Context()) {
			if info.Name == name && info.Description != command.Metadata.Description {
				t.Errorf("%s: List has %q, Get has %q", name, info.Description, command.Metadata.Description)
			}
		}
		return command.Metadata.Description
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name   string
		change func()
		want   string // description of a
	}{
		{"as it was", func() {}, "one"},
		{"edited", func() { must(os.WriteFile(file("a.md"), []byte("three"), 0o644)) }, "three"},
		{"edited to the same size", func() { must(os.WriteFile(file("a.md"), []byte("seven"), 0o644)) }, "seven"},
		{"edited to the same size, its time set back", func() {
			info, err := os.Stat(file("a.md"))
			must(err)
			must(os.WriteFile(file("a.md"), []byte("eight"), 0o644))
			must(os.Chtimes(file("a.md"), info.ModTime(), info.ModTime()))
		}, "eight"},
		{"replaced", func() {
			must(os.WriteFile(file("new"), []byte("forty"), 0o644))
			must(os.Rename(file("new"), file("a.md")))
		}, "forty"},
		{"removed", func() { must(os.Remove(file("a.md"))) }, "COMMAND_NOT_FOUND"},
		{"made again", func() { must(os.WriteFile(file("a.md"), []byte("again"), 0o644)) }, "again"},
		{"a replaced directory", func() {
			must(os.Rename(filepath.Join(root, "commands"), filepath.Join(root, "old")))
			must(os.Mkdir(filepath.Join(root, "commands"), 0o755))
			must(os.WriteFile(file("a.md"), []byte("other"), 0o644))
		}, "other"},
	} {
		step.change()
		if got := description("a"); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for op, call := range map[string]func() error{
		"List":       func() error { _, err := c.List(ctx, toolshelf.Page{}); return err },
		"Get":        func() error { _, err := c.Get(ctx, "Build"); return err },
		"ListSkills": func() error { _, err := c.ListSkills(ctx); return err },
		"Lint":       func() error { _, err := c.Lint(ctx); return err },
		"All":        func() error { return lastError(c.All(ctx)) },
		"Skills":     func() error { return lastError(c.Skills(ctx)) },
		"Commands":   func() error { return lastError(c.Commands(ctx)) },
	} {
		if err := call(); err != context.Canceled {
			t.Errorf("%s: %v, want the context's error", op, err)
		}
	}
}

func TestClosed(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for op, call := range map[string]func() error{
		"List":       func() error { _, err := c.List(t.Context(), toolshelf.Page{}); return err },
		"Get":        func() error { _, err := c.Get(t.Context(), "Build"); return err },
		"ListSkills": func() error { _, err := c.ListSkills(t.Context()); return err },
		"Lint":       func() error { _, err := c.Lint(t.Context()); return err },
		"All":        func() error { return lastError(c.All(t.Context())) },
		"Skills":     func() error { return lastError(c.Skills(t.Context())) },
		"Commands":   func() error { return lastError(c.Commands(t.Context())) },
	} {
		if err := call(); !errors.Is(err, toolshelf.ErrClosed) || !strings.HasPrefix(err.Error(), "toolshelf: "+op+": ") {
			t.Errorf("%s: %v, want ErrClosed of toolshelf: %[1]s", op, err)
		}
	}
}
