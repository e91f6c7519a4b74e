package publish

import (
	"path"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"pgregory.net/rapid"
)

func TestParseURIAcceptsOneSpelling(t *testing.T) {
	for _, tt := range []struct{ uri, path string }{
		{"skill://pdf/SKILL.md", "pdf/SKILL.md"},
		{"skill://pdf", "pdf"},
		{"skill://acme/billing/refunds/examples/email.md", "acme/billing/refunds/examples/email.md"},
		{"skill://pdf/a%20b/%C3%A9.md", "pdf/a b/é.md"},
		{"skill://pdf/100%25.md", "pdf/100%.md"},
		{"skill://pdf/%252E%252E/SKILL.md", "pdf/%2E%2E/SKILL.md"}, // a directory with the name %2E%2E
		{"skill://pdf/..a", "pdf/..a"},
		{"skill://pdf/%5C..%5Cx", `pdf/\..\x`},
	} {
		if got, ok := ParseURI(tt.uri); !ok || got != tt.path {
			t.Errorf("%s: got %q, %t; want %q", tt.uri, got, ok, tt.path)
		}
		must.Equal(t, tt.path, tt.uri, URI(tt.path))
	}
	for _, uri := range attacks {
		if got, ok := ParseURI(uri); ok {
			t.Errorf("%q is accepted as %q", uri, got)
		}
	}
}

// attacks are URIs that no file and no directory has.
var attacks = []string{
	"", "skill:", "skill:/pdf/SKILL.md", "skill://", "skill:///pdf/SKILL.md", "skill:///etc/passwd", "skill://pdf/", "skill://pdf//SKILL.md",
	"SKILL://pdf/SKILL.md", "Skill://pdf/SKILL.md", " skill://pdf/SKILL.md", "skill://pdf/SKILL.md ", "file:///etc/passwd", "http://pdf/SKILL.md", "pdf/SKILL.md",
	"skill://pdf/../pdf/SKILL.md", "skill://pdf/./SKILL.md", "skill://../pdf/SKILL.md", "skill://pdf/..", "skill://..", "skill://.", "skill://pdf/../../../etc/passwd",
	"skill://pdf/%2e%2e/SKILL.md", "skill://pdf/%2E%2E/SKILL.md", "skill://pdf/.%2E/SKILL.md", "skill://%2e%2e/etc/passwd", "skill://pdf/%2E/SKILL.md",
	"skill://pdf%2FSKILL.md", "skill://pdf%2fSKILL.md", "skill://pdf/..%2F..%2Fetc%2Fpasswd", "skill://pdf/%2Fetc%2Fpasswd", "skill://pdf/..%5c..%5cx", `skill://pdf\SKILL.md`, `skill://pdf/..\..\x`,
	"skill://pdf/SKILL.md\x00", "skill://pdf/SKILL.md%00", "skill://pdf/%00/SKILL.md", "skill://pdf\x00/SKILL.md", "skill://pdf/SKILL.md%00.png",
	"skill://pdf/%53KILL.md", "skill://%70df/SKILL.md", "skill://pdf/SKILL%2Emd", "skill://pdf/%c3%a9.md",
	"skill://user@pdf/SKILL.md", "skill://pdf:80/SKILL.md", "skill://user:secret@pdf:80/SKILL.md", "skill://[::1]/SKILL.md", "skill://127.0.0.1:80/SKILL.md/..",
	"skill://pdf/SKILL.md?x=1", "skill://pdf/SKILL.md#top", "skill://pdf/SKILL.md?", "skill://pdf/SKILL.md#", "skill://pdf/a b", "skill://pdf/é.md", "skill://pdf/%", "skill://pdf/%2", "skill://pdf/%zz", "skill://pdf/%-1",
	"skill://pdf/SKILL.md\n", "skill://pdf/\xff",
}

func TestEachPathHasItsOwnURI(t *testing.T) {
	element := rapid.StringMatching(`[^/\x00]+`).Filter(func(s string) bool { return s != "." && s != ".." })
	rapid.Check(t, func(t *rapid.T) {
		want := strings.Join(rapid.SliceOfN(element, 1, 4).Draw(t, "elements"), "/")
		if got, ok := ParseURI(URI(want)); !ok || got != want {
			t.Fatalf("%q is %s, which is %q, %t", want, URI(want), got, ok)
		}
	})
}

// Each accepted URI is the URI of its path, and the path has no element that leads
// elsewhere.
func FuzzParseURI(f *testing.F) {
	for _, uri := range attacks {
		f.Add(uri)
	}
	f.Add("skill://acme/a%20b/%C3%A9%FF.md")
	f.Fuzz(func(t *testing.T, uri string) {
		got, ok := ParseURI(uri)
		if !ok {
			return
		}
		if URI(got) != uri || got == "" || path.IsAbs(got) || path.Clean(got) != got || strings.Contains(got, "\x00") || got == ".." || strings.HasPrefix(got, "../") {
			t.Errorf("%q is accepted as %q", uri, got)
		}
	})
}
