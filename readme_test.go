package toolshelf_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadmeProgramPrintsWhatItSays runs the first Go block of the README and
// compares its output with the block below "It prints".
func TestReadmeProgramPrintsWhatItSays(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build the program with: ", err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, rest := codeBlock(t, string(readme), "```go\n")
	want, _ := codeBlock(t, rest, "It prints\n\n```\n")

	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, got)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("output, -README +program:\n%s", diff)
	}
}

// codeBlock returns the block that opens with the given text, and what follows it.
func codeBlock(t *testing.T, markdown, open string) (code, rest string) {
	t.Helper()
	_, after, ok := strings.Cut(markdown, open)
	if !ok {
		t.Fatalf("README.md has no %q", open)
	}
	code, rest, ok = strings.Cut(after, "```\n")
	if !ok {
		t.Fatalf("README.md: the block after %q is not closed", open)
	}
	return code, rest
}
