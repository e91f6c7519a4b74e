package toolshelf_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

// corpusLayers returns the directories of a part of the corpus that are layers of
// their projects.
func corpusLayers(t *testing.T, part string, isLayer func(dir string) bool) (top string, layers []string) {
	t.Helper()
	top = filepath.Join(corpus(t), part)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && isLayer(path) {
			layers = append(layers, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(layers) == 0 {
		t.Fatal("the corpus has no " + part)
	}
	return top, layers
}

// corpusLint checks a layer. The paths are relative to the part of the corpus.
func corpusLint(t *testing.T, c *toolshelf.Catalog, top, layer string) []toolshelf.Diagnostic {
	t.Helper()
	diagnostics, err := c.Lint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Lint(t.Context())
	if err != nil || !slices.Equal(diagnostics, again) {
		t.Errorf("%s: Lint differs from one call to the next", layer)
	}
	below, err := filepath.Rel(top, layer)
	if err != nil {
		t.Fatal(err)
	}
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
		list, err := c.ListSkills(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			skills++
			checkRejected(t, s, diagnostics)
		}
		all = append(all, diagnostics...)
	}
	checkComplete(t, all)
	t.Logf("%d skills", skills)
}
