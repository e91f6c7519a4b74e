package servers

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/paths"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// A place is a directory below which files of clients are.
type place struct {
	fs      *confine.FS
	name    string // of the directory on fs
	shown   string // for a reader, such as "..", "~" and "/"
	path    string // full path
	foreign func(file string) bool
}

// A Source is a file with servers, or a value of a plugin.
type Source struct {
	Row    *Rules            // of a plugin too
	Of     string            // the name of the client, or in a plugin the manifest of the format
	File   client.ServerFile // for a list of servers too
	FS     *confine.FS
	On     string // the path of the file on FS
	Layer  string // the directory of the file for a reader
	At     string // the full path of the directory
	Below  string // the path of the file below At
	Place  string // the path of the file for problems
	Plugin string
	Gated  bool
	Base   place                       // of the plugin or of the project
	Known  map[client.ServerDir]string // without PluginDir, which is Base

	raw     json.RawMessage // if not nil, the value in the file
	keys    []string        // of the table
	store   bool            // FS is no filesystem of the system
	outer   *confine.FS     // above a plugin on the filesystem; nil for other files
	foreign func(file string) bool
}

func (s *Source) problem(code problem.Code, severity problem.Severity,
	message, suggestion string) problem.Problem {
	return problem.New(code, severity, s.Place, message, suggestion)
}

// A list is a list of servers in a file.
type list struct {
	client.ServerList
	*Source
}

// A Finder finds the servers of a catalog. The fields are set once.
type Finder struct {
	Dirs     []string        // the full paths of the directories of files
	Observer *watch.Observer // nil without a watch

	rows    []client.Client
	of      map[client.Base]place
	parents []place
	known   map[client.ServerDir]string
	gates   func(ofProject bool, names ...string) bool
	sources []*Source // in the order of precedence
	lists   []list
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

	Gates func(ofProject bool, names ...string) bool // reports whether the gate decides
}

// Open returns a Finder. Open reads no file.
func Open(c Config) *Finder {
	root := place{fs: c.FS, name: ".", shown: ".", path: c.Root.Dir}
	f := &Finder{rows: c.Rows, Dirs: []string{root.path}, gates: c.Gates,
		of: map[client.Base]place{client.Project: root},
		known: map[client.ServerDir]string{client.ProjectDir: root.path,
			client.ProjectName: filepath.Base(root.path), client.Separator: string(filepath.Separator)}}
	for _, p := range c.Parents {
		f.Dirs = append(f.Dirs, p.Dir)
		f.parents = append(f.parents, place{c.Confine(p.Dir), ".", p.Name, p.Dir,
			func(file string) bool { return c.Root.OfOtherUser(c.Of, p.Dir, file) }})
	}
	if c.Home != "" && HasFiles(c.Rows) {
		f.known[client.HomeDir] = c.Home
		for base, at := range map[client.Base]place{client.Home: {shown: "~", path: c.Home},
			client.Config: {shown: "~/.config", path: c.Config}, client.System: {shown: "/", path: "/"}} {
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
	ranks, root := map[*Source]int{}, f.of[client.Project]
	add := func(rank int, row *Rules, file client.ServerFile, at place, project string) {
		if at.fs != nil {
			s := f.source(row, file, at, project)
			ranks[s], f.sources = rank, append(f.sources, s)
		}
	}
	for _, c := range f.rows {
		row := newRules(c)
		for _, file := range c.Servers.Files {
			at := f.of[file.Base]
			switch {
			case file.Base == client.System:
				add(0, row, file, at, root.path)
			case file.Base == client.Project || strings.Contains(file.Table, client.ProjectKey):
				add(1, row, file, at, root.path)
			default:
				add(2+len(f.parents), row, file, at, root.path)
			}
			for i, parent := range f.parents {
				if file.Base == client.Project {
					at = parent
				}
				if file.Parents {
					add(2+i, row, file, at, parent.path)
				}
			}
		}
		syntax := client.ServerRules{Comments: true, Commas: true, Variables: c.Servers.Variables}
		lenient := newRules(client.Client{Name: c.Name, Servers: syntax})
		for _, l := range c.Servers.Lists {
			if at := f.of[l.Base]; at.fs != nil {
				file := client.ServerFile{Base: l.Base, Path: l.Path, Table: l.Table}
				f.lists = append(f.lists, list{l, f.source(lenient, file, at, root.path)})
			}
		}
	}
	slices.SortStableFunc(f.sources, func(a, b *Source) int { return ranks[a] - ranks[b] })
}

// source returns the source of a file of a client.
func (f *Finder) source(row *Rules, file client.ServerFile, at place, project string) *Source {
	name := strings.TrimPrefix(file.Path, "/")
	shown := path.Join(at.shown, name)
	s := &Source{Row: row, Of: row.Name, File: file, FS: at.fs, On: path.Join(at.name, name),
		Layer: path.Dir(shown), Below: path.Base(name), Place: shown, foreign: at.foreign,
		Base: f.of[client.Project], Known: f.known, keys: strings.Split(file.Table, ".")}
	if i := slices.Index(s.keys, client.ProjectKey); i >= 0 {
		s.keys[i] = strings.ReplaceAll(project, `\`, "/")
	}
	s.At = at.fs.Path(path.Dir(s.On))
	s.Gated = f.gates(file.Base == client.Project, s.Layer, path.Dir(name))
	return s
}

// HasFiles reports whether a client has files of servers.
func HasFiles(rows []client.Client) bool {
	return slices.ContainsFunc(rows, func(c client.Client) bool { return len(c.Servers.Files) > 0 })
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
var pluginRules = sync.OnceValue(func() map[string]*Rules {
	codex := client.Claude() // the file .mcp.json of a plugin has the fields of Claude Code
	codex.Name, codex.Servers.URL = "codex", "http"
	agents := client.Client{Name: "agentplugins", Servers: client.AgentPluginServers()}
	return map[string]*Rules{
		".codex-plugin/plugin.json":  newRules(codex),
		".claude-plugin/plugin.json": newRules(client.Claude()),
		".cursor-plugin/plugin.json": newRules(client.Cursor()),
		".github/plugin/plugin.json": newRules(client.Copilot()),
		"gemini-extension.json":      newRules(client.Gemini()),
		"qwen-extension.json":        newRules(client.Qwen()),
		"plugin.json":                newRules(agents),
	}
})

// Plugins returns the sources of the allowed plugins of a snapshot, which may be nil.
func (f *Finder) Plugins(x *index.Index, s *index.Snapshot,
	allowed func(index.Layer, *plugin.Plugin) bool) (all []*Source) {
	if s == nil {
		return nil
	}
	for i, l := range x.Layers() {
		for _, p := range x.PluginTable(s, i) {
			if p.Dir == "" || len(p.MCPServerFiles)+len(p.MCPServers) == 0 || !allowed(l, p) {
				continue
			}
			shown := func(file string) string { return x.PlaceIn(i, file) }
			all = append(all, f.ofPlugin(l, p, shown)...)
		}
	}
	return all
}

// ofPlugin returns the sources of a plugin of a layer. The function shown returns the path of a
// file for problems.
func (f *Finder) ofPlugin(l index.Layer, p *plugin.Plugin,
	shown func(file string) string) (all []*Source) {
	base := place{fs: l.FS.Within(p.Dir), name: p.Dir, path: l.FS.Path(p.Dir)}
	one := Source{Row: pluginRules()[p.Format], Of: p.Format, FS: base.fs, Layer: l.Name, At: l.Name,
		Plugin: p.Name, Gated: l.Sealed, store: l.Store != nil, Base: base, Known: f.known}
	if l.Store == nil {
		one.At, one.outer = l.FS.Path(l.Dir), l.FS
	}
	add := func(name string, raw []byte, keys ...string) {
		s := one
		s.On, s.Place, s.raw, s.keys = name, shown(name), raw, keys
		s.Below = strings.TrimPrefix(name, l.Dir+"/")
		all = append(all, &s)
	}
	for _, name := range p.MCPServerFiles {
		add(name, nil, "mcpServers")
	}
	for _, raw := range p.MCPServers {
		add(cmp.Or(p.Manifest, p.Dir), raw)
	}
	return all
}

// Asked are the servers that the calls of a catalog or of a view have listed, with their states by
// their names.
type Asked struct {
	first changes.Asked[struct{}, map[string]string]
	last  atomic.Pointer[map[string]string]
}

// Set sets the last servers, and reports whether the servers differ from the servers before.
func (a *Asked) Set(now map[string]string) (changed bool) {
	last := a.last.Swap(&now) // before Add, which lets a subscription ask again
	a.first.Add(struct{}{}, now)
	return last != nil && !maps.Equal(*last, now)
}

// Follow returns the changes.List.More of a subscription. The function list calls Set. The changes
// begin with the servers of the last list, so Follow reads no file. Before a call has listed servers,
// nothing changes.
func (a *Asked) Follow(list func()) (since func(*changes.Names)) {
	refresh := func() {}
	again := func(struct{}) (map[string]string, error) {
		refresh() // after an error, the last servers count
		return *a.last.Load(), nil
	}
	since = a.first.Follow(again, func(servers map[string]string) map[string]string { return servers })
	refresh = list
	return since
}

// A List is the servers of a catalog or of a view.
type List struct {
	*Finder // nil without rows with files and without plugins
	Asked   *Asked
}

// Close ends the watch.
func (l List) Close() {
	if l.Finder != nil {
		l.Observer.Close()
	}
}
