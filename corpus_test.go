package toolshelf_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// layersBelow returns the subdirectories of dir and all hidden directories below dir. As
// layers, these directories contain all files, because a layer omits hidden directories.
func layersBelow(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		if e.IsDir() {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			all = append(all, path)
		}
		return err
	}))
	return all
}

func TestCorpusCommands(t *testing.T) {
	var listed, plain, diagnosed int
	for i, root := range layersBelow(t, filepath.Join(corpus(t), "commands")) {
		if testing.Short() && i%4 > 0 {
			continue
		}
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir("."), toolshelf.WithNestedCommands(), toolshelf.WithLooseNames())
		found := map[string]bool{} // by path of each listed command
		for info, err := range c.All(t.Context()) {
			must.Do(t, err)
			command, err := c.Get(t.Context(), info.Name)
			if err != nil {
				t.Error(err)
				continue
			}
			found[command.Metadata.Path] = true
			checkUnaltered(t, command.Metadata.Path, command.Raw, command.Content)
			if info.Description == "" && strings.TrimSpace(command.Frontmatter.Text("description")) != "" {
				t.Errorf("%s: no description, where the header has one", command.Metadata.Path)
			}
		}
		must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
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
		}))
		listed += len(found)

		for _, d := range must.Get(c.Lint(t.Context()))(t) {
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
			must.Do(t, err)
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
	file := must.Get(os.ReadFile(path))(t)
	must.Match(t, path, raw, file)
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
	must.Equal(t, path, string(body), content)
}

func TestCorpusSkills(t *testing.T) {
	var listed, described, diagnosed int
	for _, root := range layersBelow(t, filepath.Join(corpus(t), "skills")) {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillsDir("."))
		for _, s := range must.Get(c.ListSkills(t.Context()))(t) {
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

// Every public skill is loaded as its author wrote it. Each directory that holds
// skills is the layer of a catalog, so no skill shadows another.
func TestCorpusSkillsAreAsTheirAuthorsWroteThem(t *testing.T) {
	catalogs := map[string]*toolshelf.Catalog{}
	var skills, plain, fields, recovered, files, bytesOfFiles int
	must.Do(t, filepath.WalkDir(filepath.Join(corpus(t), "skills"), func(file string, d fs.DirEntry, err error) error {
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
		decoder := json.NewDecoder(bytes.NewReader(must.Get(json.Marshal(skill.Frontmatter))(t)))
		decoder.UseNumber()
		var got map[string]any
		must.Is(t, file, nil, decoder.Decode(&got))
		must.Equal(t, file, len(node.Content)/2, len(got))
		for i := 0; i < len(node.Content); i += 2 {
			key, value := node.Content[i].Value, node.Content[i+1]
			fields++
			if !equalsYAML(got[key], value) {
				t.Errorf("%s: %s is %v, YAML has %s", file, key, got[key], value.Value)
			}
			switch key {
			case "name":
				must.Equal(t, file, value.Value, skill.DeclaredName)
			case "description":
				must.Equal(t, file, strings.TrimSpace(value.Value), skill.Description)
			}
		}
		return nil
	}))
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
	must.Do(t, filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir // hidden
		}
		if err == nil && !d.IsDir() && strings.EqualFold(d.Name(), "SKILL.md") {
			want[file] = true
		}
		return err
	}))
	list := must.Get(catalog(t, toolshelf.WithRoot(top), toolshelf.WithSkillsDir("."), toolshelf.WithSkillDepth(6)).ListSkills(t.Context()))(t)
	for _, s := range list {
		delete(want, s.Path)
		for _, hidden := range s.Shadows {
			delete(want, filepath.Join(top, filepath.FromSlash(strings.TrimPrefix(hidden, "./"))))
		}
	}
	must.Match(t, "files that are not listed", map[string]bool{}, want)
}

// checkFiles compares the list of files with a walk of the directory.
func checkFiles(t *testing.T, c *toolshelf.Catalog, dir string, skill toolshelf.Skill) {
	t.Helper()
	listed := map[string]toolshelf.SkillFile{}
	for _, f := range skill.Files {
		listed[f.Path] = f
	}
	walked := 0
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
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
		must.Equal(t, path, int64(len(data)), f.Size)
		must.Equal(t, path, digest(string(data)), f.SHA256)
		must.Match(t, path, data, must.Get(c.ReadSkillFile(t.Context(), skill.Name, f.Path))(t))
		return nil
	}))
	must.Equal(t, dir, len(skill.Files), walked)
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

// corpusLayers returns the directories of a part of the corpus that are layers of
// their projects.
func corpusLayers(t *testing.T, part string, isLayer func(dir string) bool) (top string, layers []string) {
	t.Helper()
	top = filepath.Join(corpus(t), part)
	must.Do(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && isLayer(path) {
			layers = append(layers, path)
		}
		return err
	}))
	if len(layers) == 0 {
		t.Fatal("the corpus has no " + part)
	}
	return top, layers
}

// corpusLint checks a layer. The paths are relative to the part of the corpus.
func corpusLint(t *testing.T, c *toolshelf.Catalog, top, layer string) []toolshelf.Diagnostic {
	t.Helper()
	diagnostics := must.Get(c.Lint(t.Context()))(t)
	must.Match(t, layer, must.Get(c.Lint(t.Context()))(t), diagnostics)
	below := must.Get(filepath.Rel(top, layer))(t)
	for i := range diagnostics {
		diagnostics[i].Path = filepath.ToSlash(filepath.Join(below, diagnostics[i].Path))
	}
	return diagnostics
}

// checkRejected verifies that Lint reports an error with a line or for the whole
// file, if ListSkills cannot describe a skill.
func checkRejected(t *testing.T, s toolshelf.SkillInfo, diagnostics []toolshelf.Diagnostic) {
	t.Helper()
	if s.DeclaredName != "" && s.Description != "" && len(s.Diagnostics) == 0 {
		return
	}
	for _, d := range diagnostics {
		if d.Severity == "error" && strings.Contains(d.Path, "/"+s.Name+"/") && (d.Line > 0 || d.Code == "SKILL_FILE_MISSING" || strings.Contains(string(d.Code), "FILE") || d.Code == "LINK_NOT_FOLLOWED") {
			return
		}
	}
	t.Errorf("%s is broken (%v), and Lint has no error with a line for it", s.Name, s.Diagnostics)
}

func checkComplete(t *testing.T, diagnostics []toolshelf.Diagnostic) {
	t.Helper()
	counts := map[string]int{}
	for _, d := range diagnostics {
		counts[string(d.Severity)+" "+string(d.Code)]++
		if d.Code == "" || d.Severity != "error" && d.Severity != "warning" || d.Path == "" || strings.HasPrefix(d.Path, "/") ||
			d.Message == "" || strings.ContainsAny(d.Message+d.Suggestion, "\n\r") || d.Column > 0 && d.Line == 0 {
			t.Errorf("an incomplete diagnostic: %+v", d)
		}
		if strings.HasPrefix(string(d.Code), "SKILL_") && d.Code != "SKILL_FILE_MISSING" && d.Code != "SKILL_FILE_UNUSED" && d.Line == 0 {
			t.Errorf("a rule without a line: %+v", d)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%5d %s", counts[code], code)
	}
	for _, d := range diagnostics {
		if d.Code == "REFERENCE_NOT_FOUND" {
			t.Logf("%s:%d:%d: %s; %s", d.Path, d.Line, d.Column, d.Message, d.Suggestion)
		}
	}
}

func TestCorpusLintCommands(t *testing.T) {
	var all []toolshelf.Diagnostic
	top, layers := corpusLayers(t, "commands", func(dir string) bool {
		return filepath.Base(dir) == "commands" && filepath.Base(filepath.Dir(dir)) != filepath.Base(os.Getenv("TOOLSHELF_CORPUS"))
	})
	for _, layer := range layers {
		c := catalog(t, toolshelf.WithRoot(layer), toolshelf.WithCommandsDir("."), toolshelf.WithSkillsDir(), toolshelf.WithNestedCommands())
		all = append(all, corpusLint(t, c, top, layer)...)
	}
	checkComplete(t, all)
}

func TestCorpusLintSkills(t *testing.T) {
	var all []toolshelf.Diagnostic
	skills := 0
	top, layers := corpusLayers(t, "skills", func(dir string) bool {
		const file = "[Ss][Kk][Ii][Ll][Ll].[Mm][Dd]"
		skills, err := filepath.Glob(filepath.Join(dir, "*", file))
		return err == nil && len(skills) > 0
	})
	for _, layer := range layers {
		c := catalog(t, toolshelf.WithRoot(layer), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir("."))
		diagnostics := corpusLint(t, c, top, layer)
		for _, s := range must.Get(c.ListSkills(t.Context()))(t) {
			skills++
			checkRejected(t, s, diagnostics)
		}
		all = append(all, diagnostics...)
	}
	checkComplete(t, all)
	t.Logf("%d skills", skills)
}

// Recall is the share of queries whose command is the first result, or one of the
// first five results.
type recall struct {
	asked, first, five int
}

func (r *recall) ask(t *testing.T, c *toolshelf.Catalog, query, want string) {
	t.Helper()
	found := must.Get(c.Search(t.Context(), query, 5))(t)
	r.asked++
	for i, result := range found.Results {
		if result.Name != want {
			continue
		}
		r.five++
		if i == 0 {
			r.first++
			return
		}
	}
	var names []string
	for _, result := range found.Results {
		names = append(names, result.Name)
	}
	t.Logf("%s: %q finds %s", want, query, strings.Join(names, ", "))
}

func (r *recall) check(t *testing.T, first, five float64) {
	t.Helper()
	atFirst, atFive := float64(r.first)/float64(r.asked), float64(r.five)/float64(r.asked)
	t.Logf("%d queries: recall is %.3f at 1 and %.3f at 5", r.asked, atFirst, atFive)
	if !(atFirst >= first && atFive >= five) {
		t.Errorf("recall is %.3f at 1 and %.3f at 5; at least %.3f and %.3f are wanted", atFirst, atFive, first, five)
	}
}

// TestQuestionsFindTheirCommands asks for commands without using their names.
func TestQuestionsFindTheirCommands(t *testing.T) {
	questions := must.Get(os.ReadFile("testdata/search_questions.txt"))(t)
	c := catalog(t, toolshelf.WithRoot("examples/sample/project"), toolshelf.WithNestedCommands())
	var r recall
	for line := range strings.Lines(string(questions)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, question, _ := strings.Cut(line, " ")
		must.Get(c.Get(t.Context(), name))(t)
		r.ask(t, c, strings.TrimSpace(question), name)
	}
	must.Equal(t, "r.asked", 40, r.asked)
	r.check(t, 0.27, 0.57)
}

// The prompt keeps the names of any 200 public skills in 8,000 characters, as Claude Code and Codex
// do.
func TestCorpusPromptKeepsTheNames(t *testing.T) {
	all := catalog(t, toolshelf.WithSkillsDir(layersBelow(t, filepath.Join(corpus(t), "skills"))...), toolshelf.WithSymlinks(toolshelf.SymlinksDeny))
	whole, err := all.SkillsPrompt(t.Context())
	if err != nil || len(whole.Included) < 200 {
		t.Fatal(len(whole.Included), err)
	}
	t.Log(len(whole.Included), "skills")
	for names := range slices.Chunk(whole.Included, 200) {
		if len(names) < 200 {
			break
		}
		chosen := map[string]bool{}
		for _, name := range names {
			chosen[name] = true
		}
		view := must.Get(all.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return chosen[s.Name] })))(t)
		prompt, err := view.SkillsPrompt(t.Context(), toolshelf.Budget(8000))
		if err != nil || len(prompt.Dropped) > 0 || len(prompt.Included) != 200 || utf8.RuneCountInString(prompt.Text) > 8000 {
			t.Errorf("%s to %s: %d included, dropped %q, %v", names[0], names[199], len(prompt.Included), prompt.Dropped, err)
		}
		if testing.Short() {
			break
		}
	}
}
