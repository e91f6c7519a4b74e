package index

import (
	"path"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// pluginClaims is claims for a layer with plugins. A change of any manifest can give the name to another plugin. If all
// manifests are unchanged, only the parts of the plugin in the name can have a file of the name.
func (l *lookout) pluginClaims(layer int, name string, e *Entry) bool {
	x := l.index
	files, known := l.last.layers[layer], x.listed[layer].Load()
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
	unchanged := at.Plugins.last == files.plugins && files.plugins.reads.unchanged(s)
	at.Plugins.mu.Unlock()
	if !unchanged {
		return true
	}
	for _, part := range files.plugins.parts[x.config.kind.files] {
		if strings.HasPrefix(name, part.Prefix) && known.changed(part, s) {
			return true
		}
		if e != nil && part == e.Part() {
			break // the later parts have no precedence
		}
	}
	return false
}

// changed reports whether a directory or a file of a part has changed since the scan.
func (l *listed) changed(p *Part, s *scan) bool {
	dirs, proves := l.parts[p]
	if !proves {
		return true
	}
	d := &pluginDirs{scan: s}
	defer d.close()
	changed := func(file string, known stamp.Stamp) bool {
		if _, err := d.open(p.PluginDir, path.Dir(file)); err != nil {
			return true
		}
		info, err := d.info(p.PluginDir, file)
		return err != nil || !stamp.Of(info).Same(known)
	}
	for _, dir := range dirs {
		if dir.path == p.PluginDir { // outside of the directory that confines the accesses
			opened, err := d.open(p.PluginDir, dir.path)
			if err != nil {
				return true
			}
			if info, err := opened.Info(); err != nil || !stamp.Of(info).Same(dir.stamp) {
				return true
			}
			continue
		}
		if changed(dir.path, dir.stamp) {
			return true
		}
	}
	for _, e := range l.files.entries {
		if e.Part() == p && changed(e.Path, e.Stamp) {
			return true
		}
	}
	return false
}
