package toolshelf_test

import (
	"os/exec"
	"strings"
	"testing"
)

// needsWorkspace skips a test of several modules of the repository outside the workspace
// of go.work.
func needsWorkspace(t *testing.T) {
	t.Helper()
	if file := goCommand(t, ".", "env", "GOWORK"); file == "" || file == "off" {
		t.Skip("the go command uses no go.work file")
	}
}

// goCommand runs a go command in a directory and returns the standard output.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: ", err)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
