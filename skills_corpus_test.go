package toolshelf_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf"
)

// Every public skill is loaded as its author wrote it. Each directory that holds
// skills is the layer of a catalog, so no skill shadows another.
func TestCorpusSkillsAreAsTheirAuthorsWroteThem(t *testing.T) {
	catalogs := map[string]*toolshelf.Catalog{}
	var skills, plain, fields, recovered, files, bytesOfFiles int
	err := filepath.WalkDir(filepath.Join(corpus(t), "skills"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(d.Name(), "SKILL.md") {
			return err
		}
		skills++
		dir := filepath.Dir(file)
		layer := filepath.Dir(dir)
		c := catalogs[layer]
		if c == nil {
			c = catalog(t, toolshelf.WithRoot(layer), toolshelf.WithSkillsDir("."))
			catalogs[layer] = c
		}
		skill, err := c.GetSkill(t.Context(), filepath.Base(dir), toolshelf.Digests())
		if err != nil {
			t.Error(err)
			return nil
		}
		checkUnaltered(t, file, skill.Raw, skill.Content)
		checkFiles(t, c, dir, skill)
		for _, f := range skill.Files {
			files++
			bytesOfFiles += int(f.Size)
		}

		node, ok := yamlHeader(skill.Raw)
		if !ok {
			recovered++
			if len(skill.Diagnostics) == 0 {
				t.Errorf("%s: a header that YAML refuses is not reported", file)
			}
			for _, d := range skill.Diagnostics {
				if d.Code == "" || d.Line == 0 || d.Message == "" {
					t.Errorf("%s: an incomplete diagnostic: %+v", file, d)
				}
			}
			return nil
		}
		plain++
		data, err := json.Marshal(skill.Frontmatter)
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var got map[string]any
		if err := decoder.Decode(&got); err != nil {
			t.Fatalf("%s: %v: %s", file, err, data)
		}
		if len(got) != len(node.Content)/2 {
			t.Errorf("%s: %d fields, YAML has %d", file, len(got), len(node.Content)/2)
		}
		for i := 0; i < len(node.Content); i += 2 {
			key, value := node.Content[i].Value, node.Content[i+1]
			fields++
			if !equalsYAML(got[key], value) {
				t.Errorf("%s: %s is %v, YAML has %s", file, key, got[key], value.Value)
			}
			switch key {
			case "name":
				if skill.DeclaredName != value.Value {
					t.Errorf("%s: the name is %q, YAML has %q", file, skill.DeclaredName, value.Value)
				}
			case "description":
				if skill.Description != strings.TrimSpace(value.Value) {
					t.Errorf("%s: the description is %q, YAML has %q", file, skill.Description, value.Value)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d skills loaded with %d files of %d bytes; %d headers are YAML, their %d fields equal; %d are not YAML and were recovered, with diagnostics",
		skills, files, bytesOfFiles, plain, fields, recovered)
	if skills == 0 || plain == 0 {
		t.Error("the corpus has no skills")
	}
}

// A search through all levels finds every public skill. Of several skills with the
// same name, ListSkills lists the skill of the lowest level, which names the others.
func TestCorpusSkillsAreAllListed(t *testing.T) {
	top := filepath.Join(corpus(t), "skills")
	want := map[string]bool{}
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir // hidden
		}
		if err == nil && !d.IsDir() && strings.EqualFold(d.Name(), "SKILL.md") {
			want[file] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := catalog(t, toolshelf.WithRoot(top), toolshelf.WithSkillsDir("."), toolshelf.WithSkillDepth(6)).ListSkills(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := len(want)
	for _, s := range list {
		delete(want, s.Path)
		for _, hidden := range s.Shadows {
			delete(want, filepath.Join(top, filepath.FromSlash(strings.TrimPrefix(hidden, "./"))))
		}
	}
	if len(want) > 0 {
		t.Errorf("%d of %d are not listed, such as %v", len(want), all, want)
	}
}

// checkFiles compares the list of files with a walk of the directory.
func checkFiles(t *testing.T, c *toolshelf.Catalog, dir string, skill toolshelf.Skill) {
	t.Helper()
	listed := map[string]toolshelf.SkillFile{}
	for _, f := range skill.Files {
		listed[f.Path] = f
	}
	walked := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		walked++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f := listed[filepath.ToSlash(below)]
		if f.Size != int64(len(data)) || f.SHA256 != digest(string(data)) {
			t.Errorf("%s: listed as %+v", path, f)
		}
		got, err := c.ReadSkillFile(t.Context(), skill.Name, f.Path)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if walked != len(skill.Files) {
		t.Errorf("%s: %d files listed, %d exist", dir, len(skill.Files), walked)
	}
}

// yamlHeader returns the mapping between the first two lines of three dashes, decoded
// without the parser under test. If YAML finds no mapping, ok is false.
func yamlHeader(raw []byte) (*yaml.Node, bool) {
	first, rest, _ := bytes.Cut(bytes.TrimPrefix(raw, []byte("\ufeff")), []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, false
	}
	var header []byte
	for line := range bytes.Lines(rest) {
		if string(bytes.TrimRight(line, " \t\r\n")) == "---" {
			var document yaml.Node
			var values map[string]any // a map rejects what a node accepts, such as duplicate keys
			if yaml.Unmarshal(header, &document) != nil || yaml.Unmarshal(header, &values) != nil || len(document.Content) == 0 {
				return nil, false
			}
			return document.Content[0], document.Content[0].Kind == yaml.MappingNode
		}
		header = append(header, line...)
	}
	return nil, false
}

// equalsYAML compares a JSON value with a YAML value. Texts and literals are equal if
// their characters are equal.
func equalsYAML(got any, want *yaml.Node) bool {
	switch want.Kind {
	case yaml.AliasNode:
		return equalsYAML(got, want.Alias)
	case yaml.SequenceNode:
		list, ok := got.([]any)
		if !ok || len(list) != len(want.Content) {
			return false
		}
		for i := range list {
			if !equalsYAML(list[i], want.Content[i]) {
				return false
			}
		}
		return true
	case yaml.MappingNode:
		fields, ok := got.(map[string]any)
		if !ok || 2*len(fields) != len(want.Content) {
			return false
		}
		for i := 0; i < len(want.Content); i += 2 {
			if !equalsYAML(fields[want.Content[i].Value], want.Content[i+1]) {
				return false
			}
		}
		return true
	}
	switch got := got.(type) {
	case nil:
		return want.Tag == "!!null"
	case bool:
		return want.Tag == "!!bool" && want.Value == map[bool]string{true: "true", false: "false"}[got]
	case json.Number:
		return (want.Tag == "!!int" || want.Tag == "!!float") && got.String() == want.Value
	case string:
		return want.Tag != "!!null" && got == want.Value
	}
	return false
}
