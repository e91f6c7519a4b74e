package toolshelf_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

// layersBelow returns the subdirectories of dir and all hidden directories below dir. As
// layers, these directories contain all files, because a layer omits hidden directories.
func layersBelow(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCorpusCommands(t *testing.T) {
	var listed, plain, diagnosed int
	for _, root := range layersBelow(t, filepath.Join(corpus(t), "commands")) {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir("."), toolshelf.WithNestedCommands(), toolshelf.WithLooseNames())
		found := map[string]bool{} // by path of each listed command
		for info, err := range c.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			command, err := c.Get(t.Context(), info.Name)
			if err != nil {
				t.Error(err)
				continue
			}
			found[command.Metadata.Path] = true
			checkUnaltered(t, command.Metadata.Path, command.Raw, command.Content)
			if info.Description == "" && command.Frontmatter.Has("description") && strings.TrimSpace(command.Frontmatter.Text("description")) != "" {
				t.Errorf("%s: no description, where the header has one", command.Metadata.Path)
			}
		}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != root && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".md") && !strings.EqualFold(d.Name(), "README.md"):
				if !found[path] {
					t.Errorf("%s is not listed", path)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		listed += len(found)

		diagnostics, err := c.Lint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range diagnostics {
			if d.Code == "" || d.Path == "" || d.Message == "" || strings.HasPrefix(d.Path, "/") {
				t.Errorf("an incomplete diagnostic: %+v", d)
			}
			if d.Code == "FRONTMATTER_RECOVERED" {
				diagnosed++
				if d.Key == "" || d.Line == 0 {
					t.Errorf("a recovered header without line or key: %+v", d)
				}
			}
		}

		// Without loose names, List contains every file with a plain name.
		strict := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir("."), toolshelf.WithNestedCommands())
		for _, err := range strict.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			plain++
		}
	}
	t.Logf("%d commands listed, %d of them under plain names; %d values recovered", listed, plain, diagnosed)
	if listed == 0 {
		t.Error("the corpus has no commands")
	}
}

// checkUnaltered checks that a body has the bytes of the file after the header.
// checkUnaltered finds the end of the header without the parser.
func checkUnaltered(t *testing.T, path string, raw []byte, content string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, raw) {
		t.Errorf("%s: Raw is not the file", path)
	}
	body := bytes.TrimPrefix(file, []byte("\ufeff"))
	if first, rest, _ := bytes.Cut(body, []byte("\n")); string(bytes.TrimRight(first, " \t\r")) == "---" {
		for line := range bytes.Lines(rest) {
			rest = rest[len(line):]
			if string(bytes.TrimRight(line, " \t\r\n")) == "---" {
				body = rest
				break
			}
		}
	}
	if content != string(body) {
		t.Errorf("%s: the content is %d bytes, the body %d", path, len(content), len(body))
	}
}

func TestCorpusSkills(t *testing.T) {
	var listed, described, diagnosed int
	for _, root := range layersBelow(t, filepath.Join(corpus(t), "skills")) {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillsDir("."))
		skills, err := c.ListSkills(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range skills {
			listed++
			if s.Description != "" {
				described++
			} else if s.Path != "" && len(s.Diagnostics) == 0 {
				t.Errorf("%s has neither a description nor a diagnostic", s.Path)
			}
			diagnosed += len(s.Diagnostics)
		}
	}
	t.Logf("%d skills listed, %d with a description; %d diagnostics", listed, described, diagnosed)
	if listed == 0 {
		t.Error("the corpus has no skills")
	}
}
