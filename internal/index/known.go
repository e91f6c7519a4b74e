package index

import (
	"path"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// Known returns the entry of last, the value of [Index.Last], that Lookup would find
// in a snapshot taken now, if the entry's own file alone decides the result. The
// caller checks the file. If a file created since the last validation can take
// precedence over the entry, Known returns nil. Known also returns nil for a broken
// entry, and if last is nil.
func (x *Index) Known(last *Snapshot, wanted ...string) *Entry {
	if last == nil || wanted[0] != wanted[len(wanted)-1] && names.Loose(wanted[0]) && x.config.Valid(wanted[0]) && last.Lookup(wanted[0]) == nil {
		return nil
	}
	e := last.Lookup(wanted...)
	if e == nil || e.Broken() != nil || e.layer > 0 || !strings.HasSuffix(e.Path, ".md") || strings.Contains(e.Path, ":") {
		return nil
	}
	return e
}

// KnownSkill returns the entry of last that Lookup would find in a snapshot taken now,
// if the entry's own file alone decides the result, or nil. The SKILL.md of a
// direct subdirectory of the first layer decides alone, because no other file
// takes precedence. KnownSkill stats the file, because a link can have replaced the
// file since. In a layer without links, the caller's read of the file decides.
func (x *Index) KnownSkill(last *Snapshot, name string) *Entry {
	e := x.Known(last, name)
	if e == nil || path.Base(e.Path) != skillFiles[0] {
		return nil
	}
	l := x.config.Layers[e.layer]
	if dirPath := path.Dir(e.Path); dirPath == l.Dir || path.Dir(dirPath) != l.Dir {
		return nil
	}
	if l.plain() {
		return e
	}
	stat := l.FS.Lstat
	if e.Linked {
		stat = l.FS.Info
	}
	if info, err := stat(e.Path); err != nil || !StampOf(info).Same(e.Stamp) {
		return nil
	}
	return e
}

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
	dir := x.open[e.layer].Load()
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
