package index

import (
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
)

// keepOpen keeps a layer's directory open for StatCached, or closes a directory
// that must not stay open. In both cases keepOpen closes the directory of the
// previous scan. A directory stays open only if none of the calls of StatCached
// can hang.
func (x *Index) keepOpen(layer int, dir *confine.Dir) {
	// The real path differs if a link leads to the directory.
	if l := x.config.Layers[layer]; dir.RealPath() != l.FS.Path(l.Dir) || !dir.Current() {
		dir.Close()
		dir = nil
	}
	if before := x.open[layer].Swap(dir); before != nil {
		before.Close()
	}
}

// StatCached describes the current file of a known entry in few system calls.
// StatCached checks that the layer's path still leads to the open directory
// without a link below the root, and stats the file in the directory. StatCached
// never waits. If the answer needs more than an open directory on a local disk,
// ok is false.
func (x *Index) StatCached(e *Entry) (info confine.Info, ok bool) {
	dir := x.open[e.Layer].Load()
	if dir == nil || e.Linked || !x.enter() {
		return info, false
	}
	defer x.leave()
	base := x.Below(e)
	if strings.Contains(base, "/") || !dir.Current() {
		return info, false
	}
	info, err := dir.Lstat(base)
	return info, err == nil
}
