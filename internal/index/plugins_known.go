package index

import (
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/access"
)

// pluginClaims is claims for a layer with plugins. A change of any manifest can give the name to
// another plugin. If all manifests are unchanged, only the parts of the plugin in the name can have
// a file of the name, and only the parts of all plugins a file of a bare name. In a layer with more
// than largeLayer plugins, a call looks at the other plugins at most once in checkInterval.
func (l *lookout) pluginClaims(layer int, name string, e *Entry) bool {
	x := l.index
	known, now := l.listed(layer), x.config.Now()
	at := &x.config.Layers[layer]
	if l.ended() || at.Remote() || known == nil || known.files.plugins == nil || !x.enter() {
		return true
	}
	defer x.leave()
	s := l.source(layer)
	defer s.Tops.Close()
	table := known.files.plugins
	parts, large := table.all, table.reads.Len() > largeLayer
	recent := large && known.recent(now)
	own := func(p *Part) bool { return l.mayName(table, p, name, e) }
	var dirs []string // of the plugins of own parts
	for _, p := range parts {
		if own(p) && !slices.Contains(dirs, p.PluginDir) {
			dirs = append(dirs, p.PluginDir)
		}
	}
	if !at.Plugins.unchanged(table.pluginTable, s, func(r *access.Read) bool {
		in := func(dir string) bool { return r.File == dir || access.IsBelow(dir, r.File) }
		return !recent || r.Dir == at.Dir && !r.Empty || slices.ContainsFunc(dirs, in)
	}) {
		return true
	}
	all := !recent && (large || l.bare != nil)
	changed := func(p *Part) bool { return (all || own(p)) && known.changed(p, s) }
	if slices.ContainsFunc(parts, changed) {
		return true
	}
	if all && large {
		known.checked.Store(&now)
	}
	return false
}

// source returns the filesystem of a layer, with its open directory, if current.
func (l *lookout) source(layer int) *access.Source {
	x := l.index
	at := &x.config.Layers[layer]
	s := &access.Source{Context: l.ctx, FS: x.FS(l.ctx, layer), Remote: at.Store != nil,
		Reads: x.config.MaxReads, Opened: &x.filesRead, Look: x.config.look}
	if top := x.openLayer(layer); top != nil {
		s.Tops = access.NewTops(top, at.Dir)
	}
	return s
}

// mayName reports whether a file of a part can have a name, or the bare name of the lookout, with
// precedence over e.
func (l *lookout) mayName(table *pluginParts, p *Part, name string, e *Entry) bool {
	if l.bare != nil && p == l.bare.Part() {
		return true
	}
	return strings.HasPrefix(name, p.Prefix) && (e == nil || table.compare(p, e.Part()) <= 0)
}

// unchanged reports whether a table is the last table, and the reads for which of returns true have
// the same results now. While a scan uses the table, unchanged reports false.
func (p *Plugins) unchanged(table *pluginTable, s *access.Source, of func(*access.Read) bool) bool {
	if !p.mu.TryLock() {
		return false
	}
	defer p.mu.Unlock()
	return p.last == table && table.reads.Unchanged(s, of)
}

// changed reports whether a directory of a part, or a file whose header has the name, has changed
// since the scan.
func (l *listed) changed(p *Part, s *access.Source) bool {
	dirs, proves := l.parts[p]
	if !proves {
		return true
	}
	d := &access.Dirs{Source: s}
	defer d.Close()
	for _, dir := range dirs {
		if !d.Same(p.PluginDir, dir.Path, dir.Stamp) {
			return true
		}
	}
	if p.Names == client.FromPath {
		return false
	}
	first, _ := slices.BinarySearchFunc(l.files.entries, p, func(e *Entry, p *Part) int {
		return l.files.plugins.compare(e.Part(), p)
	})
	for _, e := range l.files.entries[first:] {
		if e.Part() != p {
			break
		}
		if !d.Same(p.PluginDir, e.Path, e.Stamp) {
			return true
		}
	}
	return false
}
