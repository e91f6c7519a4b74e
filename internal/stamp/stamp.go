// Package stamp compares the metadata of files: whether a file has changed, and whether a later
// change of the file can go unnoticed.
package stamp

import (
	"hash/maphash"
	"io/fs"
	"math"
	"path"
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

var seed = maphash.MakeSeed()

// UTC converts the time of a file for results. JSON cannot express every time that a file can have;
// UTC returns the zero time for the others.
func UTC(t time.Time) time.Time {
	const year0, year10000 = -62_167_219_200, 253_402_300_800 // seconds since 1970; Time.Year would cost more than a row
	if s := t.Unix(); s < year0 || s >= year10000 {
		return time.Time{}
	}
	return t.UTC()
}

// Of returns the Stamp of a file.
func Of(info confine.Info) Stamp {
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
	if s.Versioned() || t.Versioned() {
		return s.dev == t.dev && s.ino == t.ino && s.mode.Type() == t.mode.Type()
	}
	return s == t
}

// Versioned reports whether the file has a version.
func (s Stamp) Versioned() bool { return s.dev == versioned }

// Modified returns the modification time in UTC.
func (s Stamp) Modified() time.Time { return time.Unix(s.seconds, int64(s.nanos)).UTC() }

// IsOf reports whether the file at a path below a directory has the stamp. Without a version,
// confine.Dir.Has compares the metadata.
func (s Stamp) IsOf(dir *confine.Dir, name string) bool {
	if !s.Versioned() {
		return dir.Has(name, confine.Info{Mode: s.mode, Size: s.Size, Modified: s.Modified(),
			Changed: s.changeTime(), Dev: s.dev, Ino: s.ino})
	}
	if at, base := path.Split(name); at != "" {
		below, err := dir.OpenBelow(path.Clean(at))
		if err != nil {
			return false
		}
		defer below.Close()
		dir, name = below, base
	}
	stat := dir.Lstat
	if name == "." {
		stat = func(string) (confine.Info, error) { return dir.Info() }
	}
	info, err := stat(name)
	return err == nil && Of(info).Same(s)
}

func (s Stamp) changeTime() time.Time {
	if s.changed == (time.Time{}).UnixNano() {
		return time.Time{} // unknown
	}
	return time.Unix(0, s.changed)
}

// SameFile reports whether the metadata of a file shows no change.
func SameFile(a, b confine.Info) bool { return Of(a).Same(Of(b)) }

// Settled reports whether a later change of a file changes the Info of the file.
// The file must be read no earlier than now. Only a version or a change time proves a
// file settled: a program can replace a file with another file of the same size and
// set the modification time back. On a filesystem without versions and change times no
// file is settled, and each validation must read and compare the contents.
func Settled(info confine.Info, now time.Time) bool {
	return info.Version != "" || !info.Changed.IsZero() && now.Sub(info.Changed) > granularity(info.Changed)
}

// Recent reports whether a file changed just before now, or at an unknown time, so that
// the file can be half written. A file with a version appears as a whole.
func Recent(info confine.Info, now time.Time) bool {
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
