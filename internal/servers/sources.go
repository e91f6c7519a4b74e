package servers

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/paths"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
)

// A place is a directory below which files of clients are.
type place struct {
	fs      *confine.FS
	name    string // of the directory on fs
	shown   string // for a reader, such as "..", "~" and "/"
	path    string // full path
	foreign func(file string) bool
}

// A Config is the directories of a catalog.
type Config struct {
	Rows         []client.Client
	Root         paths.Root
	FS           *confine.FS // of the root
	Of           afero.Fs
	Parents      []paths.Parent
	Home, Config string // without a home directory, no file of the user and of the system is read
	Confine      func(dir string) *confine.FS
	Locate       func(dir string) (fsys *confine.FS, name string)
	Gates        func(ofProject bool, names ...string) bool // reports whether the gate decides about a directory
}

// Open returns a Finder. Open reads no file.
func Open(c Config) *Finder {
	root := c.Root.Dir
	f := &Finder{rows: c.Rows, Dirs: []string{root}, gates: c.Gates, of: map[client.Base]place{client.Project: {fs: c.FS, name: ".", shown: ".", path: root}},
		known: map[client.ServerDir]string{client.ProjectDir: root, client.ProjectName: filepath.Base(root), client.Separator: string(filepath.Separator)}}
	for _, p := range c.Parents {
		f.Dirs = append(f.Dirs, p.Dir)
		f.parents = append(f.parents, place{c.Confine(p.Dir), ".", p.Name, p.Dir, func(file string) bool { return c.Root.OfOtherUser(c.Of, p.Dir, file) }})
	}
	if home, config := c.Home, c.Config; home != "" && HasFiles(c.Rows) {
		f.known[client.HomeDir] = home
		for base, at := range map[client.Base]place{client.Home: {shown: "~", path: home}, client.Config: {shown: "~/.config", path: config}, client.System: {shown: "/", path: "/"}} {
			at.fs, at.name = c.Locate(at.path)
			f.Dirs, f.of[base] = append(f.Dirs, at.path), at
		}
	}
	f.open()
	return f
}

// With returns a Finder with further rows before the rows of f.
func (f *Finder) With(further []client.Client) *Finder {
	if len(further) == 0 || f == nil {
		return f
	}
	with := *f
	with.rows, with.sources, with.lists = slices.Concat(further, f.rows), nil, nil
	with.open()
	return &with
}

// open adds the files of the clients: managed files, files of the project, of its parents and of
// the user.
func (f *Finder) open() {
	each := func(visit func(row *client.Client, file client.ServerFile, ofProject bool)) {
		for i := range f.rows {
			for _, file := range f.rows[i].Servers.Files {
				visit(&f.rows[i], file, file.Base == client.Project || slices.Contains(file.Table, client.ProjectKey))
			}
		}
	}
	of := func(system, ofProject bool) {
		each(func(row *client.Client, file client.ServerFile, project bool) {
			if (file.Base == client.System) == system && project == ofProject {
				f.add(row, file, f.of[file.Base], f.of[client.Project].path)
			}
		})
	}
	of(true, false)
	of(false, true)
	for _, parent := range f.parents {
		each(func(row *client.Client, file client.ServerFile, _ bool) {
			at := parent
			if file.Base != client.Project {
				at = f.of[file.Base]
			}
			if file.Parents {
				f.add(row, file, at, parent.path)
			}
		})
	}
	of(false, false)
	for i := range f.rows {
		for _, l := range f.rows[i].Servers.Lists {
			if at := f.of[l.Base]; at.fs != nil {
				l.Table = f.table(l.Table, f.of[client.Project].path)
				f.lists = append(f.lists, list{l, f.rows[i].Name, at.fs, path.Join(at.name, strings.TrimPrefix(l.Path, "/"))})
			}
		}
	}
}

// table returns the keys with the path of a project.
func (f *Finder) table(keys []string, project string) []string {
	keys = slices.Clone(keys)
	if i := slices.Index(keys, client.ProjectKey); i >= 0 {
		keys[i] = strings.ReplaceAll(project, `\`, "/")
	}
	return keys
}

// add adds a file of a client.
func (f *Finder) add(row *client.Client, file client.ServerFile, at place, project string) {
	if at.fs == nil {
		return
	}
	file.Table = f.table(file.Table, project)
	name, root := strings.TrimPrefix(file.Path, "/"), f.of[client.Project]
	shown := path.Join(at.shown, name)
	s := &Source{Client: row.Name, Rules: &row.Servers, Of: row.Name, File: file, FS: at.fs, On: path.Join(at.name, name),
		Layer: path.Dir(shown), Below: path.Base(name), Place: shown, Foreign: at.foreign,
		Base: root.fs, BaseName: ".", BaseDir: root.path, Known: f.known}
	s.At = at.fs.Path(path.Dir(s.On))
	s.Gated = f.gates(file.Base == client.Project, s.Layer, path.Dir(name))
	f.sources = append(f.sources, s)
}

// HasFiles reports whether a client has files of servers.
func HasFiles(rows []client.Client) bool {
	return slices.ContainsFunc(rows, func(row client.Client) bool { return len(row.Servers.Files) > 0 })
}

// HasLayer reports whether a file of a client is in a directory with the name.
func HasLayer(rows []client.Client, name string) bool {
	return slices.ContainsFunc(rows, func(row client.Client) bool {
		return slices.ContainsFunc(row.Servers.Files, func(f client.ServerFile) bool {
			return path.Dir(path.Join(cmp.Or(f.Base.String(), "."), f.Path)) == name
		})
	})
}

// pluginRules are the rules by the manifests of the formats of plugins.
var pluginRules = sync.OnceValue(func() map[string]client.Client {
	codex := client.Claude() // the file .mcp.json of a plugin has the fields of Claude Code
	codex.Servers.URL = "http"
	return map[string]client.Client{".codex-plugin/plugin.json": codex, ".claude-plugin/plugin.json": client.Claude(),
		".cursor-plugin/plugin.json": client.Cursor(), ".github/plugin/plugin.json": client.Copilot(), "gemini-extension.json": client.Gemini(),
		"qwen-extension.json": client.Qwen(), "plugin.json": {Name: "agentplugins", Servers: client.AgentPluginServers()}}
})

// Plugins returns the sources of the allowed plugins of a snapshot, which may be nil.
func (f *Finder) Plugins(x *index.Index, s *index.Snapshot, allowed func(index.Layer, *plugin.Plugin) bool) (all []*Source) {
	if s == nil {
		return nil
	}
	for i, l := range x.Layers() {
		for _, p := range x.PluginTable(s, i) {
			if p.Dir != "" && len(p.MCPServerFiles)+len(p.MCPServers) > 0 && allowed(l, p) {
				all = append(all, f.ofPlugin(l, p, func(file string) string { return x.PlaceIn(i, file) })...)
			}
		}
	}
	return all
}

// ofPlugin returns the sources of a plugin of a layer. The function place returns the path of a
// file for problems.
func (f *Finder) ofPlugin(l index.Layer, p *plugin.Plugin, place func(file string) string) (all []*Source) {
	row := pluginRules()[p.Format]
	at, base := l.Name, l.FS.Within(p.Dir)
	if l.Store == nil {
		at = l.FS.Path(l.Dir)
	}
	known := maps.Clone(f.known)
	known[client.PluginDir] = l.FS.Path(p.Dir)
	add := func(name string, raw []byte, table ...string) {
		below := name
		if l.Dir != "." {
			below = strings.TrimPrefix(name, l.Dir+"/")
		}
		all = append(all, &Source{Client: row.Name, Rules: &row.Servers, Of: p.Format, File: client.ServerFile{Table: table}, FS: base, On: name,
			Raw: raw, Layer: l.Name, At: at, Below: below, Place: place(name), Plugin: p.Name, Gated: l.Sealed, Store: l.Store != nil,
			Base: base, BaseName: p.Dir, BaseDir: known[client.PluginDir], Known: known})
	}
	for _, name := range p.MCPServerFiles {
		add(name, nil, "mcpServers")
	}
	for _, raw := range p.MCPServers {
		add(cmp.Or(p.Manifest, p.Dir), raw)
	}
	return all
}

// Asked are the servers that the calls of a catalog or of a view have listed, with their digests by
// their names.
type Asked struct {
	mu          sync.Mutex
	first, last map[string]string
}

// Set sets the last servers, and reports whether the servers differ from the servers before.
func (a *Asked) Set(now map[string]string) (changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed = a.last != nil && !maps.Equal(a.last, now)
	if a.last = now; a.first == nil {
		a.first = now
	}
	return changed
}

// Since returns the changes.List.Since of a subscription. The function list calls Set. Before a
// call has listed servers, nothing changes.
func Since[T any](a *Asked, list func() (T, error)) func(_, _ *index.Snapshot) changes.Names {
	_, known := a.get()
	return func(_, _ *index.Snapshot) (n changes.Names) {
		first, _ := a.get()
		if first == nil {
			return n
		}
		if known == nil {
			known = first
		}
		if _, err := list(); err == nil {
			_, now := a.get()
			changes.Add(&n, known, now)
			known = now
		}
		return n
	}
}

// get returns the first and the last servers, or nil before the first call.
func (a *Asked) get() (first, last map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first, a.last
}

// A List is the servers of a catalog or of a view.
type List[Info any] struct {
	*Finder // nil without rows with files and without plugins
	Keep    []func(Info) bool
	Asked   *Asked
}

// Keeps reports whether the filters show a server.
func (l List[Info]) Keeps(s Info) bool {
	return !slices.ContainsFunc(l.Keep, func(keep func(Info) bool) bool { return !keep(s) })
}

// Close ends the watch.
func (l List[Info]) Close() {
	if l.Finder != nil {
		l.Observer.Close()
	}
}
