package index

import (
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
)

// A held is a layer's directory that stays open after a scan. With the open
// directory, Glance describes a file in few system calls. Glance checks that the
// layer's path still leads to this directory without a link below the root, and
// stats the file in the directory. A directory stays open only if none of these
// calls can hang.
type held struct {
	dir *confine.Dir
}

// hold keeps a layer's directory open, or closes a directory that must not stay
// open. In both cases hold closes the directory of the previous scan.
func (x *Index) hold(layer int, dir *confine.Dir) {
	var now *held
	// The real path differs if a link leads to the directory.
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

// Glance describes the current file of a known entry. Glance never waits. If the
// answer needs more than a look into an open directory on a local disk, ok is
// false.
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
