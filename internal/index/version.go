package index

import (
	"hash/maphash"
	"io/fs"
	"math"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
)

// A Stamp is the metadata of a file that shows a change of the file; see Same. A Stamp
// does not contain the access time, because a read changes the access time.
type Stamp struct {
	Size     int64  // in bytes
	seconds  int64  // of the modification time
	changed  int64  // change time in nanoseconds
	dev, ino uint64 // of a file with a version: versioned, and the hash of the version
	nanos    uint32 // of the modification time
	mode     fs.FileMode
}

// versioned is the dev of a file with a version.
const versioned = math.MaxUint64

// StampOf returns the Stamp of a file.
func StampOf(info confine.Info) Stamp {
	if info.Version != "" {
		info.Dev, info.Ino = versioned, maphash.String(seed, info.Version)
	}
	return Stamp{
		Size:    info.Size,
		seconds: info.Modified.Unix(),
		changed: info.Changed.UnixNano(),
		dev:     info.Dev,
		ino:     info.Ino,
		nanos:   uint32(info.Modified.Nanosecond()),
		mode:    info.Mode,
	}
}

// Same reports whether two Stamps of a file show no change of the file. If a file has a
// version, only the version counts: a store may round the times of a listing and of an
// open file differently.
func (s Stamp) Same(t Stamp) bool {
	if s.dev == versioned || t.dev == versioned {
		return s.dev == t.dev && s.ino == t.ino && s.mode.Type() == t.mode.Type()
	}
	return s == t
}

// Modified returns the modification time in UTC.
func (s Stamp) Modified() time.Time { return time.Unix(s.seconds, int64(s.nanos)).UTC() }

// A version is what distinguishes the states of a file besides the Stamp. The
// version of a file that the first read finds settled is zero.
type version struct {
	head   uint64 // hash of the parsed bytes
	parsed int    // number of bytes in head
	recent bool   // the file changed just before the read
	short  bool   // the read returned fewer bytes than the metadata promises
}

var seed = maphash.MakeSeed()

// sameHead reports whether the entry was parsed from these first bytes of the
// file.
func (e *Entry) sameHead(head []byte, info confine.Info) bool {
	version := e.get().version
	return e.Broken() == nil && version.parsed == len(head) && e.Stamp.Same(StampOf(info)) && version.head == maphash.Bytes(seed, head)
}

// keep returns known if the new entry e shows no change of the file. Therefore
// two entries or two snapshots are equal exactly if their pointers are equal.
func keep(known, e *Entry) *Entry {
	if known == nil || !known.Stamp.Same(e.Stamp) || (known.Broken() == nil) != (e.Broken() == nil) ||
		known.get().version.head != e.get().version.head || !known.Whole() && e.Whole() || e.Broken() != nil && known.Problems()[0] != e.Problems()[0] {
		return e
	}
	if e.settled {
		known.settled = true
	}
	return known
}

// SameFile reports whether the metadata of a file shows no change.
func SameFile(a, b confine.Info) bool { return StampOf(a).Same(StampOf(b)) }

// Settled reports whether a later change of a file changes the Info of the file.
// The file must be read no earlier than now. Only a version or a change time proves a
// file settled: a program can replace a file with another file of the same size and
// set the modification time back. On a filesystem without versions and change times no
// file is settled, and each validation must read and compare the contents.
func Settled(info confine.Info, now time.Time) bool {
	return info.Version != "" || !info.Changed.IsZero() && now.Sub(info.Changed) > granularity(info.Changed)
}

// Settled is the function Settled for a file of a layer. Files of an immutable
// layer are always settled.
func (x *Index) Settled(layer int, info confine.Info, now time.Time) bool {
	return x.config.Layers[layer].Immutable || Settled(info, now)
}

// recent reports whether a file changed just before now, or at an unknown time, so that
// the file can be half written. A file with a version appears as a whole.
func recent(info confine.Info, now time.Time) bool {
	if info.Version != "" {
		return false
	}
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
