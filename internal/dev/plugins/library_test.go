package plugins

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// library returns the entries and the plugins of a catalog. The paths are relative to the
// directory, or to the filesystem if the directory is "".
func library(t *testing.T, dir string, opts ...toolshelf.Option) (got []Entry, listed map[string]bool) {
	t.Helper()
	c := must.Get(toolshelf.New(append(opts, toolshelf.WithRoot(t.TempDir()))...))(t)
	defer c.Close()
	ctx := context.Background()
	add := func(kind, plugin, name, path string, shadows []string, loadable bool) {
		must.Len(t, kind, 0, shadows)
		if !strings.HasPrefix(name, plugin+":") {
			t.Errorf("the %s %s of the plugin %q has no prefix", kind, name, plugin)
		}
		if !loadable {
			return
		}
		if dir != "" {
			below, err := filepath.Rel(dir, path)
			if err != nil {
				t.Error(err)
			}
			path = filepath.ToSlash(below)
		}
		got = append(got, Entry{kind, plugin, name, path})
	}
	for info, err := range c.All(ctx) {
		must.Do(t, err)
		add("command", info.Plugin, info.Name, info.Path, nil, true)
	}
	for _, info := range must.Get(c.ListSkills(ctx))(t) {
		add("skill", info.Plugin, info.Name, info.Path, info.Shadows, info.Loadable)
	}
	for _, info := range must.Get(c.ListAgents(ctx))(t) {
		add("agent", info.Plugin, info.Name, info.Path, info.Shadows, info.Loadable)
	}
	plugins := must.Get(c.Plugins(ctx))(t)
	for _, p := range must.Get(c.Lint(ctx))(t) {
		if p.Code == agentmd.DiagShadowed && !strings.HasSuffix(p.Path, "marketplace.json") { // a repeated entry
			t.Errorf("shadowed: %v", p)
		}
	}
	listed = map[string]bool{}
	for _, p := range plugins {
		listed[p.Name] = p.Path != ""
	}
	return got, listed
}

// lines returns the sorted lines of entries.
func lines(entries []Entry) (all []string) {
	for _, e := range entries {
		all = append(all, e.Line())
	}
	slices.Sort(all)
	return all
}

// compare reports the differences between the library and the reader.
func compare(t *testing.T, want Set, got []Entry, listed map[string]bool) {
	t.Helper()
	must.Match(t, "entries of the reader and of the library", lines(want.Entries), lines(got))
	known := map[string]bool{}
	for _, name := range want.Plugins {
		known[name] = true
	}
	for _, name := range want.Remote {
		known[name] = false
	}
	must.Match(t, "plugins of the reader and of the library", known, listed)
}

// TestLibraryReadsTheFixture compares the library with the reader, and with the list of entries,
// which does not come from a program.
func TestLibraryReadsTheFixture(t *testing.T) {
	check := func(t *testing.T, fsys fs.FS, dir string, opt toolshelf.Option) {
		got, listed := library(t, dir, opt)
		set := Read(fsys, ".")
		compare(t, set, got, listed)
		want := Want()
		slices.Sort(want)
		must.Match(t, "entries", want, lines(got))
		if len(set.Plugins) < 40 || len(set.Remote) != 6 {
			t.Errorf("%d plugins and %d remote entries, want 40 and 6", len(set.Plugins), len(set.Remote))
		}
	}
	t.Run("memory", func(t *testing.T) {
		check(t, Memory(), "", toolshelf.WithPluginsFS("fixture", Memory()))
	})
	t.Run("disk", func(t *testing.T) {
		market, err := Write(t.TempDir())
		if err != nil {
			t.Skip(err) // a system without links
		}
		check(t, os.DirFS(market), market, toolshelf.WithPlugins(market))
	})
}

// TestLibraryReadsPublicRepositories compares the library with the reader on the directories of
// TOOLSHELF_PLUGINS. Each directory is a repository with a marketplace.
func TestLibraryReadsPublicRepositories(t *testing.T) {
	top := os.Getenv("TOOLSHELF_PLUGINS")
	if top == "" {
		t.Skip("TOOLSHELF_PLUGINS names no directory of repositories with plugins")
	}
	for _, r := range must.Get(os.ReadDir(top))(t) {
		t.Run(r.Name(), func(t *testing.T) {
			dir := filepath.Join(top, r.Name())
			var fsys fs.FS = os.DirFS(dir)
			want := Read(fsys, ".")
			got, listed := library(t, dir, toolshelf.WithPlugins(dir))
			compare(t, want, got, listed)
			count := map[string]int{}
			for _, e := range got {
				count[e.Kind]++
			}
			t.Logf("%d plugins, %d commands, %d skills, %d agents, %d remote", len(want.Plugins), count["command"], count["skill"], count["agent"], len(want.Remote))
		})
	}
}

// A counted filesystem counts the opened files and directories, and the bytes that the caller
// reads.
type counted struct {
	fs.FS
	opens, bytes *atomic.Int64
}

func (c counted) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	c.opens.Add(1)
	if dir, ok := f.(fs.ReadDirFile); ok {
		return dir, err
	}
	return countedFile{f, c.bytes}, err
}

type countedFile struct {
	fs.File
	bytes *atomic.Int64
}

func (f countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.bytes.Add(int64(n))
	return n, err
}

// cost lists the commands of a new catalog, and returns the opened files, the bytes read and the
// bytes allocated.
func cost(t *testing.T, files fstest.MapFS, want int, opts func(fs.FS) []toolshelf.Option) (opens, read, allocated int64) {
	t.Helper()
	var opened, bytes atomic.Int64
	fsys := counted{files, &opened, &bytes}
	c := must.Get(toolshelf.New(append(opts(fsys), toolshelf.WithRoot(t.TempDir()))...))(t)
	defer c.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := c.List(t.Context(), toolshelf.Page{})
	runtime.ReadMemStats(&after)
	if err != nil || l.Pagination.Total != want {
		t.Fatalf("%d commands, %v; want %d", l.Pagination.Total, err, want)
	}
	return opened.Load(), bytes.Load(), int64(after.TotalAlloc - before.TotalAlloc)
}

// TestHostilePluginsCostLessThanTwiceTheFiles compares many plugins with layers of the same
// commands, and a large manifest with a small one.
func TestHostilePluginsCostLessThanTwiceTheFiles(t *testing.T) {
	const n = 2000
	text := []byte("---\ndescription: Text.\n---\n" + strings.Repeat("Text of a command.\n", 100))
	files, plain := fstest.MapFS{}, fstest.MapFS{}
	var entries []string
	for i := range n {
		name := fmt.Sprintf("p%04d", i)
		entries = append(entries, fmt.Sprintf(`{"name": %q, "source": "./%s"}`, name, name))
		files[name+"/commands/a.md"] = &fstest.MapFile{Data: text}
		files[name+"/.claude-plugin/plugin.json"] = &fstest.MapFile{Data: []byte(`{"name": "` + name + `"}`)}
		plain[name+"/commands/a-"+name+".md"] = &fstest.MapFile{Data: text}
		plain[name+"/manifest/plugin-"+name+".md"] = &fstest.MapFile{Data: []byte(`{"name": "` + name + `"}`)}
	}
	files[".claude-plugin/marketplace.json"] = &fstest.MapFile{Data: []byte(`{"plugins": [` + strings.Join(entries, ",\n") + `]}`)}
	ofPlugins := func(fsys fs.FS) []toolshelf.Option { return []toolshelf.Option{toolshelf.WithPluginsFS("x", fsys)} }
	ofLayers := func(fsys fs.FS) (all []toolshelf.Option) {
		for i := range n {
			for _, dir := range []string{"commands", "manifest"} {
				sub := must.Get(fs.Sub(fsys, fmt.Sprintf("p%04d/%s", i, dir)))(t)
				all = append(all, toolshelf.WithCommandsFS(fmt.Sprint(dir, i), sub))
			}
		}
		return all
	}
	opens, read, allocated := cost(t, files, n, ofPlugins)
	opens2, read2, allocated2 := cost(t, plain, 2*n, ofLayers)
	t.Logf("%d plugins: %d opens, %d bytes read, %d bytes allocated; as layers: %d, %d, %d", n, opens, read, allocated, opens2, read2, allocated2)
	if opens > 2*opens2 || read > 2*read2 || 4*allocated > 9*allocated2 {
		t.Error("the plugins cost more than twice the layers, or 2.25 times their bytes of memory")
	}

	files["p0000/.claude-plugin/plugin.json"] = &fstest.MapFile{Data: []byte(`{"name": "p0000", "description": "` + strings.Repeat("x", 50<<20) + `"}`)}
	opens3, read3, allocated3 := cost(t, files, n-1, ofPlugins)
	t.Logf("with a manifest of 50 MB: %d, %d, %d", opens3, read3, allocated3)
	if opens3 > opens || read3 > read || allocated3 > 2*allocated {
		t.Error("a manifest of 50 MB is read")
	}
}

//go:embed testdata/marketplace.txtar
var archive string

//go:embed testdata/entries.txt
var entries string

// Want returns the lines of testdata/entries.txt, which a person maintains: kind, name and path.
func Want() []string { return strings.Split(strings.TrimSuffix(entries, "\n"), "\n") }

// Line returns the line of an entry in the form of [Want].
func (e Entry) Line() string { return e.Kind + "\t" + e.Name + "\t" + e.Path }

// Files returns the files of the marketplace in testdata/marketplace.txtar, without the links. The
// name of a link is "name -> target".
func Files() fstest.MapFS {
	files, name := fstest.MapFS{}, ""
	for line := range strings.Lines(strings.ReplaceAll(archive, "\r\n", "\n")) {
		if n, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(n, " --\n") {
			name = strings.TrimSuffix(n, " --\n")
			files[name] = &fstest.MapFile{Mode: 0o644}
		} else if name != "" {
			files[name].Data = append(files[name].Data, line...)
		}
	}
	return files
}

// Memory returns the marketplace without the links.
func Memory() fs.FS {
	files := Files()
	for name := range files {
		if strings.Contains(name, " -> ") {
			delete(files, name)
		}
	}
	return files
}

// Write writes the marketplace below an empty directory, and returns the directory of the
// marketplace. The links that leave the marketplace lead to a directory beside the marketplace.
func Write(dir string) (string, error) {
	files := Files()
	for _, name := range []string{"../secret/skill/SKILL.md", "../secret/skills/x/SKILL.md", "../secret/command.md", "../secret/commands/x.md"} {
		files[name] = &fstest.MapFile{Data: []byte("---\nname: secret\ndescription: Secret.\n---\nSecret.\n")}
	}
	market := filepath.Join(dir, "marketplace")
	for name, f := range files {
		name, target, link := strings.Cut(name, " -> ")
		file := filepath.Join(market, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		write := func() error { return os.WriteFile(file, f.Data, 0o644) }
		if link {
			write = func() error { return os.Symlink(filepath.FromSlash(path.Clean(target)), file) }
		}
		if err := write(); err != nil {
			return "", err
		}
	}
	return market, nil
}
