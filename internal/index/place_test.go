package index

import (
	"path"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// FuzzPlaces compares the files that an index finds in a place with the glob of the place. A place
// that Check accepts never panics, and never finds a file outside its glob.
func FuzzPlaces(f *testing.F) {
	for _, pattern := range []string{"*.md", "**/*.md", "*.prompt.md", "**/*.toml", "*/SKILL.md", "**/SKILL.md", "*a", "**", "AGENTS.md", "*.m d", "*..md"} {
		for _, file := range []string{"a.md", "b/a.md", "a.prompt.md", "b/c/a.toml", "a/SKILL.md", "b/a/SKILL.md", "SKILL.md", "README.md", ".a.md", "b/.c/a.md", "AGENTS.md", ".md", "a.MD", "ba"} {
			f.Add(pattern, file, "", 0)
		}
	}
	f.Add("*.md", "a.md", "p:", 1)
	f.Add("**/*.md", "b/a.md", "p:", 2)
	f.Fuzz(func(t *testing.T, pattern, file, prefix string, rule int) {
		p := client.Place{Dir: "place", Pattern: pattern, Prefix: prefix, Name: client.NameRule(rule)}
		if p.Check() != nil || file == "" || len(file) > 200 || path.Clean("/"+file) != "/"+file || strings.ContainsAny(file, "\\:\x00") {
			t.Skip("the fuzz target omits this input")
		}
		// ".md" may have any letter case. Besides the glob, each directory and the stem are loose
		// names, and README.md is no entry.
		glob := pattern
		if p.Suffix() == ".md" {
			glob = strings.TrimSuffix(pattern, ".md") + ".{md,MD,Md,mD}"
		}
		matches, err := doublestar.Match(glob, file)
		if err != nil {
			t.Fatalf("%q: %v", glob, err)
		}
		base, loose := path.Base(file), !strings.HasPrefix(file, ".")
		for elem := range strings.SplitSeq(path.Dir(file), "/") {
			loose = loose && (elem == "." || names.Loose(elem) && (!skilldir.Skipped(elem) || !directoryPlace(p)))
		}
		tr := tree{"place/" + file: "---\nname: declared\n---\n"}
		for kind := range readable {
			if CheckPlace(kind, p) != nil {
				continue
			}
			layer := Layer{Name: "place", FS: confined(t)(confine.Over(tr.inMemory(t), "/")), Dir: "place"}.WithPlace(Place{Place: p})
			want := matches && loose
			x := open(t, kind, Config{Layers: []Layer{layer}, Valid: names.Loose}, nil, nil)
			stem, named := layer.Stem(base)
			switch {
			case directoryPlace(p): // the file of the layer itself is a skill too
				levels := strings.Count(file, "/")
				want = (base == skilldir.Names[0] || base == skilldir.Names[1]) && loose && (levels <= 1 || p.Nested() && levels <= maxPlaceDepth)
			default:
				want = want && named && base[0] != '.' && (kind == client.Instructions || !strings.EqualFold(base, "README.md")) && strings.Count(file, "/") <= MaxDepth && (names.Loose(stem) || p.Name == client.OnlyHeader) &&
					(kind == client.Commands || kind == client.Instructions || base != skilldir.Names[0] && base != skilldir.Names[1])
			}
			var found []string
			for e := range snapshotOf(t, x).Files() {
				if e.Broken() == nil {
					found = append(found, e.Name)
				}
			}
			if want != (len(found) == 1) {
				t.Errorf("kind %d: pattern %q, file %q: found %q, want %t", kind, pattern, file, found, want)
			}
			for _, name := range found {
				if !strings.HasPrefix(name, prefix) || p.Name != client.FromPath && name != prefix+"declared" {
					t.Errorf("kind %d: pattern %q, file %q: name %q", kind, pattern, file, name)
				}
			}
		}
	})
}
