package index

import (
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
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
	if l.ended() || at.Remote() || known == nil || known.files.plugins == nil || !x.enter() {
		return true
	}
	defer x.leave()
	s := &scan{ctx: l.ctx, index: x, config: &x.config, layer: layer, at: at, reads: x.config.MaxReads, view: view{fs: x.FS(l.ctx, layer)}}
	s.tops = x.openTop(layer)
	defer s.tops.close()
	table := known.files.plugins
	parts, large, dir := table.parts[x.config.kind.files], len(table.reads.blocks) > largeLayer, ""
	recent := large && known.recent(now)
	own := func(p *Part) bool { return l.mayName(table, p, name, e) }
	if i := slices.IndexFunc(parts, own); i >= 0 {
		dir = parts[i].PluginDir
	}
	if !at.Plugins.unchanged(table, s, func(r *pluginRead) bool {
		return !recent || r.dir == at.Dir && !r.has || r.file == dir || isBelow(dir, r.file)
	}) {
		return true
	}
	all := !recent && (large || l.bare != nil)
	if slices.ContainsFunc(parts, func(p *Part) bool { return (all || own(p)) && known.changed(p, s) }) {
		return true
	}
	if all && large {
		known.checked.Store(&now)
	}
	return false
}

// openTop returns the open directory of a layer, or nil.
func (x *Index) openTop(layer int) *openDirs {
	top := x.openLayer(layer)
	if top == nil {
		return nil
	}
	return &openDirs{dirs: []openedDir{{top, x.config.Layers[layer].Dir}}}
}

// mayName reports whether a file of a part can have a name, or the bare name of the lookout, with
// precedence over e.
func (l *lookout) mayName(table *pluginTable, p *Part, name string, e *Entry) bool {
	if l.bare != nil && p == l.bare.Part() {
		return true
	}
	return strings.HasPrefix(name, p.Prefix) && (e == nil || table.compare(p, e.Part()) <= 0)
}

// unchanged reports whether a table is the last table, and the reads for which of returns true have
// the same results now. While a scan uses the table, unchanged reports false.
func (p *Plugins) unchanged(table *pluginTable, s *scan, of func(*pluginRead) bool) bool {
	if !p.mu.TryLock() {
		return false
	}
	defer p.mu.Unlock()
	return p.last == table && table.reads.unchanged(s, of)
}

// changed reports whether a directory of a part, or a file whose header has the name, has changed
// since the scan.
func (l *listed) changed(p *Part, s *scan) bool {
	dirs, proves := l.parts[p]
	if !proves {
		return true
	}
	d := &pluginDirs{scan: s}
	defer d.close()
	for _, dir := range dirs {
		opened, err := d.open(p.PluginDir, dir.path)
		if err != nil {
			return true
		}
		if info, err := opened.Info(); err != nil || !stamp.Of(info).Same(dir.stamp) {
			return true
		}
	}
	if p.Names == client.FromPath {
		return false
	}
	first, _ := slices.BinarySearchFunc(l.files.entries, p, func(e *Entry, p *Part) int { return l.files.plugins.compare(e.Part(), p) })
	for _, e := range l.files.entries[first:] {
		if e.Part() != p {
			break
		}
		if _, err := d.open(p.PluginDir, path.Dir(e.Path)); err != nil {
			return true
		}
		if info, err := d.info(p.PluginDir, e.Path); err != nil || !stamp.Of(info).Same(e.Stamp) {
			return true
		}
	}
	return false
}
