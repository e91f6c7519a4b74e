package toolshelf_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

// A shape is everything that a catalog lists: the name and description of each
// command and skill, and the path of each skill.
type shape struct{ Commands, Skills map[string]string }

func shapeOf(t testing.TB, c *toolshelf.Catalog) shape {
	t.Helper()
	s := shape{ask(t, c), map[string]string{}}
	skills, err := c.ListSkills(t.Context())
	if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		t.Fatal(err)
	}
	for _, skill := range skills {
		s.Skills[skill.Name] = skill.Path + ": " + skill.Description
	}
	return s
}

// A mover changes nested directories at random.
type mover struct {
	t      testing.TB
	random *rand.Rand
	root   string
	step   int
	moved  string // the directory that the last change put in place; "" if none
}

// dir returns a random directory: a layer, a directory up to three levels below
// a layer, or a directory outside of all layers.
func (m *mover) dir() string {
	path := filepath.Join(m.root, []string{"commands", "commands", "skills", "skills", "elsewhere"}[m.random.IntN(5)])
	for range m.random.IntN(4) {
		path = filepath.Join(path, []string{"a", "b", "c"}[m.random.IntN(3)])
	}
	return path
}

// fill writes a command or a skill with a new text into a directory.
func (m *mover) fill(dir string) {
	name := []string{"x.md", "y.md", "SKILL.md", "SKILL.md"}[m.random.IntN(4)]
	text := fmt.Sprintf("---\nname: s\ndescription: step %d\n---\n", m.step)
	_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) // a missing directory stays missing
}

// below returns a random directory at or below a directory, or "" if the
// directory does not exist.
func (m *mover) below(dir string) string {
	found, n := "", 0
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if n++; m.random.IntN(n) == 0 {
				found = path
			}
		}
		return nil
	})
	return found
}

// move makes a random change. If the filesystem rejects the change, for example a rename of
// a directory into itself, move changes nothing.
func (m *mover) move() string {
	m.step++
	from, to := m.dir(), m.dir()
	if moved := m.moved; moved != "" && m.random.IntN(2) == 0 {
		m.moved = ""
		if dir := m.below(moved); dir != "" {
			m.fill(dir)
			return "write in moved " + dir
		}
	}
	switch kind := m.random.IntN(9); kind {
	case 0, 1:
		_ = os.MkdirAll(from, 0o755)
		m.fill(from)
		return "make " + from
	case 2, 3:
		m.fill(from)
		return "write in " + from
	case 4:
		if err := os.RemoveAll(from); err != nil {
			m.t.Fatal(err)
		}
		return "remove " + from
	case 5:
		aside := filepath.Join(m.root, fmt.Sprint("aside", m.step))
		if os.Rename(from, aside) == nil {
			_ = os.Mkdir(from, 0o755)
			m.fill(from)
		}
		m.moved = from
		return "replace " + from
	case 6:
		if os.RemoveAll(from) == nil {
			_ = os.MkdirAll(filepath.Join(from, "a"), 0o755)
			m.fill(filepath.Join(from, "a"))
		}
		m.moved = from
		return "remove and make " + from
	default:
		if m.random.IntN(2) == 0 {
			_ = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		_ = os.Rename(from, to)
		m.moved = to
		return "rename " + from + " to " + to
	}
}

// told collects the names in changes.
type told struct {
	mu               sync.Mutex
	commands, skills map[string]bool
}

func (n *told) apply(change toolshelf.Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, part := range []struct {
		names toolshelf.Names
		known map[string]bool
	}{{change.Commands, n.commands}, {change.Skills, n.skills}} {
		for _, name := range part.names.Removed {
			delete(part.known, name)
		}
		for _, name := range part.names.Added {
			part.known[name] = true
		}
	}
}

func (n *told) compare(want shape) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	keys := func(m map[string]string) map[string]bool {
		set := map[string]bool{}
		for name := range m {
			set[name] = true
		}
		return set
	}
	return cmp.Diff(keys(want.Commands), n.commands) + cmp.Diff(keys(want.Skills), n.skills)
}

// A watched catalog returns the results of a new catalog after directories were renamed,
// replaced, removed and created again. The environment variable TOOLSHELF_WATCH_STEPS is
// the number of changes.
func TestWatchAgreesWithANewCatalog(t *testing.T) {
	const trees = 16
	steps := 1000 // in all
	if testing.Short() {
		steps = 400
	}
	if text := os.Getenv("TOOLSHELF_WATCH_STEPS"); text != "" {
		var err error
		if steps, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range trees {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := &mover{t: t, random: rand.New(rand.NewPCG(uint64(seed), 0)), root: t.TempDir()}
			options := []toolshelf.Option{toolshelf.WithRoot(m.root), toolshelf.WithNestedCommands(), toolshelf.WithSkillDepth(3)}
			watched := catalog(t, append(slices.Clip(options), toolshelf.WithWatch())...)
			news := &told{commands: map[string]bool{}, skills: map[string]bool{}}
			watched.OnChange(news.apply)
			var want shape
			for range steps / trees {
				change := m.move()
				fresh, err := toolshelf.New(options...)
				if err != nil {
					t.Fatal(err)
				}
				want = shapeOf(t, fresh)
				fresh.Close()
				eventually(t, func() string {
					if diff := cmp.Diff(want, shapeOf(t, watched)); diff != "" {
						return fmt.Sprintf("step %d, %s (-new +watched):\n%s", m.step, change, diff)
					}
					return ""
				})
			}
			eventually(t, func() string {
				if diff := news.compare(want); diff != "" {
					return "OnChange told of another set of names (-listed +told):\n" + diff
				}
				return ""
			})
		})
	}
}
