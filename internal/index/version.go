package index

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
)

// A version distinguishes the states of a file.
type version struct {
	head    uint64      // hash of the parsed bytes; 0 if the first read found a settled file
	parsed  int         // number of bytes in head
	settled atomic.Bool // a later change of the file changes its Info; see Settled
	recent  bool        // the file changed just before the read
	short   bool        // the read returned fewer bytes than Info promises
}

var seed = maphash.MakeSeed()

// sameHead reports whether the entry was parsed from these first bytes of the
// file.
func (e *Entry) sameHead(head []byte, info confine.Info) bool {
	return e.Broken == nil && e.version.parsed == len(head) && SameFile(e.Info, info) && e.version.head == maphash.Bytes(seed, head)
}

// keep returns known if the new entry e shows no change of the file. Therefore
// two entries or two snapshots are equal exactly if their pointers are equal.
func keep(known, e *Entry) *Entry {
	if known == nil || !SameFile(known.Info, e.Info) || (known.Broken == nil) != (e.Broken == nil) ||
		known.version.head != e.version.head || !known.Whole() && e.Whole() || e.Broken != nil && known.Problems[0] != e.Problems[0] {
		return e
	}
	if e.version.settled.Load() {
		known.version.settled.Store(true)
	}
	return known
}

// SameFile reports whether the metadata of a file shows no change. SameFile
// ignores Accessed, because a read changes Accessed.
func SameFile(a, b confine.Info) bool {
	return a.Size == b.Size && a.Mode == b.Mode && a.Ino == b.Ino && a.Dev == b.Dev &&
		a.Modified.Equal(b.Modified) && a.Changed.Equal(b.Changed)
}

// Settled reports whether a later change of a file changes the Info of the file.
// The file must be read no earlier than now. Only a change time proves a file
// settled: a program can replace a file with another file of the same size and
// set the modification time back. On a filesystem without change times no file
// is settled, and each validation must read and compare the contents.
func Settled(info confine.Info, now time.Time) bool {
	return !info.Changed.IsZero() && now.Sub(info.Changed) > granularity(info.Changed)
}

// Settled is the function Settled for a file of a layer. Files of an immutable
// layer are always settled.
func (x *Index) Settled(layer int, info confine.Info, now time.Time) bool {
	return x.config.Layers[layer].Immutable || Settled(info, now)
}

// recent reports whether a file changed just before now, or at an unknown time.
func recent(info confine.Info, now time.Time) bool {
	changed := info.Changed
	if changed.IsZero() {
		changed = info.Modified
	}
	return changed.IsZero() || now.Sub(changed) <= granularity(changed)
}

// granularity returns the shortest time between two changes of a file that gives
// the file different times. The result is a clock tick of the kernel or, for
// times in whole seconds, the two seconds of the coarsest filesystems.
func granularity(t time.Time) time.Duration {
	if t.Nanosecond() == 0 {
		return 2 * time.Second
	}
	return 20 * time.Millisecond
}
