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
	dir *confine.Dir
}

// hold keeps a layer's folder instead of the one that was kept before, or
// closes it.
func (x *Index) hold(layer int, dir *confine.Dir) {
	var now *held
	// A directory reached by a link has another real path.
	if l := x.config.Layers[layer]; dir.RealPath() == l.FS.Path(l.Dir) && dir.Current() {
		now = &held{dir}
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
	if !h.dir.Current() {
		return info, false
	}
	info, err := h.dir.Lstat(base)
	return info, err == nil
}
