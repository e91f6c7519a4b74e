package index

import (
	"cmp"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A pluginFS is the filesystem of a scan for plugin.Find. A pluginFS records all accesses, and an
// fs.Sub of a pluginFS is confined to its directory. Until Release, the fs.Sub has open directories
// and records of its own, so goroutines may use several at the same time.
type pluginFS struct {
	*pluginDirs
	reads *pluginReads
	block *[]pluginRead
	dir   string    // the directory relative to scan.fs that confines the accesses
	outer *pluginFS // nil after Release
}

// pluginDirs opens files near each other with few system calls.
type pluginDirs struct {
	*scan
	last *confine.Dir // the last opened directory, or nil
	path string       // of last
}

// open opens a directory, which stays open until the next call of open or close.
func (d *pluginDirs) open(within, dirPath string) (*confine.Dir, error) {
	if d.last != nil && d.path == dirPath {
		return d.last, nil
	}
	d.close()
	if dirPath == within && d.tops != nil {
		d.tops.hold(path.Dir(dirPath))
	}
	last, err := d.openDir(d.confined(within), dirPath)
	if err == nil {
		d.last, d.path = last, dirPath
	}
	return last, err
}

func (d *pluginDirs) close() {
	if d.last != nil {
		d.last.Close()
	}
	d.last = nil
}

// in calls do with the directory of a file, or if a link is on the way, returns confine.ErrSymlink.
func (d *pluginDirs) in(file string, do func(dir *confine.Dir) error) error {
	dirPath := path.Dir(file)
	near := openedDir{d.last, d.path}
	switch {
	case d.last != nil && dirPath == d.path:
		return do(d.last)
	case d.last == nil || !isBelow(d.path, dirPath):
		if d.tops == nil {
			return confine.ErrSymlink
		}
		if near = d.tops.above(file); near.dir == nil {
			return confine.ErrSymlink
		} else if near.path == dirPath {
			return do(near.dir)
		}
	}
	dir, err := openBelow(near.dir, near.path, dirPath)
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir)
}

// openFile opens a regular file.
func (d *pluginDirs) openFile(within, file string) (f *confine.File, err error) {
	err = d.in(file, func(dir *confine.Dir) (err error) { f, err = dir.OpenRegular(path.Base(file)); return err })
	if errors.Is(err, confine.ErrSymlink) {
		d.followedLink()
		return d.confined(within).OpenRegular(file)
	}
	return f, err
}

// info describes a file, or the target of a link.
func (d *pluginDirs) info(within, file string) (info confine.Info, err error) {
	err = d.in(file, func(dir *confine.Dir) (err error) { info, err = dir.Lstat(path.Base(file)); return err })
	if errors.Is(err, confine.ErrSymlink) || info.Mode&fs.ModeSymlink != 0 {
		d.followedLink()
		return d.confined(within).Info(file)
	}
	return info, err
}

// openDir opens a directory, if possible below an open directory of the layer.
func (s *scan) openDir(fsys *confine.FS, dirPath string) (*confine.Dir, error) {
	if s.tops != nil {
		if top := s.tops.above(dirPath); top.dir != nil {
			if dir, err := openBelow(top.dir, top.path, dirPath); !errors.Is(err, confine.ErrSymlink) {
				return dir, err
			}
			s.followedLink()
		}
	}
	return fsys.OpenDir(dirPath)
}

// openDirs are the open directory of a layer and a few open directories of plugins below.
type openDirs struct {
	mu   sync.Mutex
	dirs []openedDir // the directory of the layer first
}

type openedDir struct {
	dir  *confine.Dir
	path string
}

// maxOpenDirs bounds the descriptors.
const maxOpenDirs = 8

// layer returns the directory of the layer.
func (o *openDirs) layer() openedDir {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dirs[0]
}

// above returns the deepest open directory above a path, if any.
func (o *openDirs) above(dirPath string) (deepest openedDir) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.dirs {
		if isBelow(d.path, dirPath) && (deepest.dir == nil || isBelow(deepest.path, d.path)) {
			deepest = d
		}
	}
	return deepest
}

// hold opens a directory until close, because the scan opens more directories below.
func (o *openDirs) hold(dirPath string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	top := o.dirs[0]
	known := slices.ContainsFunc(o.dirs, func(d openedDir) bool { return d.path == dirPath })
	if known || len(o.dirs) == maxOpenDirs || !isBelow(top.path, dirPath) {
		return
	}
	if dir, err := openBelow(top.dir, top.path, dirPath); err == nil {
		o.dirs = append(o.dirs, openedDir{dir, dirPath})
	}
}

// close closes the directories, except the directory of the layer.
func (o *openDirs) close() {
	if o == nil {
		return
	}
	for _, d := range o.dirs[1:] {
		d.dir.Close()
	}
}

// pluginReads are the accesses of plugin.Find, with their results, in one block for each directory.
type pluginReads struct {
	mu     sync.Mutex
	blocks []*[]pluginRead
}

// all calls yield with each access.
func (reads *pluginReads) all(yield func(pluginRead) bool) {
	for _, block := range reads.blocks {
		for _, r := range *block {
			if !yield(r) {
				return
			}
		}
	}
}

// has reports whether an access to a file has succeeded.
func (reads *pluginReads) has(file string) bool {
	for r := range reads.all {
		if r.file == file && r.err == nil && !r.missing {
			return true
		}
	}
	return false
}

// newBlock returns a block, to which one goroutine at a time adds accesses.
func (reads *pluginReads) newBlock() *[]pluginRead {
	block := new([]pluginRead)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	reads.blocks = append(reads.blocks, block)
	return block
}

// A pluginRead is one access.
type pluginRead struct {
	dir, file string // pluginFS.dir, and the file relative to scan.fs
	list      bool   // the names in a directory were read
	missing   bool   // the file does not exist
	has       bool   // the file is a directory in which Has has found no file
	err       error  // any other error: the next scan reads again

	hash    uint64 // of the names and types in a directory, or of the first bytes of a file
	bytes   int64  // read from a file
	stamp   stamp.Stamp
	settled bool
}

var (
	_ fs.ReadDirFS = (*pluginFS)(nil)
	_ fs.StatFS    = (*pluginFS)(nil)
	_ fs.SubFS     = (*pluginFS)(nil)
)

// confined returns the filesystem for accesses below a directory.
func (s *scan) confined(dir string) *confine.FS {
	if dir == "." {
		return s.fs
	}
	return s.fs.Within(dir)
}

// record adds an access with its error.
func (f *pluginFS) record(r pluginRead, err error) {
	r.dir = f.dir
	r.missing = errors.Is(err, fs.ErrNotExist)
	if !r.missing {
		r.err = err
	}
	*f.block = append(*f.block, r)
}

func (f *pluginFS) Sub(dir string) (fs.FS, error) {
	return &pluginFS{pluginDirs: &pluginDirs{scan: f.scan}, reads: f.reads, block: f.reads.newBlock(), dir: path.Join(f.dir, dir), outer: f}, nil
}

// Release closes the open directories. The later accesses are accesses of the outer filesystem.
func (f *pluginFS) Release() {
	if f.outer != nil {
		f.close()
		f.pluginDirs, f.block, f.outer = f.outer.pluginDirs, f.outer.block, nil
	}
}

func (f *pluginFS) Stat(name string) (fs.FileInfo, error) {
	file := path.Join(f.dir, name)
	info, err := f.info(f.dir, file)
	f.record(pluginRead{file: file, stamp: stamp.Of(info), settled: true}, err)
	return pluginFile{name: name, info: info}, err
}

// Has reports whether a subdirectory has a file. Without the first directory of the path of the
// file, the record is of the subdirectory alone, one system call for each of many subdirectories.
func (f *pluginFS) Has(dir, file string) bool {
	at, now := path.Join(f.dir, dir), time.Now()
	f.visit(at)
	info, err := f.info(f.dir, at)
	if err == nil {
		first, _, _ := strings.Cut(file, "/")
		if _, err = f.info(f.dir, path.Join(at, first)); !errors.Is(err, fs.ErrNotExist) {
			_, err = f.Stat(path.Join(dir, file))
			return err == nil
		}
		err = nil
	}
	f.record(pluginRead{file: at, has: true, stamp: stamp.Of(info), settled: stamp.Settled(info, now)}, err)
	return false
}

func (f *pluginFS) ReadDir(name string) ([]fs.DirEntry, error) {
	file, now := path.Join(f.dir, name), time.Now()
	f.visit(file)
	var all []fs.DirEntry
	info, known := f.listed(file)
	hash, err := f.names(f.dir, file, func(name string, typ fs.FileMode) { all = append(all, pluginEntry{f, path.Join(file, name), typ}) })
	f.record(pluginRead{file: file, list: true, hash: hash, stamp: stamp.Of(info), settled: known && stamp.Settled(info, now)}, err)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// listed describes a directory in one system call, below an open directory. A link proves nothing.
func (d *pluginDirs) listed(dirPath string) (info confine.Info, ok bool) {
	if d.tops == nil || d.at.Store != nil { // a call can be a request
		return info, false
	}
	var err error
	if top := d.tops.layer(); top.path == dirPath {
		info, err = top.dir.Info()
	} else if top := d.tops.above(dirPath); top.dir != nil && top.path == path.Dir(dirPath) {
		info, err = top.dir.Lstat(path.Base(dirPath))
	}
	return info, err == nil && info.Mode.IsDir()
}

// names calls add with the names and the types in a directory, and returns their hash, in any
// order.
func (d *pluginDirs) names(within, dirPath string, add func(name string, typ fs.FileMode)) (hash uint64, err error) {
	opened, err := d.open(within, dirPath)
	if err != nil {
		return 0, err
	}
	err = opened.EachBytes(d.ctx, func(name []byte, typ fs.FileMode) error {
		hash += maphash.Bytes(seed, name) ^ uint64(typ)*0x9E3779B97F4A7C15
		if add != nil {
			add(string(name), typ)
		}
		return nil
	})
	return hash, err
}

func (f *pluginFS) Open(name string) (fs.File, error) {
	file := path.Join(f.dir, name)
	f.visit(path.Dir(file))
	now := time.Now()
	opened, err := f.openFile(f.dir, file)
	if err != nil {
		f.record(pluginRead{file: file}, err)
		return nil, err
	}
	f.index.filesRead.Add(1)
	info := opened.Info()
	f.record(pluginRead{file: file, stamp: stamp.Of(info), settled: stamp.Settled(info, now)}, fs.ErrInvalid) // until Close
	p := &openPluginFile{File: opened, name: path.Base(name), block: f.block, at: len(*f.block) - 1}
	p.hash.SetSeed(seed)
	return p, nil
}

// An openPluginFile hashes the bytes that the caller reads.
type openPluginFile struct {
	*confine.File
	name  string
	block *[]pluginRead
	at    int
	hash  maphash.Hash
	bytes int64
	err   error
}

func (f *openPluginFile) Stat() (fs.FileInfo, error) { return pluginFile{f.name, f.Info()}, nil }

// Read makes no call at the end of a file on a local disk, whose size is known.
func (f *openPluginFile) Read(p []byte) (int, error) {
	if info := f.Info(); f.bytes == info.Size && !info.Changed.IsZero() {
		return 0, io.EOF
	}
	n, err := f.File.Read(p)
	_, _ = f.hash.Write(p[:n])
	f.bytes += int64(n)
	if err != io.EOF {
		f.err = cmp.Or(f.err, err)
	}
	return n, err
}

// Close completes the record.
func (f *openPluginFile) Close() error {
	r := &(*f.block)[f.at]
	r.hash, r.bytes, r.err = f.hash.Sum64(), f.bytes, f.err
	return f.File.Close()
}

// A pluginEntry is a file in a directory.
type pluginEntry struct {
	fs   *pluginFS
	file string
	typ  fs.FileMode
}

func (e pluginEntry) Name() string { return path.Base(e.file) }
func (e pluginEntry) IsDir() bool  { return e.Type().IsDir() }

// Type asks for a type that the directory does not know.
func (e pluginEntry) Type() fs.FileMode {
	if e.typ == confine.TypeUnknown {
		info, err := e.fs.confined(e.fs.dir).Lstat(e.file)
		if err != nil {
			e.fs.record(pluginRead{file: e.file}, err)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fs.ModeDir // the open of the directory reports the failure
		}
		return info.Mode.Type()
	}
	return e.typ
}

func (e pluginEntry) Info() (fs.FileInfo, error) {
	info, err := e.fs.confined(e.fs.dir).Lstat(e.file)
	return pluginFile{e.Name(), info}, err
}

// A pluginFile describes a file.
type pluginFile struct {
	name string
	info confine.Info
}

func (f pluginFile) Name() string       { return f.name }
func (f pluginFile) Size() int64        { return f.info.Size }
func (f pluginFile) Mode() fs.FileMode  { return f.info.Mode }
func (f pluginFile) ModTime() time.Time { return f.info.Modified }
func (f pluginFile) IsDir() bool        { return f.info.Mode.IsDir() }
func (f pluginFile) Sys() any           { return nil }

// unchanged reports whether the accesses for which of returns true have the same results now.
func (reads *pluginReads) unchanged(s *scan, of func(*pluginRead) bool) bool {
	var changed atomic.Bool
	err := parallel.Each(s.ctx, s.reads, len(reads.blocks), func(i int) {
		d := &pluginDirs{scan: s}
		defer d.close()
		for block, at := *reads.blocks[i], 0; at < len(block) && !changed.Load(); at++ {
			if of(&block[at]) && (s.ctx.Err() != nil || !block[at].unchanged(d)) {
				changed.Store(true)
			}
		}
	})
	return err == nil && !changed.Load()
}

// unchanged reports whether the access has the same result now.
func (r *pluginRead) unchanged(d *pluginDirs) bool {
	if r.err != nil {
		return false
	}
	if r.list {
		d.visit(r.file)
		return r.sameNames(d)
	}
	if d.visit(path.Dir(r.file)); r.has {
		d.visit(r.file)
	}
	if r.settled || r.missing {
		info, err := d.info(r.dir, r.file)
		if r.missing {
			return errors.Is(err, fs.ErrNotExist)
		}
		return err == nil && stamp.Of(info).Same(r.stamp)
	}
	return r.sameBytes(d)
}

// sameNames is unchanged for the names in a directory.
func (r *pluginRead) sameNames(d *pluginDirs) bool {
	now := time.Now()
	info, known := d.listed(r.file)
	if known && r.settled && !r.missing && stamp.Of(info).Same(r.stamp) {
		return true
	}
	hash, err := d.names(r.dir, r.file, nil)
	if r.missing || err != nil || hash != r.hash {
		return r.missing && errors.Is(err, fs.ErrNotExist)
	}
	r.stamp, r.settled = stamp.Of(info), known && stamp.Settled(info, now)
	return true
}

// sameBytes is unchanged for the first bytes of a file.
func (r *pluginRead) sameBytes(d *pluginDirs) bool {
	now := time.Now()
	opened, err := d.openFile(r.dir, r.file)
	if err != nil {
		return false
	}
	defer opened.Close()
	var hash maphash.Hash
	hash.SetSeed(seed)
	n, err := io.CopyN(&hash, opened, r.bytes)
	if err != nil && err != io.EOF || n != r.bytes || hash.Sum64() != r.hash || opened.Info().Size != r.stamp.Size {
		return false
	}
	r.stamp, r.settled = stamp.Of(opened.Info()), stamp.Settled(opened.Info(), now)
	return true
}
