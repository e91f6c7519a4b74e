package index

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
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
			must.Equal(t, kind, want, len(found) == 1)
			for _, name := range found {
				if !strings.HasPrefix(name, prefix) || p.Name != client.FromPath && name != prefix+"declared" {
					t.Errorf("kind %d: pattern %q, file %q: name %q", kind, pattern, file, name)
				}
			}
		}
	})
}

// ruleDirs returns an index of the directory rules, its snapshot, and the layers of further
// directories.
func ruleDirs(t *testing.T, fsys *confine.FS, dirs ...string) (*Index, *Snapshot, []Layer) {
	t.Helper()
	x := must.Get(New(client.Instructions, Config{Layers: []Layer{{Name: "rules", FS: fsys, Dir: "rules", MayBeMissing: true}}, MaxFileSize: 1 << 20, Lifetime: t.Context(), Broken: true}))(t)
	t.Cleanup(x.Close)
	s := must.Get(x.Validate(t.Context()))(t)
	layers := make([]Layer, len(dirs))
	for i, dir := range dirs {
		layers[i] = Layer{Name: dir, FS: fsys, Dir: dir, Optional: true, Nested: true}
	}
	return x, s, layers
}

// placesOf returns the places of the files of a snapshot, with their problems.
func placesOf(x *Index, s *Snapshot) (all []string) {
	for e := range s.Files() {
		all = append(all, x.Place(e))
	}
	for _, p := range s.Problems() {
		all = append(all, string(p.Code)+" "+p.Path)
	}
	return all
}

func TestExtendAddsDirectories(t *testing.T) {
	tr := tree{"rules/a.md": "a", "x/rules/b.md": "b", "x/rules/sub/c.md": "c", "x/rules/d..e.md": "d", "y/rules": "a file"}
	onEveryFilesystem(t, tr, nil, func(t *testing.T, fsys *confine.FS) {
		x, s, layers := ruleDirs(t, fsys, "x/rules", "missing/rules", "none", "y/rules")
		layers[2] = Layer{}
		kept := Dirs{Cache[*layerFiles]{Max: 1 << 20}}
		for range 2 {
			extended, all, err := x.Extend(t.Context(), s, layers, &kept, nil)
			must.Do(t, err)
			want := []string{"rules/a.md", "x/rules/b.md", "x/rules/sub/c.md", "INVALID_RULE_NAME x/rules/d..e.md", "FOLDER_UNREADABLE y/rules"}
			must.Match(t, "placesOf(extended, all)", want, placesOf(extended, all))
			for i := range extended.states {
				if extended.states[i].open.Load() != nil {
					t.Errorf("layer %d stays open", i)
				}
			}
		}
		must.Match(t, "the snapshot itself", []string{"rules/a.md"}, placesOf(x, s))
		if same, all, err := x.Extend(t.Context(), s, layers[1:2], nil, nil); same != x || all != s || err != nil {
			t.Errorf("without files: %v", err)
		}
	})
}

func TestExtendReadsChangedFilesOnly(t *testing.T) {
	root := tree{"x/a.md": "a", "x/b.md": "b", "y/c.md": "c"}.onDisk(t)
	fsys := must.Get(confine.New(root))(t)
	x, s, layers := ruleDirs(t, fsys, "x", "y")
	kept := Dirs{Cache[*layerFiles]{Max: 1 << 20}}
	reads := func() int64 {
		before := x.FilesRead()
		if _, _, err := x.Extend(t.Context(), s, layers, &kept, nil); err != nil {
			t.Fatal(err)
		}
		return x.FilesRead() - before
	}
	must.Equal(t, "reads()", 3, reads())
	untilKnown(t, fsys, func() bool { return reads() == 0 })
	must.Do(t, os.WriteFile(filepath.Join(root, "x", "a.md"), []byte("changed"), 0o644))
	must.Equal(t, "reads()", 1, reads())
	kept.Max = 1
	reads()
	must.Equal(t, "reads()", 3, reads())
}

func TestExtendKeepsTheEntriesOfManyDirectoriesWithinItsMemory(t *testing.T) {
	memory := tree{}
	for i := range 10_000 {
		memory[fmt.Sprintf("d%d/r.md", i)] = "---\ndescription: " + strings.Repeat("x", 500) + "\n---\nText."
	}
	fsys := must.Get(confine.Over(memory.inMemory(t), "/"))(t)
	x, s, _ := ruleDirs(t, fsys)
	kept := Dirs{Cache[*layerFiles]{Max: 1 << 20}}
	for i := range 10_000 {
		dir := fmt.Sprintf("d%d", i)
		if _, all, err := x.Extend(t.Context(), s, []Layer{{Name: dir, FS: fsys, Dir: dir}}, &kept, nil); err != nil || len(all.Entries) != 1 {
			t.Fatal(err)
		}
	}
	if n := len(kept.files); n < 100 || n > 2000 || kept.size > kept.Max {
		t.Errorf("%d directories in %d bytes", n, kept.size)
	}
}

func TestConcurrentCallsOfExtend(t *testing.T) {
	fsys := must.Get(confine.New(tree{"x/a.md": "a", "x/b.md": "b"}.onDisk(t)))(t)
	x, s, layers := ruleDirs(t, fsys, "x")
	kept := Dirs{Cache[*layerFiles]{Max: 1 << 20}}
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for range 50 {
				extended, all, err := x.Extend(t.Context(), s, layers, &kept, nil)
				if err != nil || !slices.Equal(placesOf(extended, all), []string{"x/a.md", "x/b.md"}) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	calls.Wait()
}
