package index

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

//go:embed testdata/scans.txt
var scans string

//go:embed testdata/patterns.txt
var patterns string

// A scanned is a tree of testdata/scans.txt with its layers.
type scanned struct {
	tree   tree
	layers []Layer // without a filesystem
	asked  bool    // the next tree begins another case
}

func (s *scanned) addFiles(_ *testing.T, files ...string) string {
	if s.asked {
		*s = scanned{}
	}
	for _, file := range files {
		path, text, _ := strings.Cut(file, "=")
		if name, ok := strings.CutPrefix(text, ":"); ok {
			text = skillText(name)
		} else if target, ok := strings.CutPrefix(text, ">"); ok {
			text = "-> " + target
		}
		if s.tree == nil {
			s.tree = tree{}
		}
		s.tree[path] = text
	}
	return ""
}

func (s *scanned) addLayer(t *testing.T, options ...string) string {
	l := Layer{Name: options[0], Dir: options[0]}
	for _, option := range options[1:] {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "suffix":
			l.Suffix = value
		case "prefix":
			l.Prefix = value
		case "nested":
			l.Nested = true
		case "header":
			l.Names = client.FromHeader
		default:
			t.Fatalf("no option %q of a layer", option)
		}
	}
	s.layers = append(s.layers, l)
	return ""
}

// answer returns the answer on each kind of filesystem. The answers must be equal.
func (s *scanned) answer(
	t *testing.T, dir string, options []string,
	ask func(t *testing.T, config Config, fsys *confine.FS) string,
) (same string) {
	s.asked = true
	var config Config
	var opts []confine.Option
	layers := s.layers
	for _, option := range options {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "deny":
			opts = append(opts, confine.DenySymlinks())
		case "nested":
			config.Nested = true
		case "loose":
			config.Valid = names.Loose
		case "depth":
			config.Depth = must.Get(strconv.Atoi(value))(t)
		case "max":
			config.MaxFileSize = must.Get(strconv.ParseInt(value, 10, 64))(t)
		case "layer":
			layers = append(layers, Layer{Name: value, Dir: value})
		default:
			t.Fatalf("no option %q", option)
		}
	}
	if layers == nil {
		layers = []Layer{{Name: dir, Dir: dir}}
	}
	answered := false
	onEveryFilesystem(t, s.tree, opts, func(t *testing.T, fsys *confine.FS) {
		config.Layers = nil
		for _, l := range layers {
			l.FS = fsys
			config.Layers = append(config.Layers, l)
		}
		got := ask(t, config, fsys)
		if !answered {
			same, answered = got, true
		}
		must.Equal(t, "the answer on another filesystem", same, got)
	})
	if !answered {
		t.Skip("the system has no links, or not the names of the files")
	}
	return same
}

// snapshot returns the lines of a snapshot. A second snapshot must be the same value, because
// nothing has changed.
func snapshot(t *testing.T, x *Index) string {
	s := snapshotOf(t, x)
	must.Equal(t, "a new snapshot of the same files", s, snapshotOf(t, x))
	return strings.Join(lines(x, s), "; ")
}

func TestScans(t *testing.T) { scanAll(t, scans) }

func TestCommandsOfLayersWithPatterns(t *testing.T) { scanAll(t, patterns) }

func scanAll(t *testing.T, cases string) {
	s := new(scanned)
	must.Answer(t, cases, map[string]func(t *testing.T, options ...string) string{
		"tree":  s.addFiles,
		"layer": s.addLayer,
		"commands": func(t *testing.T, options ...string) string {
			return s.answer(t, "commands", options, func(t *testing.T, config Config, fsys *confine.FS) string {
				return snapshot(t, commandsOf(t, config, fsys))
			})
		},
		"skills": func(t *testing.T, options ...string) string {
			return s.answer(t, "skills", options, func(t *testing.T, config Config, fsys *confine.FS) string {
				return snapshot(t, skillsOf(t, config, fsys))
			})
		},
		"files": func(t *testing.T, options ...string) string {
			return s.answer(t, "skills", options, func(t *testing.T, config Config, fsys *confine.FS) string {
				return strings.Join(list(t, openSkill(t, skillsOf(t, config, fsys), "a")), "; ")
			})
		},
		"open": func(t *testing.T, a ...string) string {
			return s.answer(t, "skills", a[1:], func(t *testing.T, config Config, fsys *confine.FS) string {
				d := openSkill(t, skillsOf(t, config, fsys), "a")
				if dir, ok := strings.CutSuffix(a[0], "/"); ok {
					return base(d.OpenDir(dir))
				}
				return text(d.Open(a[0]))
			})
		},
	})
}

// A name from the header changes with the header, and the name of the file returns without a name
// in the header.
func TestTheNameInAHeaderChanges(t *testing.T) {
	fsys := tree{"commands/a.md": "---\nname: b\n---\n"}.inMemory(t)
	at := confined(t)(confine.Over(fsys, "/"))
	x := commandsOf(t, Config{Layers: []Layer{{Name: "commands", FS: at, Dir: "commands", Names: client.FromHeader}}}, at)
	for _, step := range []struct{ text, want string }{
		{"", "b commands/a.md"},
		{"---\nname: c\n---\n", "c commands/a.md"},
		{"Text.", "a commands/a.md"},
		{"---\nname: d\n---\n", "d commands/a.md"},
	} {
		if step.text != "" {
			must.Do(t, write(fsys, "commands/a.md", step.text))
		}
		expect(t, x, step.want)
	}
}

//go:embed testdata/dependencies.txt
var dependencies string

func TestIsDependency(t *testing.T) {
	must.Answer(t, dependencies, map[string]func(t *testing.T, a ...string) string{
		"dependency": func(_ *testing.T, a ...string) string {
			doc, _ := matter.Parse([]byte(a[0]), true)
			return fmt.Sprint(IsDependency(doc, []byte(a[0])))
		},
	})
}
