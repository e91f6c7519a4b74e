package access

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A Recorder reads files and names in directories, and records all accesses. The Sub of a Recorder
// is confined to its directory. Until Release, the Sub has open directories and records of its own,
// so goroutines may use several at the same time.
type Recorder struct {
	*Dirs
	reads *Reads
	block *[]Read
	dir   string    // the directory relative to Source.FS that confines the accesses
	outer *Recorder // nil after Release
	limit int64     // of the size of a file
}

// NewRecorder returns a Recorder that adds its accesses to reads.
func NewRecorder(s *Source, reads *Reads, limit int64) *Recorder {
	return &Recorder{Dirs: &Dirs{Source: s}, reads: reads, block: reads.newBlock(), dir: ".", limit: limit}
}

// Reads are accesses, with their results, in one block for each directory.
type Reads struct {
	mu     sync.Mutex
	blocks []*[]Read
}

// All calls yield with each access.
func (reads *Reads) All(yield func(Read) bool) {
	for _, block := range reads.blocks {
		for _, r := range *block {
			if !yield(r) {
				return
			}
		}
	}
}

// Len returns the number of the directories of the accesses.
func (reads *Reads) Len() int { return len(reads.blocks) }

// Has reports whether an access to a file has succeeded.
func (reads *Reads) Has(file string) bool {
	for r := range reads.All {
		if r.File == file && r.Err == nil && !r.missing {
			return true
		}
	}
	return false
}

// newBlock returns a block, to which one goroutine at a time adds accesses.
func (reads *Reads) newBlock() *[]Read {
	all := make([]Read, 0, 2) // usually the names and a manifest
	block := &all
	reads.mu.Lock()
	defer reads.mu.Unlock()
	reads.blocks = append(reads.blocks, block)
	return block
}

var seed = maphash.MakeSeed()

// A Read is one access.
type Read struct {
	Dir, File string // Recorder.dir, and the file relative to Source.FS
	list      bool   // the names in a directory were read
	missing   bool   // the file does not exist
	Empty     bool   // the file is a directory in which Has has found no file
	Err       error  // any other error: the next scan reads again

	hash    uint64 // of the names and types in a directory, or of the bytes of a file
	bytes   int64  // read from a file
	stamp   stamp.Stamp
	settled bool
}

// record adds an access with its error.
func (f *Recorder) record(r Read, err error) {
	r.Dir = f.dir
	r.missing = errors.Is(err, fs.ErrNotExist)
	if !r.missing {
		r.Err = err
	}
	*f.block = append(*f.block, r)
}

// Sub returns a Recorder of the files below a directory, with names relative to the directory.
func (f *Recorder) Sub(dir string) *Recorder {
	if dir == "." {
		return f
	}
	return &Recorder{Dirs: &Dirs{Source: f.Source}, reads: f.reads, block: f.reads.newBlock(),
		dir: Below(f.dir, dir), outer: f, limit: f.limit}
}

// Release closes the open directories of a Sub. The later accesses are accesses of the outer
// Recorder.
func (f *Recorder) Release() {
	if f.outer != nil {
		f.Close()
		f.Dirs, f.block, f.outer = f.outer.Dirs, f.outer.block, nil
	}
}

// Has reports whether a subdirectory has a file. Without the first directory of the path of the
// file, the record is of the subdirectory alone, one system call for each of many subdirectories.
func (f *Recorder) Has(dir, file string) bool {
	at, now := Below(f.dir, dir), time.Now()
	f.Visit(at)
	info, err := f.Info(f.dir, at)
	if err == nil {
		first, _, _ := strings.Cut(file, "/")
		if _, err = f.Info(f.dir, Below(at, first)); !errors.Is(err, fs.ErrNotExist) {
			file = Below(at, file)
			f.Visit(path.Dir(file))
			info, err = f.Info(f.dir, file)
			f.record(Read{File: file, stamp: stamp.Of(info), settled: true}, err)
			return err == nil
		}
		err = nil
	}
	f.record(Read{File: at, Empty: true,
		stamp: stamp.Of(info), settled: stamp.Settled(info, now)}, err)
	return false
}

// An Entry is a file in a directory.
type Entry struct {
	Name string
	typ  fs.FileMode // type bits, or confine.TypeUnknown
}

// ReadDir returns the files of a directory in any order.
func (f *Recorder) ReadDir(name string) ([]Entry, error) {
	file, now := Below(f.dir, name), time.Now()
	f.Visit(file)
	all := make([]Entry, 0, 8)
	info, hash, err := f.names(f.dir, file, func(name []byte, typ fs.FileMode) {
		all = append(all, Entry{string(name), typ})
	})
	f.record(Read{File: file, list: true, hash: hash,
		stamp: stamp.Of(info), settled: stamp.Settled(info, now)}, err)
	return all, err
}

// Type returns the type bits of a file in a directory, and asks for a type that the directory does
// not know.
func (f *Recorder) Type(dir string, e Entry) fs.FileMode {
	if e.typ != confine.TypeUnknown {
		return e.typ
	}
	file := Below(Below(f.dir, dir), e.Name)
	info, err := f.confined(f.dir).Lstat(file)
	if err != nil {
		f.record(Read{File: file}, err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fs.ModeDir // the open of the directory reports the failure
	}
	return info.Mode.Type()
}

// names calls add with the names and the types in a directory, and returns their hash, in any
// order, and the metadata before the read.
func (d *Dirs) names(within, dirPath string, add func([]byte, fs.FileMode)) (
	info confine.Info, hash uint64, err error,
) {
	opened, linked, err := d.Open(within, dirPath)
	if err != nil {
		return info, 0, err
	}
	// A call can be a request, and a link proves nothing. The names in the layer show a link in place
	// of the directory on the way, and no names show the link in place of a deeper directory.
	if !d.Remote && !linked && strings.Count(FromTop(d.Top.path, dirPath), "/") <= 1 {
		info, _ = opened.Info()
	}
	err = opened.EachBytes(d.Context, func(name []byte, typ fs.FileMode) error {
		hash += maphash.Bytes(seed, name) ^ uint64(typ)*0x9E3779B97F4A7C15
		if add != nil {
			add(name, typ)
		}
		return nil
	})
	return info, hash, err
}

// ReadFile returns ErrTooLarge for a file larger than the limit of the Recorder.
func (f *Recorder) ReadFile(name string) ([]byte, error) {
	file := Below(f.dir, name)
	f.Visit(path.Dir(file))
	now := time.Now()
	data, info, err := f.readFile(f.dir, file, f.limit)
	failure := err
	if err == nil || err == ErrTooLarge {
		f.Opened.Add(1)
		failure = nil
	}
	f.record(Read{File: file, hash: maphash.Bytes(seed, data), bytes: int64(len(data)),
		stamp: stamp.Of(info), settled: stamp.Settled(info, now)}, failure)
	return data, err
}

// Unchanged reports whether the accesses for which of returns true have the same results now.
func (reads *Reads) Unchanged(s *Source, of func(*Read) bool) bool {
	var changed atomic.Bool
	err := parallel.Each(s.Context, s.Reads, len(reads.blocks), func(i int) {
		d := &Dirs{Source: s}
		defer d.Close()
		for block, at := *reads.blocks[i], 0; at < len(block) && !changed.Load(); at++ {
			if of(&block[at]) && (s.Context.Err() != nil || !block[at].unchanged(d)) {
				changed.Store(true)
			}
		}
	})
	return err == nil && !changed.Load()
}

// unchanged reports whether the access has the same result now.
func (r *Read) unchanged(d *Dirs) bool {
	if r.Err != nil {
		return false
	}
	if r.list {
		d.Visit(r.File)
		return r.sameNames(d)
	}
	if d.Visit(path.Dir(r.File)); r.Empty {
		d.Visit(r.File)
	}
	if r.missing {
		_, err := d.Info(r.Dir, r.File)
		return errors.Is(err, fs.ErrNotExist)
	}
	if r.settled {
		return d.Same(r.Dir, r.File, r.stamp)
	}
	return r.sameBytes(d)
}

// sameNames is unchanged for the names in a directory.
func (r *Read) sameNames(d *Dirs) bool {
	now := time.Now()
	if r.settled && !r.missing && d.has(r.File, r.stamp) {
		return true
	}
	info, hash, err := d.names(r.Dir, r.File, nil)
	if r.missing || err != nil || hash != r.hash {
		return r.missing && errors.Is(err, fs.ErrNotExist)
	}
	r.stamp, r.settled = stamp.Of(info), stamp.Settled(info, now)
	return true
}

// sameBytes is unchanged for a file. A file that was too large has no bytes.
func (r *Read) sameBytes(d *Dirs) bool {
	now := time.Now()
	data, info, err := d.readFile(r.Dir, r.File, r.bytes)
	if err != nil && err != ErrTooLarge || int64(len(data)) != r.bytes ||
		maphash.Bytes(seed, data) != r.hash || info.Size != r.stamp.Size {
		return false
	}
	r.stamp, r.settled = stamp.Of(info), stamp.Settled(info, now)
	return true
}
