package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheIndexReadsOnlyChangedCommands(t *testing.T) {
	project, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(project, "commands", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	search := func(want string) {
		t.Helper()
		var out strings.Builder
		if err := run(t.Context(), &out, project, index, "proxy"); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
		}
	}
	write("deploy.md", "Ship a release.\n\nWatch the proxy.\n")
	write("haiku.md", "Write a poem.\n")
	search("read deploy\nread haiku\ndeploy: Ship a release.\n")
	search("deploy: Ship a release.\n")
	write("haiku.md", "Write a poem about the proxy.\n")
	if err := os.Remove(filepath.Join(project, "commands", "deploy.md")); err != nil {
		t.Fatal(err)
	}
	search("read haiku\nhaiku: Write a poem about the proxy.\n")
}
