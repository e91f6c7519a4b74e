package skillsclient

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestEntriesTakeMemoryInProportion decodes entries of a megabyte whose values are much larger
// after decoding.
func TestEntriesTakeMemoryInProportion(t *testing.T) {
	const size = 1 << 20
	resources := `"resources":[{"uri":"skill://a/SKILL.md","size":0,"digest":"sha256:` + strings.Repeat("0", 64) + `"}]}`
	fill := func(before, unit, after string) json.RawMessage {
		return json.RawMessage(before + strings.Repeat(unit, size/len(unit)) + after)
	}
	for name, raw := range map[string]json.RawMessage{
		"frontmatter of arrays":  fill(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"x","y":[`, `[],`, `0]},`+resources),
		"frontmatter of numbers": fill(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"x","y":[`, `0,`, `0]},`+resources),
		"files":                  fill(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"x"},"resources":[`, `{},`, `{}]}`),
		"other members":          fill(`{"uri":"skill://a/SKILL.md","y":[`, `{},`, `0]}`),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h := parseEntry("docs", raw)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 4*uint64(len(raw)) {
				t.Errorf("decoding allocates %d bytes for %d", got, len(raw))
			}
			if h.broken == nil {
				t.Error("the entry is valid")
			}
		})
	}
}

// FuzzEntry checks that no entry of a server leads to an unsafe path, and that the directory
// of a skill names the label and the URI uniquely.
func FuzzEntry(f *testing.F) {
	for _, seed := range [][2]string{
		{"skill://acme/refunds/SKILL.md", "skill://acme/refunds/a%20b/c.md"},
		{"github+x://owner:80/a.b/refunds/SKILL.md", "github+x://owner:80/a.b/refunds/%2e%2e/c"},
		{"skill://%E6%8A%80/refunds/SKILL.md", "skill://技/refunds/x"},
		{"skill://a/../refunds/SKILL.md", "skill://a/../refunds/../SKILL.md"},
		{"skill://a%252f/refunds/SKILL.md", "skill://a%252f/refunds/%252e%252e"},
		{"skill://a\x00/refunds/SKILL.md", "skill://a%00/refunds/\xff"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, skill, file string) {
		digest := "sha256:" + strings.Repeat("0", 64)
		segments := strings.Split(skill, "/")
		name, err := url.PathUnescape(segments[max(0, len(segments)-2)])
		if err != nil {
			name = "x"
		}
		raw, err := json.Marshal(map[string]any{
			"uri":         skill,
			"frontmatter": map[string]any{"name": name, "description": file + "x", file: file},
			"resources":   []map[string]any{{"uri": skill, "size": 1, "digest": digest}, {"uri": file, "size": 2, "digest": digest}},
		})
		if err != nil {
			t.Skip(err)
		}
		h := parseEntry("docs", raw)
		if h.Dir != "" {
			if !fs.ValidPath(h.Dir) || strings.Contains(h.Dir, "/") || strings.Contains(h.Dir, "..") || !strings.HasPrefix(h.Dir, "docs.") {
				t.Errorf("%q: the directory %q", skill, h.Dir)
			}
			must.Equal(t, skill, decodedURI(t, h.URI), decodeDir(t, h.Dir))
		}
		if h.broken != nil {
			return
		}
		for _, f := range h.Files {
			if !fs.ValidPath(f.Path) || strings.ContainsAny(f.Path, "\\\x00") || !strings.HasPrefix(f.URI, strings.TrimSuffix(h.URI, skillFile)) {
				t.Errorf("%q: the file %q of %q", skill, f.Path, f.URI)
			}
		}
		if len(h.Files) != 2 || !sameFrontmatter(h.head, h.Frontmatter) {
			t.Errorf("%q: got %+v", skill, h.Skill)
		}
	})
}

// decodeDir is the inverse of the directory of a skill.
func decodeDir(t *testing.T, dir string) string {
	parts := strings.Split(dir, ".")[1:]
	scheme, first, ok := strings.Cut(parts[0], "+")
	if !ok {
		scheme, first = "skill", parts[0]
	}
	parts[0] = first
	decoded := unescape(t, scheme) + "://"
	for _, part := range parts {
		decoded += unescape(t, part) + "/"
	}
	return decoded + skillFile
}

// decodedURI decodes each segment once.
func decodedURI(t *testing.T, uri string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	return scheme + "://" + unescape(t, rest)
}

func unescape(t *testing.T, s string) string {
	return must.Get(url.PathUnescape(s))(t)
}
