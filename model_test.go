package toolshelf_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
)

// A model is a naive implementation for comparison with a catalog. A model reads all files
// in each call, and knows only the headers of these tests.
type model struct {
	layers []string // full paths, highest precedence first
	nested bool
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// all returns the text of each command by name. A missing layer has no commands.
func (m model) all() map[string]string {
	all := map[string]string{}
	for _, layer := range m.layers {
		filepath.WalkDir(layer, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == layer {
				return nil
			}
			stem, markdown := strings.CutSuffix(d.Name(), ".md")
			if d.IsDir() && (!m.nested || !plainName.MatchString(d.Name())) {
				return fs.SkipDir
			}
			if d.IsDir() || !markdown || !plainName.MatchString(stem) || stem == "README" {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			below, _ := filepath.Rel(layer, filepath.Dir(path))
			name := strings.TrimPrefix(strings.ReplaceAll(filepath.ToSlash(below), "/", ":")+":"+stem, ".:")
			if _, taken := all[name]; !taken {
				all[name] = string(text)
			}
			return nil
		})
	}
	return all
}

// listed returns the description of each listed command.
func (m model) listed() map[string]string {
	shown := map[string]string{}
	for name, text := range m.all() {
		switch header, _, ok := strings.Cut(text, "\n---\n"); {
		case strings.Contains(text, "is_dependency: true"):
		case ok:
			shown[name] = strings.TrimPrefix(header, "---\ndescription: ")
		default:
			shown[name] = text
		}
	}
	return shown
}

// ask returns the results of a catalog in the form of the model.
func ask(t testing.TB, c *toolshelf.Catalog) map[string]string {
	shown := map[string]string{}
	for info, err := range c.All(t.Context()) {
		if errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			return shown
		}
		if err != nil {
			t.Fatal(err)
		}
		shown[info.Name] = info.Description
	}
	return shown
}

// compare reports the differences between the results of a catalog and of the model.
func (m model) compare(t testing.TB, c *toolshelf.Catalog) string {
	if diff := cmp.Diff(m.listed(), ask(t, c)); diff != "" {
		return "List (-model +catalog):\n" + diff
	}
	all := m.all()
	for _, name := range append(slices.Collect(maps.Keys(all)), "a", "b", "sub:a") {
		want, there := all[name]
		got, err := c.Get(t.Context(), name)
		if there != (err == nil) || string(got.Raw) != want {
			return fmt.Sprintf("Get(%q) = %q, %v; want %q", name, got.Raw, err, want)
		}
	}
	return ""
}

func TestCatalogAgreesWithTheModel(t *testing.T) {
	for _, mode := range []string{"validated", "with a TTL", "watched"} {
		t.Run(mode, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				root, err := os.MkdirTemp(t.TempDir(), "")
				if err != nil {
					rt.Fatal(err)
				}
				m := model{layers: []string{filepath.Join(root, "high"), filepath.Join(root, "low")}, nested: rapid.Bool().Draw(rt, "nested")}
				now := time.Unix(1_000_000, 0)
				options := []toolshelf.Option{toolshelf.WithRoot(root), toolshelf.WithCommandsDir("high", "low")}
				if m.nested {
					options = append(options, toolshelf.WithNestedCommands())
				}
				switch mode {
				case "with a TTL":
					options = append(options, toolshelf.WithCacheTTL(time.Minute), toolshelf.WithClock(func() time.Time { return now }))
				case "watched":
					options = append(options, toolshelf.WithWatch())
				}
				c, err := toolshelf.New(options...)
				if err != nil {
					rt.Fatal(err)
				}
				defer c.Close()

				layer := rapid.SampledFrom([]string{"high", "low"})
				element := rapid.SampledFrom([]string{"a", "b", "A", "c d", "README", "sub"})
				content := rapid.SampledFrom([]string{"one", "two", "", "---\ndescription: three\n---\nx", "---\ndescription: seven\n---\nx", "---\nis_dependency: true\n---\nx"})
				file := func() string {
					path := filepath.Join(root, layer.Draw(rt, "layer"))
					if rapid.Bool().Draw(rt, "in a directory") {
						path = filepath.Join(path, element.Draw(rt, "directory"))
					}
					return filepath.Join(path, element.Draw(rt, "name")+".md")
				}
				for range rapid.IntRange(1, 12).Draw(rt, "steps") {
					for range rapid.IntRange(1, 3).Draw(rt, "changes") {
						switch rapid.IntRange(0, 5).Draw(rt, "change") {
						case 0, 1:
							path := file()
							os.MkdirAll(filepath.Dir(path), 0o755)
							os.WriteFile(path, []byte(content.Draw(rt, "content")), 0o644)
						case 2:
							os.Remove(file())
						case 3:
							os.Rename(file(), file())
						case 4:
							os.Rename(filepath.Dir(file()), filepath.Dir(file()))
						case 5: // the same size, and the time set back
							path := file()
							if info, err := os.Stat(path); err == nil && info.Size() == 3 {
								os.WriteFile(path, []byte("six"), 0o644)
								os.Chtimes(path, info.ModTime(), info.ModTime())
							}
						}
					}
					now = now.Add(time.Minute)
					check := func() string { return m.compare(t, c) }
					if mode == "watched" { // the system reports changes with a delay
						eventually(t, check)
					} else if report := check(); report != "" {
						rt.Fatal(report)
					}
				}
			})
		})
	}
}

// The keys of a page are in the specified order for all names.
func TestListIsSorted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		for _, name := range rapid.SliceOfN(rapid.StringMatching(`[a-cA-C_-]{1,3}`), 1, 20).Draw(rt, "names") {
			files["commands/"+name+".md"] = ""
		}
		c, err := toolshelf.New(toolshelf.WithFs(memoryOf(t, files)))
		if err != nil {
			rt.Fatal(err)
		}
		defer c.Close()
		got := names(t, c)
		want := slices.Clone(got)
		slices.SortFunc(want, func(a, b string) int {
			return strings.Compare(fmt.Sprint(strings.ToLower(a), "\x00", a), fmt.Sprint(strings.ToLower(b), "\x00", b))
		})
		if diff := cmp.Diff(want, got); diff != "" || len(got) != len(files) {
			rt.Fatalf("%d of %d (-want +got):\n%s", len(got), len(files), diff)
		}
	})
}
