package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func output(t *testing.T, dir, line string) string {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, run(t.Context(), &out, dir, line))
	return out.String()
}

func TestProjectReplacesDefaults(t *testing.T) {
	dir := t.TempDir()
	const review = "defaults   review-pr                  Review a pull request\n"
	const summarize = "defaults   summarize-repository       Summarize the repository for a newcomer\n"
	must.Match(t, "without commands in the project", review+summarize, output(t, dir, ""))
	must.Do(t, os.Mkdir(filepath.Join(dir, "commands"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(dir, "commands", "review-pr.md"), []byte("Our rules.\n"), 0o644))
	must.Match(t, "with review-pr in the project", "commands   review-pr                  Our rules.\n"+summarize, output(t, dir, ""))
}

func TestSampleProject(t *testing.T) {
	got := output(t, filepath.Join("..", "sample", "project"), "")
	for _, want := range []string{"commands   review-pr ", "commands   frontend:new-component ", "defaults   summarize-repository "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestALineIsExpanded(t *testing.T) {
	if got := output(t, t.TempDir(), "/review-pr 417"); !strings.Contains(got, "417") {
		t.Errorf("the text has no argument:\n%s", got)
	}
	if err := run(t.Context(), &bytes.Buffer{}, t.TempDir(), "/reveiw-pr 417"); !errors.Is(err, toolshelf.ErrCommandNotFound) {
		t.Errorf("got %v", err)
	}
}
