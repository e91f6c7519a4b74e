package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestEachChangeIsALine(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, writer, dir)
		writer.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(reader)
	wantLine := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, want %q", lines.Text(), want)
		}
	}
	// put renames a file into the project: one change, where writing a file would be several.
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(elsewhere, "file")
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
		must.Do(t, os.Rename(file, filepath.Join(dir, filepath.FromSlash(name))))
	}
	wantLine("watching (commands: 0)")
	must.Do(t, os.Mkdir(filepath.Join(dir, "commands"), 0o755))
	put("commands/a.md", "one\n")
	wantLine("added command a (commands: 1)")
	put("commands/a.md", "another\n")
	wantLine("changed command a (commands: 1)")
	put("commands/b.md", "b\n")
	wantLine("added command b (commands: 2)")
	must.Do(t, os.Remove(filepath.Join(dir, "commands", "a.md")))
	wantLine("removed command a (commands: 1)")
	must.Do(t, os.MkdirAll(filepath.Join(elsewhere, "skills", "s"), 0o755))
	must.Do(t, os.Rename(filepath.Join(elsewhere, "skills"), filepath.Join(dir, "skills")))
	wantLine("added skill s (commands: 1)")
	interrupt()
	if lines.Scan() {
		t.Errorf("another line: %q", lines.Text())
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestMissingRootIsAnError(t *testing.T) {
	if err := run(t.Context(), io.Discard, filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("no error")
	}
}
