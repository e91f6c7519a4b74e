package servers_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A listed is an entry that the program of a client lists for a file. A program lists a text with
// other variables.
type listed struct {
	Name, Command, URL string
	Args               []string
}

// TestPublicFiles reads the files below the directory mcp of TOOLSHELF_CORPUS. A file
// NAME.CLIENT.listed beside a file NAME has the entries that the program of the client lists; the
// files come from a run of the programs, claude 2.1.332, codex 0.171.0, gemini 0.61.0, opencode
// 1.18.33 and copilot 1.0.102, on 2026-11-27.
func TestPublicFiles(t *testing.T) {
	dir := filepath.Join(os.Getenv("TOOLSHELF_CORPUS"), "mcp")
	if _, err := os.Stat(dir); os.Getenv("TOOLSHELF_CORPUS") == "" || err != nil {
		t.Skip("TOOLSHELF_CORPUS has no directory mcp")
	}
	files, servers, compared := 0, 0, 0
	must.Do(t, filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(file, ".listed") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		files++
		for _, row := range client.All() {
			want, err := os.ReadFile(file + "." + row.Name + ".listed")
			if err != nil && !readsBase(row, filepath.Base(file)) {
				continue
			}
			i := slices.IndexFunc(row.Servers.Files, func(f client.ServerFile) bool { return f.Base == client.Project })
			if i < 0 {
				continue
			}
			c := open(t, map[string]string{"/repo/" + row.Servers.Files[i].Path: string(text)}, toolshelf.WithClient(row), toolshelf.WithHome(""))
			all := list(t, c)
			servers += len(all)
			for _, s := range all {
				if _, err := s.Resolve(func(string) (string, bool) { return "x", true }); err != nil && row.Name != "crush" {
					t.Errorf("%s: %v", file, err)
				}
			}
			if _, err := c.Lint(t.Context()); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if want != nil {
				compared += compare(t, file, row.Name, want, all)
			}
		}
		return nil
	}))
	t.Logf("%d files, %d servers, %d compared with the lists of programs", files, servers, compared)
}

// readsBase reports whether a client has files with the base name.
func readsBase(row client.Client, base string) bool {
	return slices.ContainsFunc(row.Servers.Files, func(f client.ServerFile) bool { return filepath.Base(f.Path) == base })
}

func compare(t *testing.T, file, name string, want []byte, all []toolshelf.MCPServer) int {
	var entries []listed
	if err := json.Unmarshal(want, &entries); err != nil {
		t.Fatal(file, err)
	}
	for _, e := range entries {
		if e.Command == "" && e.URL == "" {
			continue // a server that no program can start, such as a placeholder with an empty URL
		}
		i := slices.IndexFunc(all, func(s toolshelf.MCPServer) bool { return s.Name == e.Name })
		if i < 0 {
			t.Errorf("%s: %s lists %q", file, name, e.Name)
			continue
		}
		if s := all[i]; s.Command != e.Command || s.URL != e.URL || strings.Join(s.Args, " ") != strings.Join(e.Args, " ") {
			t.Errorf("%s: %s lists %+v, not %q %q %q", file, name, e, s.Command, s.Args, s.URL)
		}
	}
	return len(entries)
}
