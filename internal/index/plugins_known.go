package index

import (
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// pluginClaims is claims for a layer with plugins. A change of any manifest can give the name to
// another plugin. If all manifests are unchanged, only the parts of the plugin in the name can have
// a file of the name, and only the parts of all plugins a file of a bare name. In a layer with more
// than largeLayer plugins, a call looks at the other plugins at most once in checkInterval.
func (l *lookout) pluginClaims(layer int, name string, e *Entry) bool {
	x := l.index
	known, now := l.listed(layer), x.config.Now()
	at := &x.config.Layers[layer]
	if l.ended() || at.Remote() || known == nil || known.files.plugins == nil {
		return true
	}
	s := l.source(layer)
	table := known.files.plugins
	parts, large := table.all, table.reads.Len() > largeLayer
	recent := large && known.recent(now)
	own := func(p *Part) bool { return l.mayName(table, p, name, e) }
	var dirs []string // of the plugins of own parts
	if recent {
		dirs = dirsOf(parts, own)
	}
	if !at.Plugins.unchanged(table.pluginTable, s, func(r *access.Read) bool {
		in := func(dir string) bool { return r.File == dir || access.IsBelow(dir, r.File) }
		return !recent || r.Dir == at.Dir && !r.Empty || slices.ContainsFunc(dirs, in)
	}) {
		return true
	}
	all := !recent && (large || l.bare != nil)
	changed := func(p *Part) bool {
		same := func(file string, before stamp.Stamp) bool { return s.Same(p.PluginDir, file, before) }
		return (all || own(p)) && known.changed(p, known.named(p), same)
	}
	if slices.ContainsFunc(parts, changed) {
		return true
	}
	if all && large {
		known.checked.Store(&now)
	}
	return false
}

// dirsOf returns the directories of the plugins of some parts.
func dirsOf(parts []*Part, of func(*Part) bool) (dirs []string) {
	for _, p := range parts {
		if of(p) && !slices.Contains(dirs, p.PluginDir) {
			dirs = append(dirs, p.PluginDir)
		}
	}
	return dirs
}

// source returns the filesystem of a layer, with its open directory, if current.
func (l *lookout) source(layer int) *access.Source {
	x := l.index
	at := &x.config.Layers[layer]
	s := &access.Source{Context: l.ctx, FS: x.FS(l.ctx, layer), Remote: at.Store != nil,
		Reads: x.config.MaxReads, Opened: &x.filesRead, Look: x.config.look}
	if top := l.openDir(layer); top != nil {
		s.Top = access.NewTop(top, at.Dir)
	}
	return s
}

// mayName reports whether a file of a part can have a name, or the bare name of the lookout, with
// precedence over e.
func (l *lookout) mayName(table *pluginParts, p *Part, name string, e *Entry) bool {
	return l.bare != nil && p == l.bare.Part() ||
		strings.HasPrefix(name, p.Prefix) && (e == nil || table.compare(p, e.Part()) <= 0)
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

// changed reports whether a directory of a layer or of a part, or one of the entries, has changed
// since the scan. The part of a layer without plugins is nil. Links have no directories.
func (l *listed) changed(p *Part, entries []*Entry, same func(string, stamp.Stamp) bool) bool {
	dirs := l.dirs
	if p != nil {
		dirs = l.parts[p]
	}
	return dirs == nil || slices.ContainsFunc(dirs, func(dir access.ListedDir) bool {
		return !same(dir.Path, dir.Stamp)
	}) || slices.ContainsFunc(entries, func(e *Entry) bool { return !same(e.Path, e.Stamp) })
}

// named returns the files of a part whose headers have the names.
func (l *listed) named(p *Part) []*Entry {
	if p.Names == client.FromPath {
		return nil
	}
	all := l.files.entries
	first, _ := slices.BinarySearchFunc(all, p, func(e *Entry, p *Part) int {
		return l.files.plugins.compare(e.Part(), p)
	})
	last := first
	for last < len(all) && all[last].Part() == p {
		last++
	}
	return all[first:last]
}
