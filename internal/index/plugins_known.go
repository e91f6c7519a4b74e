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
	files, known, now := l.last.layers[layer], x.listed[layer].Load(), x.config.Now()
	at := &x.config.Layers[layer]
	if l.ended() || at.Remote() || known == nil || known.files != files || files.plugins == nil || !x.enter() {
		return true
	}
	defer x.leave()
	s := &scan{ctx: l.ctx, index: x, config: &x.config, layer: layer, at: at, reads: x.config.MaxReads, view: view{fs: x.FS(l.ctx, layer)}}
	if top := x.open[layer].Load(); top != nil && top.Current() {
		s.tops = &openDirs{dirs: []openedDir{{top, at.Dir}}}
		defer s.tops.close()
	}
	if !at.Plugins.mu.TryLock() {
		return true
	}
	table, large, dir := files.plugins, len(files.plugins.reads.blocks) > largeLayer, ""
	recent := large && known.recent(now)
	own := func(p *Part) bool {
		return strings.HasPrefix(name, p.Prefix) && (e == nil || table.compare(p, e.Part()) <= 0) || l.bare != nil && p == l.bare.Part()
	}
	parts := table.parts[x.config.kind.files]
	if i := slices.IndexFunc(parts, own); i >= 0 {
		dir = parts[i].PluginDir
	}
	unchanged := at.Plugins.last == table && table.reads.unchanged(s, func(r *pluginRead) bool {
		return !recent || r.dir == at.Dir && !r.has || r.file == dir || isBelow(dir, r.file)
	})
	at.Plugins.mu.Unlock()
	all := !recent && (large || l.bare != nil)
	if !unchanged || slices.ContainsFunc(parts, func(p *Part) bool { return (all || own(p)) && known.changed(p, s) }) {
		return true
	}
	if all && large {
		known.checked.Store(&now)
	}
	return false
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
