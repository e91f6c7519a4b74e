package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// The numbers of nine public repositories.
const (
	publicPlugins  = 500
	publicCommands = 462
	publicSkills   = 1295
	publicAgents   = 569
)

// publicMarketplace writes a marketplace with the numbers, headers and sizes of public plugins.
// Each plugin has a manifest and a README.md.
func publicMarketplace(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	writer, random := NewPublicWriter(1), rand.New(rand.NewPCG(5, 6))
	var written []string
	write := func(text string, path ...string) {
		file := filepath.Join(append([]string{root}, path...)...)
		must.Do(b, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
		written = append(written, file)
	}
	add := func(n int, classes []HeaderClass, sizes Sizes, path func(i int) []string) {
		for i, class := range ClassSequence(classes, n, random) {
			write(writer.File(class, fmt.Sprintf("name-%d", i), sizes.Draw(random)), path(i)...)
		}
	}
	plugin := func(i int) string { return fmt.Sprintf("plugin-%03d", i%publicPlugins) }
	type entry struct {
		Name        string `json:"name"`
		Source      string `json:"source"`
		Description string `json:"description"`
		Version     string `json:"version"`
	}
	var entries []entry
	for i := range publicPlugins {
		name := plugin(i)
		entries = append(entries, entry{name, "./plugins/" + name, "Tools of the area " + name + " for reviews and releases.", "1.0.0"})
		write(fmt.Sprintf("{\n  \"name\": %q,\n  \"version\": \"1.0.0\",\n  \"description\": \"Tools of one area.\",\n  \"author\": {\"name\": \"Someone\"}\n}\n", name), "plugins", name, ".claude-plugin", "plugin.json")
		write("# Plugin\n", "plugins", name, "README.md")
	}
	text := must.Get(json.MarshalIndent(map[string]any{"name": "public", "plugins": entries}, "", "  "))(b)
	write(string(text), ".claude-plugin", "marketplace.json")
	add(publicCommands, PublicCommandHeaders, PublicCommandSizes, func(i int) []string {
		return []string{"plugins", plugin(i), "commands", fmt.Sprintf("command-%d.md", i)}
	})
	add(publicSkills, PublicSkillHeaders, PublicSkillSizes, func(i int) []string {
		return []string{"plugins", plugin(i), "skills", fmt.Sprintf("name-%d", i), "SKILL.md"}
	})
	add(publicAgents, PublicCommandHeaders, PublicCommandSizes, func(i int) []string {
		return []string{"plugins", plugin(i), "agents", fmt.Sprintf("agent-%d.md", i)}
	})
	old := time.Now().Add(-time.Minute) // see shelf
	for _, file := range written {
		must.Do(b, os.Chtimes(file, old, old))
	}
	return root
}

// pluginFloor makes the necessary system calls for the files of the kinds, on all cores: the floor
// lists the directory of each plugin and of each kind, opens, stats and reads the manifest, and
// opens, stats and reads 4 KB of each file. Without read, the floor only stats the files.
func pluginFloor(b *testing.B, root string, read bool, kinds ...string) {
	must.Get(os.ReadFile(filepath.Join(root, ".claude-plugin/marketplace.json")))(b)
	top := must.Get(unix.Open(filepath.Join(root, "plugins"), unix.O_RDONLY|unix.O_DIRECTORY, 0))(b)
	defer unix.Close(top)
	names := rawNames(b, top)
	var all sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for core := range cores {
		all.Go(func() {
			buf := make([]byte, 4096)
			file := func(at int, name string) {
				var s unix.Stat_t
				if !read {
					if err := unix.Fstatat(at, name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
						b.Error(err)
					}
					return
				}
				fd, err := unix.Openat(at, name, unix.O_RDONLY, 0)
				if err != nil {
					b.Error(err)
					return
				}
				unix.Fstat(fd, &s)
				unix.Read(fd, buf)
				unix.Close(fd)
			}
			for i := core; i < len(names); i += cores {
				plugin, err := unix.Openat(top, names[i], unix.O_RDONLY|unix.O_DIRECTORY, 0)
				if err != nil {
					b.Error(err)
					return
				}
				file(plugin, ".claude-plugin/plugin.json")
				for _, found := range rawNames(b, plugin) {
					for _, kind := range kinds {
						if found != kind {
							continue
						}
						dir, err := unix.Openat(plugin, kind, unix.O_RDONLY|unix.O_DIRECTORY, 0)
						if err != nil {
							b.Error(err)
							return
						}
						for _, name := range rawNames(b, dir) {
							if kind == "skills" {
								name += "/SKILL.md"
							}
							file(dir, name)
						}
						unix.Close(dir)
					}
				}
				unix.Close(plugin)
			}
		})
	}
	all.Wait()
}

func listedSkills(b *testing.B, c *toolshelf.Catalog) {
	must.Len(b, "skills", publicSkills, must.Get(c.ListSkills(b.Context()))(b))
}

func listedAgents(b *testing.B, c *toolshelf.Catalog) {
	must.Len(b, "agents", publicAgents, must.Get(c.ListAgents(b.Context()))(b))
}

// BenchmarkPlugins lists the commands, the skills and the agents of 500 plugins. The floor
// of a warm list only stats the files and the manifests.
func BenchmarkPlugins(b *testing.B) {
	root := publicMarketplace(b)
	works := []struct {
		name  string
		list  func(*toolshelf.Catalog)
		kinds []string
	}{
		{"commands", func(c *toolshelf.Catalog) { list(b, c, publicCommands) }, []string{"commands"}},
		{"skills", func(c *toolshelf.Catalog) { listedSkills(b, c) }, []string{"skills"}},
		{"agents", func(c *toolshelf.Catalog) { listedAgents(b, c) }, []string{"agents"}},
		{"all", func(c *toolshelf.Catalog) { list(b, c, publicCommands); listedSkills(b, c); listedAgents(b, c) }, []string{"commands", "skills", "agents"}},
	}
	for _, w := range works {
		b.Run("cold/"+w.name, func(b *testing.B) {
			compare(b, []string{"ours", "floor"}, map[string]func(){
				"ours": func() {
					c := catalogtest.Open(b, toolshelf.WithRoot(root), toolshelf.WithPlugins("."))
					w.list(c)
					c.Close()
				},
				"floor": func() { pluginFloor(b, root, true, w.kinds...) },
			})
		})
	}
	for _, w := range works {
		b.Run("warm/"+w.name, func(b *testing.B) {
			c := catalogtest.Open(b, toolshelf.WithRoot(root), toolshelf.WithPlugins("."))
			w.list(c)
			compare(b, []string{"ours", "floor"}, map[string]func(){
				"ours":  func() { w.list(c) },
				"floor": func() { pluginFloor(b, root, false, w.kinds...) },
			})
		})
	}
	// A page of a watched catalog costs the same with plugins as with one directory of commands.
	// Both catalogs have a missing directory too.
	b.Run("watched", func(b *testing.B) {
		const pages = 500
		plain := catalogtest.Open(b, toolshelf.WithRoot(shelf(b, publicCommands)), toolshelf.WithCommandsDir("missing", "commands"), toolshelf.WithWatch())
		c := catalogtest.Open(b, toolshelf.WithRoot(root), toolshelf.WithPlugins("."), toolshelf.WithWatch())
		request := func(c *toolshelf.Catalog) func() {
			awaitWatched(b, c, publicCommands)
			return func() {
				for range pages {
					must.Len(b, "Commands", 50, must.Get(c.List(b.Context(), toolshelf.Page{}))(b).Commands)
				}
			}
		}
		compare(b, []string{"plugins", "plain"}, map[string]func(){"plugins": request(c), "plain": request(plain)})
	})
}
