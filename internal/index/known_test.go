package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// TestKnown asks for commands of the last snapshot, before and after a change.
func TestKnown(t *testing.T) {
	tr := tree{"one/a.md": "", "one/upper.MD": "", "one/large.md": "12345678901", "one/x.md.md": "", "two/b.md": "", "two/a.md": "", "one/dep.md": "---\nis_dependency: 1\n---\n", "one/dir.md/x": ""}
	fsys := tr.inMemory(t)
	x := commandsOf(t, Config{MaxFileSize: 32, Valid: names.Loose}, confined(t)(confine.Over(fsys, "/")), "one", "two", "missing")
	before := x.Last()
	s := snapshotOf(t, x)
	if x.Known(t.Context(), before, "a") != nil {
		t.Error("an entry of a later snapshot than the given snapshot")
	}
	for _, tt := range []struct {
		name  string
		names []string
		known bool
	}{
		{"a command of the first layer", []string{"a"}, true},
		{"a dependency", []string{"dep"}, true},
		{"a name with a suffix that no command can have instead", []string{"a/", "a"}, true},
		{"a name that another command could have", []string{"a.md", "a"}, true},
		{"both names, the first of a command", []string{"x.md", "x"}, true},
		{"a command of another layer", []string{"b"}, true},
		{"a file that ends in .MD", []string{"upper"}, true},
		{"a name without a command", []string{"none"}, false},
	} {
		if name, want := tt.names[0], s.Lookup(tt.names[0]) == nil; names.Loose(name) && x.Absent(t.Context(), s, name) != want {
			t.Errorf("%s: Absent(%q) is %t", tt.name, name, !want)
		}
		e := x.Known(t.Context(), s, tt.names...)
		if (e != nil) != tt.known || e != nil && e != s.Lookup(tt.names...) {
			t.Errorf("%s: Known(%q) = %v", tt.name, tt.names, e)
		}
	}
	for file, wanted := range map[string][]string{"one/b.md": {"b"}, "one/upper.md": {"upper"}, "two/a.md.md": {"a.md", "a"}} {
		must.Do(t, write(fsys, file, ""))
		if e := x.Known(t.Context(), s, wanted...); e != nil || x.Absent(t.Context(), s, wanted[0]) {
			t.Errorf("Known(%q) = %v, or Absent, after the creation of %s", wanted, e, file)
		}
	}
}

func TestABrokenCommandIsNotKnown(t *testing.T) {
	tr := tree{"commands/large.md": "1234"}
	x := commandsOf(t, Config{MaxFileSize: 3}, confined(t)(confine.Over(tr.inMemory(t), "/")), "commands")
	if s := snapshotOf(t, x); s.Lookup("large") == nil || x.Known(t.Context(), s, "large") != nil {
		t.Errorf("Known = %v", x.Known(t.Context(), s, "large"))
	}
}

// TestKnownSkill asks for skills after one change. The change decides whether another
// skill can have the name.
func TestKnownSkill(t *testing.T) {
	files := tree{"one/a/SKILL.md": "", "one/b/skill.md": "", "one/bare/x": "", "one/web/deep/SKILL.md": "", "two/d/SKILL.md": "", "two/web/low/SKILL.md": "", "two/bare/SKILL.md": ""}
	for _, tt := range []struct {
		name, change string // a file to write, or "" for none
		known        bool
	}{
		{"a", "", true}, {"b", "", true}, {"bare", "", true}, {"deep", "", true}, {"d", "", true}, {"low", "", true}, {"none", "", false}, {"web", "", false},
		{"a", "one/web/a/SKILL.md", true}, {"a", "two/a/SKILL.md", true}, // without precedence
		{"b", "one/b/SKILL.md", false},
		{"bare", "one/bare/skill.md", false}, {"bare", "one/web/bare/SKILL.md", false}, {"bare", "two/web/bare/SKILL.md", true},
		{"deep", "one/deep/SKILL.md", false}, {"deep", "one/a/deep/SKILL.md", false}, {"deep", "one/x/deep/SKILL.md", true},
		{"d", "one/d/x", true}, {"d", "one/d/SKILL.md", false}, {"d", "one/a/d/SKILL.md", false}, {"d", "one/d/SKILL.md/x", true},
		{"low", "one/low/SKILL.md", false}, {"low", "two/low/SKILL.md", false}, {"low", "two/d/low/SKILL.md", false}, {"low", "one/.x/low/SKILL.md", true},
	} {
		t.Run(tt.name+" "+tt.change, func(t *testing.T) {
			fsys := files.inMemory(t)
			x := skillsOf(t, Config{Depth: 2}, confined(t)(confine.Over(fsys, "/")), "one", "two", "missing")
			s := snapshotOf(t, x)
			if tt.change != "" {
				must.Do(t, write(fsys, tt.change, ""))
			}
			if e := x.Known(t.Context(), s, tt.name); (e != nil) != tt.known || e != nil && e != s.Lookup(tt.name) {
				t.Errorf("Known = %v", e)
			}
		})
	}
}

func TestALinkedSkillIsKnownUntilItsTargetChanges(t *testing.T) {
	linked := tree{"skills/a/SKILL.md": "-> ../../text.md", "text.md": "12"}.onDisk(t)
	x := skillsOf(t, Config{}, confined(t)(confine.New(linked)), "skills")
	s := snapshotOf(t, x)
	if e := x.Known(t.Context(), s, "a"); e == nil || !e.Linked {
		t.Errorf("a linked SKILL.md: %v", e)
	}
	must.Do(t, os.WriteFile(filepath.Join(linked, "text.md"), []byte("123"), 0o644))
	if e := x.Known(t.Context(), s, "a"); e != nil {
		t.Errorf("a SKILL.md whose target has changed: %v", e)
	}
}

// A layer that is a skill stays known until a subdirectory has a SKILL.md.
func TestALayerThatIsASkillIsKnown(t *testing.T) {
	root := tree{"pdf/SKILL.md": skillText("pdf"), "pdf/scripts/x.py": "", "low/pdf/SKILL.md": ""}.onDisk(t)
	x := skillsOf(t, Config{}, confined(t)(confine.New(root)), "pdf", "low")
	s := snapshotOf(t, x)
	if e := x.Known(t.Context(), s, "pdf"); e == nil || e.Path != "pdf/SKILL.md" {
		t.Errorf("%v", e)
	}
	must.Do(t, os.WriteFile(filepath.Join(root, "pdf", "scripts", "SKILL.md"), nil, 0o644))
	if e := x.Known(t.Context(), s, "pdf"); e != nil {
		t.Errorf("%v beside a skill in a subdirectory", e)
	}
}

// A snapshot is an error if a scan cannot read the directory of a layer.
func TestNothingIsKnownBelowALayerThatCannotBeRead(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"a file":                 func(dir string) error { return os.WriteFile(dir, nil, 0o644) },
		"a link out of the root": func(dir string) error { return os.Symlink(filepath.Dir(filepath.Dir(dir)), dir) },
	} {
		t.Run(name, func(t *testing.T) {
			tr := tree{"high/b.md": "", "low/a.md": "", "low/a/SKILL.md": "", "low/sub/link": "-> ."}
			root := tr.onDisk(t)
			at := confined(t)(confine.New(root))
			for _, x := range []*Index{commandsOf(t, Config{}, at, "high", "low"), skillsOf(t, Config{}, at, "high", "low")} {
				s := snapshotOf(t, x)
				if x.Known(t.Context(), s, "a") == nil {
					t.Fatal("unknown before the change")
				}
				high := filepath.Join(root, "high")
				must.Do(t, errors.Join(os.RemoveAll(high), change(high)))
				if e := x.Known(t.Context(), s, "a"); e != nil {
					t.Errorf("known: %s", e.Path)
				}
				must.Do(t, errors.Join(os.Remove(high), os.Mkdir(high, 0o755)))
			}
		})
	}
}

// TestKnownAgreesWithANewSnapshot changes random trees. If the file of a known entry exists, a
// new snapshot has the same entry.
func TestKnownAgreesWithANewSnapshot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		skills := rapid.Bool().Draw(rt, "skills")
		config := Config{Nested: rapid.Bool().Draw(rt, "nested"), Depth: rapid.IntRange(1, 4).Draw(rt, "depth"), Valid: names.Plain}
		file := rapid.StringMatching(`[xyz](/[abx]){0,3}/(SKILL\.md|skill\.md|t)|[xyz]/(SKILL\.md|skill\.md)|[xyz](/[ab]){0,2}/[ab](\.p)?\.(md|MD)`)
		name := rapid.StringMatching(`(p:)?[abxyz](:[ab])?`)
		open := skillsOf
		if !skills {
			open = commandsOf
			file = rapid.StringMatching(`[xyz](/[ab]){0,2}/[ab](\.p)?\.(md|MD|Md|md/t)`)
			name = rapid.StringMatching(`(p:)?[ab](:[ab]){0,2}`)
		}
		text := rapid.SampledFrom([]string{"", skillText("a"), skillText("b")})
		tr := tree{}
		add := func(fsys afero.Fs, label string) {
			for _, f := range rapid.SliceOfN(file, 0, 12).Draw(rt, label) {
				if fsys == nil {
					tr[f] = text.Draw(rt, "text")
				} else {
					_ = write(fsys, f, text.Draw(rt, "text")) // fails below a file
				}
			}
		}
		add(nil, "files")
		for f := range tr { // a path cannot be both a file and a directory
			for other := range tr {
				if strings.HasPrefix(other, f+"/") {
					delete(tr, f)
				}
			}
		}
		fsys := tr.inMemory(t)
		must.Do(rt, errors.Join(fsys.MkdirAll("/x", 0o755), fsys.MkdirAll("/y", 0o755), fsys.MkdirAll("/z", 0o755)))
		at := confined(t)(confine.Over(fsys, "/"))
		layers := []string{"x", "y", "z"}
		config.Layers = layersOf(at, layers...)
		for i := range config.Layers {
			l := &config.Layers[i]
			l.Suffix = rapid.SampledFrom([]string{"", "", ".p.md"}).Draw(rt, "suffix")
			l.Prefix = rapid.SampledFrom([]string{"", "", "p:"}).Draw(rt, "prefix")
			l.Names = client.NameRule(max(0, rapid.IntRange(-5, 2).Draw(rt, "names")))
			l.Files = rapid.Bool().Draw(rt, "each file")
			l.Nested = rapid.Bool().Draw(rt, "subdirectories")
		}
		x := open(t, config, at)
		last := must.Get(x.Snapshot(t.Context()))(rt)
		for _, f := range rapid.SliceOfN(file, 0, 3).Draw(rt, "removed") {
			_ = fsys.RemoveAll("/" + strings.TrimSuffix(f, "/t"))
		}
		for _, dir := range layers {
			must.Do(rt, fsys.MkdirAll("/"+dir, 0o755))
		}
		add(fsys, "added")
		now := must.Get(open(t, config, at).Snapshot(t.Context()))(rt)
		for _, n := range rapid.SliceOfN(name, 1, 6).Draw(rt, "names") {
			if got := now.Lookup(n); got != nil && !isBare(got) && x.Absent(t.Context(), last, n) {
				rt.Errorf("Absent(%q), and a new snapshot has %+v", n, got)
			}
			e := x.Known(t.Context(), last, n)
			if e == nil {
				continue
			}
			if info, err := at.Lstat(e.Path); err != nil || !info.Mode.IsRegular() {
				continue // the caller finds no file
			}
			if got := now.Lookup(n); got == nil || got.Path != e.Path || got.Layer() != e.Layer() {
				rt.Errorf("Known(%q) is %s, and a new snapshot has %+v", n, e.Path, got)
			}
		}
	})
}

// isSame reports whether the file of an entry is unchanged, without a wait.
func isSame(x *Index, e *Entry) bool {
	l := lookout{index: x, ctx: Ended}
	return l.same(e.Layer(), nil, e.Path, e.Stamp)
}

// Without a wait, a lookout needs the open directory of a layer on a local disk of Linux.
func TestAFileInAnOpenDirectoryIsCompared(t *testing.T) {
	root := tree{"real/a.md": "1", "real/link.md": "-> a.md", "real/sub/b.md": "", "linked": "-> real"}.onDisk(t)
	fsys := confined(t)(confine.New(root))
	dir := must.Get(fsys.OpenDir("real"))(t)
	defer dir.Close()
	if !dir.Current() {
		t.Skip("the temporary directory is not on a local disk of Linux")
	}
	x := commandsOf(t, Config{Nested: true}, fsys, "real")
	cached := func(name string, want bool) {
		t.Helper()
		must.Equal(t, name, want, isSame(x, x.Last().Lookup(name)))
	}
	for range 2 { // the second scan replaces the open directory
		snapshotOf(t, x)
		cached("a", true)
		cached("link", false)
		cached("sub:b", false)
	}
	file := filepath.Join(root, "real", "a.md")
	must.Do(t, os.WriteFile(file, []byte("12"), 0o644))
	cached("a", false)
	snapshotOf(t, x)
	move := func(from, to string) {
		t.Helper()
		must.Do(t, os.Rename(filepath.Join(root, from), filepath.Join(root, to)))
	}
	move("real", "moved")
	cached("a", false)
	move("moved", "real")
	cached("a", true)
	must.Do(t, os.Remove(file))
	cached("a", false)

	for name, layer := range map[string]Layer{
		"a layer behind a link":   {Name: "linked", FS: confined(t)(confine.New(tree{"linked": "-> real", "real/a.md": ""}.onDisk(t))), Dir: "linked"},
		"a layer of another kind": {Name: "memory", FS: confined(t)(confine.Over(tree{"x/a.md": ""}.inMemory(t), "/")), Dir: "x"},
	} {
		x := commandsOf(t, Config{Layers: []Layer{layer}}, nil)
		if isSame(x, snapshotOf(t, x).Lookup("a")) {
			t.Errorf("%s has an open directory", name)
		}
	}
}

// A new file of a layer with another pattern can have the name of a known command.
func TestKnownSeesNewFilesOfOtherPatterns(t *testing.T) {
	for _, tt := range []struct {
		name       string
		layer      Layer
		file, text string
		other      string // a file that cannot have the name "p:a"
	}{
		{"another suffix and a prefix", Layer{Prefix: "p:", Suffix: ".p.md"}, "high/a.p.md", "", "high/a.md"},
		{"a subdirectory", Layer{Nested: true}, "high/p/a.md", "", "high/a.md"},
		{"a name in the header", Layer{Prefix: "p:", Names: client.FromHeader}, "high/b.md", "---\nname: a\n---\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := tree{"high/": "", "low/a.md": ""}.inMemory(t)
			at := confined(t)(confine.Over(fsys, "/"))
			tt.layer.Name, tt.layer.FS, tt.layer.Dir = "high", at, "high"
			x := commandsOf(t, Config{Layers: []Layer{tt.layer, {Name: "low", FS: at, Dir: "low", Prefix: "p:"}}}, at)
			last := snapshotOf(t, x)
			if tt.other != "" {
				must.Do(t, write(fsys, tt.other, ""))
				if e := x.Known(t.Context(), last, "p:a"); e == nil || e.Path != "low/a.md" {
					t.Errorf("with %s: %v", tt.other, e)
				}
			}
			must.Do(t, write(fsys, tt.file, tt.text))
			if e := x.Known(t.Context(), last, "p:a"); e != nil {
				t.Errorf("with %s: %s", tt.file, e.Path)
			}
		})
	}
}

// TestKnownByHeader asks for files that have the name of their header, after one change. Unchanged
// directories have no new files, and the file of the entry must be unchanged.
func TestKnownByHeader(t *testing.T) {
	files := tree{"one/x.md": "---\nname: a\n---\n", "one/deep/plain.md": "Text.\n", "one/bad.md": "---\nname: [\n---\n", "two/low.md": "---\nname: low\n---\n"}
	other := "---\nname: other\n---\n"
	for _, tt := range []struct {
		name   string
		change func(root string) error
		known  bool
	}{
		{"a", func(string) error { return nil }, true}, {"plain", func(string) error { return nil }, true}, {"low", func(string) error { return nil }, true},
		{"a", func(root string) error { return os.WriteFile(filepath.Join(root, "one/x.md"), []byte(other), 0o644) }, false},
		{"a", func(root string) error { return create(filepath.Join(root, "one/new.md"), "", other) }, false},
		{"a", func(root string) error { return create(filepath.Join(root, "one/deep/new.md"), "", other) }, false},
		{"a", func(root string) error { return create(filepath.Join(root, "one/far/new.md"), "", other) }, false},
		{"a", func(root string) error {
			return os.WriteFile(filepath.Join(root, "one/bad.md"), []byte("---\nname: a\n---\n"), 0o644)
		}, false},
		{"low", func(root string) error {
			return os.WriteFile(filepath.Join(root, "one/bad.md"), []byte("---\nname: low\n---\n"), 0o644)
		}, false},
		{"a", func(root string) error { return os.Remove(filepath.Join(root, "one/deep/plain.md")) }, false},
		{"a", func(root string) error { return create(filepath.Join(root, "two/new.md"), "", other) }, true}, // without precedence
		{"low", func(root string) error { return create(filepath.Join(root, "one/new.md"), "", other) }, false},
		{"a", func(root string) error { return create(filepath.Join(root, "zero/new.md"), "", other) }, false}, // a layer that was missing
	} {
		root := files.onDisk(t)
		fsys := confined(t)(confine.New(root))
		layers := layersOf(fsys, "zero", "one", "two")
		for i, l := range layers {
			layers[i] = l.WithPlace(namedByHeader)
		}
		x := open(t, client.Agents, Config{Layers: layers, Broken: true}, nil, nil)
		known := func() *Entry {
			e := x.Known(t.Context(), x.Last(), tt.name)
			if e != nil && e != x.Last().Lookup(tt.name) {
				t.Errorf("%s: %v", tt.name, e)
			}
			return e
		}
		untilKnown(t, fsys, func() bool { return snapshotOf(t, x) != nil && known() != nil })
		must.Do(t, tt.change(root))
		must.Equal(t, fmt.Sprintf("%s: Known", tt.name), tt.known, known() != nil)
	}
}

// In a large layer, a call sees a change of the file of the entry and of the directories at once,
// and of other files after checkInterval.
func TestKnownByHeaderInALargeLayer(t *testing.T) {
	const named = "---\nname: z\n---\n"
	for _, tt := range []struct {
		name            string
		files           int
		change          func(root string) error
		now, afterwards bool // known
	}{
		{"another file", largeLayer + 1, func(root string) error { return os.WriteFile(filepath.Join(root, "one/0.md"), []byte(named), 0o644) }, true, false},
		{"another file of a smaller layer", largeLayer, func(root string) error { return os.WriteFile(filepath.Join(root, "one/0.md"), []byte(named), 0o644) }, false, false},
		{"the file", largeLayer + 1, func(root string) error {
			return os.WriteFile(filepath.Join(root, "one/z.md"), []byte(named+"Text."), 0o644)
		}, false, false},
		{"a new file", largeLayer + 1, func(root string) error { return create(filepath.Join(root, "one/far/new.md"), "", named) }, false, false},
		{"no change", largeLayer + 1, func(string) error { return nil }, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := tree{"one/z.md": named}
			for i := range tt.files - 1 {
				files[fmt.Sprintf("one/%d.md", i)] = fmt.Sprintf("---\nname: n%d\n---\n", i)
			}
			root, clock := files.onDisk(t), time.Now()
			fsys := confined(t)(confine.New(root))
			layer := layersOf(fsys, "one")[0].WithPlace(namedByHeader)
			x := open(t, client.Agents, Config{Layers: []Layer{layer}, Now: func() time.Time { return clock }}, nil, nil)
			untilKnown(t, fsys, func() bool { return x.Known(t.Context(), snapshotOf(t, x), "z") != nil })
			must.Do(t, tt.change(root))
			must.Equal(t, "result", tt.now, x.Known(t.Context(), x.Last(), "z") != nil)
			clock = clock.Add(checkInterval)
			must.Equal(t, "result", tt.afterwards, x.Known(t.Context(), x.Last(), "z") != nil)
		})
	}
}

// Through a link, and beside a file that cannot be read, an unchanged directory proves nothing.
func TestNoHeaderIsKnownWithoutProof(t *testing.T) {
	fsys := confined(t)(confine.New(tree{"link/x.md": "---\nname: a\n---\n", "link/y.md": "-> ../y.txt", "y.txt": "", "large/x.md": "---\nname: a\n---\n",
		"large/y.md": strings.Repeat("x", 101), "plain/x.md": "---\nname: a\n---\n"}.onDisk(t)))
	known := map[string]func() bool{}
	for _, l := range layersOf(fsys, "link", "large", "plain") {
		x := open(t, client.Agents, Config{Layers: []Layer{l.WithPlace(namedByHeader)}, Broken: true, MaxFileSize: 100}, nil, nil)
		known[l.Name] = func() bool { return x.Known(t.Context(), snapshotOf(t, x), "a") != nil }
	}
	untilKnown(t, fsys, known["plain"])
	if known["link"]() || known["large"]() {
		t.Error("a link, or a large file, cannot take the name")
	}
}

var namedByHeader = Place{Place: client.Place{Pattern: "**/*.md", Name: client.FromHeader}}

// untilKnown waits until the directories of a filesystem are older than a tick of its clock.
func untilKnown(t *testing.T, fsys *confine.FS, known func() bool) {
	t.Helper()
	if info, err := fsys.Info("."); err != nil || info.Changed.IsZero() {
		t.Log(err)
		t.Skip("the filesystem has no change times")
	}
	for end := time.Now().Add(20 * time.Second); !known(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("never known")
		}
	}
}

func newPlugins() *Plugins {
	return &Plugins{Options: plugin.Options{MaxSize: plugin.MaxSize}}
}

// A directory that a manifest names can appear later, and then has precedence.
func TestNothingProvesAMissingDirectoryOfAPlugin(t *testing.T) {
	root := tree{"shop/a/commands/go.md": "Go.", "shop/a/deep/notes.txt": "", "shop/a/.claude-plugin/plugin.json": `{"name": "a",
		"commands": ["./deep/more", "./commands"]}`}.onDisk(t)
	fsys := confined(t)(confine.New(root))
	layer := Layer{Name: "shop", FS: fsys, Dir: "shop", Plugins: newPlugins()}
	x := open(t, client.Commands, Config{Layers: []Layer{layer}, Broken: true, Valid: names.Plain}, nil, nil)
	untilKnown(t, fsys, func() bool { // until the other directories are settled
		snapshotOf(t, x)
		known := x.states[0].listed.Load()
		return len(known.parts) == 2
	})
	more := filepath.Join(root, "shop", "a", "deep", "more")
	must.Do(t, errors.Join(os.Mkdir(more, 0o755), os.WriteFile(filepath.Join(more, "go.md"), nil, 0o644)))
	if e := x.Known(t.Context(), x.Last(), "a:go"); e != nil {
		t.Errorf("%s is known, although another file has the name", e.Path)
	}
}

// TestKnownInPlugins asks for files of plugins after one change. Known must be nil if the change
// can give the name to another file, and must find the entry without a scan after a change
// elsewhere.
func TestKnownInPlugins(t *testing.T) {
	files := tree{
		"shop/.claude-plugin/marketplace.json": `{"name": "shop", "plugins": [{"name": "a", "source": "./a"}, {"name": "b", "source": "./b"}, {"name": "c", "source": "./c"}]}`,
		"shop/a/.claude-plugin/plugin.json":    `{"name": "a"}`,
		"shop/a/commands/go.md":                "Go.", "shop/a/commands/deep/x.md": "X.", "shop/a/skills/one/SKILL.md": "---\nname: first\n---\n", "shop/a/skills/two/SKILL.md": "Text.\n",
		"shop/a/agents/sub/guard.md": "---\nname: guard\n---\n",
		"shop/b/commands/go.md":      "Go.", "shop/b/skills/one/SKILL.md": "---\nname: first\n---\n", "shop/b/agents/guard.md": "---\nname: guard\n---\n", "shop/b/notes.md": "Notes.",
		"shop/c/commands/go.md": "Go.", "shop/c/skills/one/SKILL.md": "Text.\n", "shop/c/agents/guard.md": "Text.",
	}
	header := func(name string) string { return "---\nname: " + name + "\n---\n" }
	wanted := map[client.Files]string{client.Commands: "b:go", client.Skills: "b:first", client.Agents: "b:guard"}
	all := []client.Files{client.Commands, client.Skills, client.Agents}
	for _, tt := range []struct {
		what, file, text string // an empty text removes the file
		affects          []client.Files
	}{
		{what: "nothing"},
		{"another command of the plugin", "shop/b/commands/new.md", "New.", []client.Files{client.Commands}},
		{"a nested command of the plugin", "shop/b/commands/deep/new.md", "New.", []client.Files{client.Commands}},
		{"another skill of the plugin", "shop/b/skills/new/SKILL.md", header("first"), []client.Files{client.Skills}},
		{"the name of the skill", "shop/b/skills/one/SKILL.md", header("other"), []client.Files{client.Skills}},
		{"another agent of the plugin", "shop/b/agents/deep/new.md", header("guard"), []client.Files{client.Agents}},
		{"the name of the agent", "shop/b/agents/guard.md", header("other"), []client.Files{client.Agents}},
		{"the removed agent", "shop/b/agents/guard.md", "", []client.Files{client.Agents}},
		{"a file of an earlier plugin", "shop/a/commands/new.md", "New.", nil},
		{"a skill of an earlier plugin", "shop/a/skills/two/SKILL.md", header("first"), nil},
		{"a file of a later plugin", "shop/c/agents/guard.md", header("guard"), nil},
		{"a file beside the components", "shop/b/notes.md", "Changed.", nil},
		{"a new manifest of an earlier plugin", "shop/a/.codex-plugin/plugin.json", `{"name": "b"}`, all},
		{"the name of an earlier plugin", "shop/a/.claude-plugin/plugin.json", `{"name": "b"}`, all},
		{"a manifest of the plugin", "shop/b/.claude-plugin/plugin.json", `{"name": "other"}`, all},
		{"the marketplace", "shop/.claude-plugin/marketplace.json", `{"name": "shop", "plugins": []}`, all},
	} {
		t.Run(tt.what, func(t *testing.T) {
			root := files.onDisk(t)
			fsys := confined(t)(confine.New(root))
			shared := newPlugins()
			indexes := map[client.Files]*Index{}
			for _, kind := range all {
				indexes[kind] = open(t, kind, Config{Layers: []Layer{{Name: "shop", FS: fsys, Dir: "shop", Plugins: shared}}, Broken: true, Valid: names.Plain}, nil, nil)
			}
			known := func(kind client.Files) bool {
				x := indexes[kind]
				e := x.Known(t.Context(), x.Last(), wanted[kind])
				if e != nil && e != x.Last().Lookup(wanted[kind]) {
					t.Errorf("%s: %v", wanted[kind], e)
				}
				return e != nil
			}
			untilKnown(t, fsys, func() bool {
				found := true
				for _, kind := range all {
					snapshotOf(t, indexes[kind])
				}
				for _, kind := range all {
					found = found && known(kind)
				}
				return found
			})
			if tt.file != "" {
				full := filepath.Join(root, filepath.FromSlash(tt.file))
				var err error
				if tt.text == "" {
					err = os.Remove(full)
				} else if err = os.MkdirAll(filepath.Dir(full), 0o777); err == nil {
					err = os.WriteFile(full, []byte(tt.text), 0o666)
				}
				must.Do(t, err)
			}
			affected := map[client.Files]bool{}
			for _, kind := range tt.affects {
				affected[kind] = true
			}
			for _, kind := range all {
				if known(kind) == affected[kind] {
					t.Errorf("%s: known = %t", wanted[kind], affected[kind])
				}
			}
		})
	}
}

// TestKnownByBareName asks for a name without the name of the plugin after one change. In a layer
// with many plugins, a change of another plugin has effect after checkInterval.
func TestKnownByBareName(t *testing.T) {
	files := tree{"own/x/SKILL.md": "Text.\n", "own/y.md": "Text."}
	for i := range largeLayer {
		files[fmt.Sprintf("shop/p%d/.claude-plugin/plugin.json", i)] = fmt.Sprintf(`{"name": "p%d"}`, i)
		files[fmt.Sprintf("shop/p%d/commands/go%d.md", i, i)] = "Go."
		files[fmt.Sprintf("shop/p%d/skills/do%d/SKILL.md", i, i)] = "Do.\n"
	}
	few := tree{}
	for file, text := range files {
		if strings.HasPrefix(file, "own") || strings.HasPrefix(file, "shop/p0") || strings.HasPrefix(file, "shop/p7") {
			few[file] = text
		}
	}
	commands, skills := []client.Files{client.Commands}, []client.Files{client.Skills}
	both := slices.Concat(commands, skills)
	for _, tt := range []struct {
		what, file, text string
		now, afterwards  []client.Files // the affected kinds, at first only if the plugins are many
	}{
		{what: "nothing"},
		{"a command of another plugin", "shop/p0/commands/go7.md", "Go.", nil, commands},
		{"a skill of another plugin", "shop/p0/skills/do7/SKILL.md", "Do.\n", nil, skills},
		{"the manifest of another plugin", "shop/p0/.claude-plugin/plugin.json", `{"name": "other"}`, nil, both},
		{"a command of the plugin", "shop/p7/commands/new.md", "Go.", commands, commands},
		{"the manifest of the plugin", "shop/p7/.claude-plugin/plugin.json", `{"name": "other"}`, both, both},
		{"a new plugin", "shop/new/commands/go.md", "Go.", both, both},
		{"a command of another layer", "own/go7.md", "Go.", commands, commands},
		{"a skill of another layer", "own/do7/SKILL.md", "Do.\n", skills, skills},
		{"a directory of skills without a SKILL.md", "own/do7/notes.txt", "Do.\n", skills, skills},
	} {
		for size, tr := range map[string]tree{"few": few, "many": files} {
			if size == "many" && strings.HasPrefix(tt.file, "own") {
				continue
			}
			t.Run(tt.what+", "+size, func(t *testing.T) {
				root, clock, shared := tr.onDisk(t), time.Now(), newPlugins()
				fsys := confined(t)(confine.New(root))
				layers := append(layersOf(fsys, "own"), Layer{Name: "shop", FS: fsys, Dir: "shop", Plugins: shared})
				check := func(x *Index, name string, affected bool) {
					e := x.Known(t.Context(), x.Last(), name)
					if e != nil && e.Bare() != name || (e == nil) != affected {
						t.Errorf("%s: %v, want affected = %t", name, e, affected)
					}
				}
				indexes := map[client.Files]*Index{}
				wanted := map[client.Files]string{client.Commands: "go7", client.Skills: "do7"}
				for _, kind := range both {
					config := Config{Layers: layers, Broken: true, Valid: names.Plain, Now: func() time.Time { return clock }}
					indexes[kind] = open(t, kind, config, nil, nil)
				}
				untilKnown(t, fsys, func() bool {
					known := true
					for kind, x := range indexes {
						known = known && x.Known(t.Context(), snapshotOf(t, x), wanted[kind]) != nil
					}
					return known
				})
				if tt.file != "" {
					must.Do(t, create(filepath.Join(root, filepath.FromSlash(tt.file)), "", tt.text))
					for info, err := fsys.Info("shop"); err == nil && !stamp.Settled(info, time.Now()); runtime.Gosched() {
						// a second call must see the change too
					}
				}
				for kind, x := range indexes {
					affected := tt.afterwards
					if size == "many" {
						affected = tt.now
					}
					check(x, wanted[kind], slices.Contains(affected, kind))
				}
				clock = clock.Add(checkInterval)
				for kind, x := range indexes {
					check(x, wanted[kind], slices.Contains(tt.afterwards, kind))
				}
			})
		}
	}
}

// Parallel scans of one part would change the same entries.
func TestAPluginThatAMarketplaceRepeatsHasEachPartOnce(t *testing.T) {
	files := tree{
		"shop/.claude-plugin/marketplace.json": `{"name": "m", "plugins": [{"name": "a", "source": "./p"}, {"name": "b", "source": "./p"}]}`,
		"shop/p/.claude-plugin/plugin.json":    `{"name": "same", "skills": ["./more"]}`,
		"shop/p/skills/x/SKILL.md":             "", "shop/p/more/x/SKILL.md": ""}
	layer := Layer{Name: "shop", FS: confined(t)(confine.New(files.onDisk(t))), Dir: "shop", Plugins: newPlugins()}
	parts := snapshotOf(t, open(t, client.Skills, Config{Layers: []Layer{layer}, Broken: true, Valid: names.Plain}, nil, nil)).layers[0].plugins
	var dirs []string
	for _, part := range parts.all {
		must.Equal(t, "the order", len(dirs), parts.order[part])
		dirs = append(dirs, part.Dir)
	}
	must.Equal(t, "directories", "shop/p/skills shop/p/more", strings.Join(dirs, " "))
}
