package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		strict, failed   bool
		want             string // after the directory
	}{
		{"nothing wrong", "commands/a.md", "---\ndescription: a\n---\n", true, false, ""},
		{"a warning", "commands/a.md", "---\ndescription: a: b\n---\n", false, false,
			`/commands/a.md:2:1: warning: the value is not valid YAML and is read as text; write description: "a: b" [FRONTMATTER_RECOVERED]` + "\n"},
		{"a warning that counts", ".claude/commands/a.md", "---\ndescription: a: b\n---\n", true, true,
			`/.claude/commands/a.md:2:1: warning: the value is not valid YAML and is read as text; write description: "a: b" [FRONTMATTER_RECOVERED]` + "\n"},
		{"a skill in a group", ".agents/skills/group/a/SKILL.md", "---\nname: a\n---\n", false, true,
			"/.agents/skills/group/a/SKILL.md:1:1: error: description is missing; describe what the skill does and when to use it [SKILL_DESCRIPTION_MISSING]\n"},
		{"an error", "skills/a/SKILL.md", "---\nname: b\ndescription: b\n---\n", false, true,
			`/skills/a/SKILL.md:2:1: error: name "b" does not match the directory name "a"; write "name: a" [SKILL_NAME_MISMATCH]` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, filepath.FromSlash(tt.file))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			failed, err := lint(t.Context(), &out, dir, tt.strict)
			if err != nil || failed != tt.failed {
				t.Errorf("failed is %v, %v", failed, err)
			}
			if got := filepath.ToSlash(out.String()); got != "" && got != filepath.ToSlash(dir)+tt.want || got == "" && tt.want != "" {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestLintRequiresADirectory(t *testing.T) {
	empty := t.TempDir()
	missing, file := filepath.Join(empty, "missing"), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{empty, missing, file} {
		if _, err := lint(t.Context(), new(bytes.Buffer), dir, false); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
