package names

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name         string
		plain, loose bool
	}{
		{"fix-bug_2", true, true},
		{"A", true, true},
		{"", false, false},
		{"my command", false, true},
		{"v1.2", false, true},
		{"a:b", false, true},
		{"übersicht", false, true},
		{"命令", false, true},
		{".hidden", false, false},
		{"..", false, false},
		{"a..b", false, false},
		{"a/b", false, false},
		{`a\b`, false, false},
		{"a\x00b", false, false},
		{"a\nb", false, false},
		{"a\x1b[31mb", false, false},
		{"a\u202eb", false, false},
		{"a\u2028b", false, false},
		{"a\xffb", false, false},
		{" a", false, false},
		{"a ", false, false},
	} {
		if got := Plain(tt.name); got != tt.plain {
			t.Errorf("Plain(%q) = %v", tt.name, got)
		}
		if got := Loose(tt.name); got != tt.loose {
			t.Errorf("Loose(%q) = %v", tt.name, got)
		}
	}
}

func TestTrimMarkdown(t *testing.T) {
	for _, tt := range []struct {
		name, stem string
		ok         bool
	}{
		{"a.md", "a", true},
		{"a.MD", "a", true},
		{"a.md.md", "a.md", true},
		{".md", "", true},
		{"md", "md", false},
		{"a.mdx", "a.mdx", false},
		{"a.markdown", "a.markdown", false},
	} {
		if stem, ok := TrimMarkdown(tt.name); stem != tt.stem || ok != tt.ok {
			t.Errorf("TrimMarkdown(%q) = %q, %v", tt.name, stem, ok)
		}
	}
}

func TestPlainSpelling(t *testing.T) {
	for name, want := range map[string]string{
		"my command": "my-command", "svelte:component": "svelte-component", "v1.2": "v1-2",
		"(draft)": "draft", "命令": "command", "été": "t",
	} {
		if got := PlainSpelling(name); got != want {
			t.Errorf("PlainSpelling(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range []string{"a", "a/b", "..", "\x00", "é", "a.md"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if Plain(name) && !Loose(name) {
			t.Fatalf("%q is plain and not loose", name)
		}
		if Loose(name) && (strings.ContainsAny(name, "/\\\x00\n\r") || name == "." || strings.Contains(name, "..")) {
			t.Fatalf("%q is not one safe path element", name)
		}
		if !Plain(PlainSpelling(name)) {
			t.Fatalf("PlainSpelling(%q) = %q, which is not plain", name, PlainSpelling(name))
		}
	})
}
