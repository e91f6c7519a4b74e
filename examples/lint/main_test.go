package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestLint(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		strict, failed   bool
		want             string // after the folder
	}{
		{"nothing wrong", "commands/a.md", "---\ndescription: a\n---\n", true, false, ""},
		{"a warning", "commands/a.md", "---\ndescription: a: b\n---\n", false, false,
			`/commands/a.md:2:1: warning: the value is not valid YAML; it is taken as the text that it is; description: "a: b" [FRONTMATTER_RECOVERED]` + "\n"},
		{"a warning that counts", ".claude/commands/a.md", "---\ndescription: a: b\n---\n", true, true,
			`/.claude/commands/a.md:2:1: warning: the value is not valid YAML; it is taken as the text that it is; description: "a: b" [FRONTMATTER_RECOVERED]` + "\n"},
		{"an error", "skills/a/SKILL.md", "---\nname: b\ndescription: b\n---\n", false, true,
			`/skills/a/SKILL.md:2:1: error: the name is not that of the folder, "a"; write name: a [SKILL_NAME_MISMATCH]` + "\n"},
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
	if _, err := lint(t.Context(), new(bytes.Buffer), t.TempDir(), false); err == nil {
		t.Error("a folder without commands and skills is no error")
	}
}
