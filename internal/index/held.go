package index

import (
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
)

// A held is a layer's folder kept open after a scan, so that one of its files
// can be described in few system calls: is the layer's path still this folder,
// without a link below the root, and what is the file in it? It is kept only
// where none of the calls can hang.
type held struct {
	dir    *confine.Dir
	paths  []string     // of the root and of each directory down to dir, in full
	folder confine.Info // of dir
}

// hold keeps a layer's folder instead of the one that was kept before, or
// closes it.
func (x *Index) hold(layer int, dir *confine.Dir) {
	var now *held
	if l := x.config.Layers[layer]; dir.Local() {
		paths := []string{l.FS.Path(".")}
		for end := range l.Dir + "/" {
			if name := l.Dir[:end]; name != "" && name != "." && (end == len(l.Dir) || l.Dir[end] == '/') {
				paths = append(paths, l.FS.Path(name))
			}
		}
		if folder, err := dir.Info(); err == nil && confine.Names(paths, folder) {
			now = &held{dir, paths, folder}
		}
	}
	if now == nil {
		dir.Close()
	}
	if before := x.held[layer].Swap(now); before != nil {
		before.dir.Close()
	}
}

// Glance describes the file of a known entry as it is now. It never waits: ok
// is false where the answer would need more than a look into a folder on a
// local disk that is open already.
func (x *Index) Glance(e *Entry) (info confine.Info, ok bool) {
	h := x.held[e.Layer].Load()
	if h == nil || e.Linked || !x.enter() {
		return info, false
	}
	defer x.leave()
	base := x.Below(e)
	if strings.Contains(base, "/") {
		return info, false
	}
	if !confine.Names(h.paths, h.folder) {
		return info, false
	}
	info, err := h.dir.Lstat(base)
	return info, err == nil
}
