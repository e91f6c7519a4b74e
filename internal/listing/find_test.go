package listing

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	f := over(t, memory(t, files{
		"a/x.md": "", "a/b/x.md": "", "a/b/c/x.md": "", "a/y.go": "", "x.md": "", "Z/x.md": "", "z.md/x.md": "", ".h/x.md": "",
	}))
	everything := []string{"a/b/c/x.md", "a/b/x.md", "a/x.md", "Z/x.md", "z.md/x.md", "x.md"}
	for _, tt := range []struct {
		dir, pattern string
		o            Options
		want         []string
		total        int
	}{
		{".", "*.md", Options{}, everything, 6},
		{".", "*.md", Options{Limit: 2}, everything[:2], 6},
		{".", "*.md", Options{MaxDepth: 2}, []string{"a/x.md", "Z/x.md", "z.md/x.md", "x.md"}, 4},
		{".", "a/*/x.md", Options{}, []string{"a/b/x.md"}, 1},
		{"a", "b/**", Options{}, []string{"a/b/c/x.md", "a/b/x.md"}, 2},
		{"a/b", "*.md", Options{}, []string{"a/b/c/x.md", "a/b/x.md"}, 2},
		{".", "none", Options{}, nil, 0},
		{".", "{a/x,x}.md", Options{}, []string{"a/x.md", "x.md"}, 2},
	} {
		got, err := find(t, f, tt.dir, tt.pattern, tt.o)
		if err != nil || !slices.Equal(pathsOf(got), tt.want) || got.Total != tt.total {
			t.Errorf("%s in %s, %+v: %q of %d, %v; want %q of %d", tt.pattern, tt.dir, tt.o, pathsOf(got), got.Total, err, tt.want, tt.total)
		}
	}
	if _, err := find(t, f, "missing", "*", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func pathsOf(m Matches) (all []string) {
	for i := range m.Files {
		all = append(all, m.Files[i].Name)
	}
	return all
}
