package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestTheIndexReadsOnlyChangedCommands(t *testing.T) {
	project, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(project, "commands", name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	}
	search := func(want string) {
		t.Helper()
		var out strings.Builder
		must.Do(t, run(t.Context(), &out, project, index, "proxy"))
		if out.String() != want {
			t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
		}
	}
	write("deploy.md", "Ship a release.\n\nWatch the proxy.\n")
	write("haiku.md", "Write a poem.\n")
	search("read deploy\nread haiku\ndeploy: Ship a release.\n")
	search("deploy: Ship a release.\n")
	write("haiku.md", "Write a poem about the proxy.\n")
	must.Do(t, os.Remove(filepath.Join(project, "commands", "deploy.md")))
	search("read haiku\nhaiku: Write a poem about the proxy.\n")
}
