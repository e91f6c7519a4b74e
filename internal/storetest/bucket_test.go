// Package storetest tests catalogs over remote stores, which have faults, outages and feeds.
package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// A bucket models an object store in memory. Each request is counted, takes the time of
// the field delay, and fails with the error of the fault.
type bucket struct {
	delay time.Duration
	tree  bool // a snapshot has a version

	padding string // at the end of each command of fill

	scans atomic.Int64 // calls of ReadDir of a snapshot

	mu       sync.Mutex
	fault    func(op, key string) error // op is "LIST", "GET" or "HEAD"; nil for no faults
	objects  map[string]object
	keys     []string // sorted; nil after a change of the objects
	puts     int
	requests map[string]int
	running  int // requests in progress
	most     int // the largest value of running
}

// An object is immutable.
type object struct {
	data     string
	etag     string
	modified time.Time
}

const pageOfKeys = 1000 // of a LIST

func newBucket() *bucket {
	return &bucket{objects: map[string]object{}, requests: map[string]int{}}
}

func (b *bucket) setFault(fault func(op, key string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

// put writes an object. All objects have the same time.
func (b *bucket) put(key, data string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.puts++
	b.objects[key], b.keys = object{data, fmt.Sprint("etag-", b.puts), catalogtest.Written}, nil
}

// count returns the requests since the last call of count, such as "2 GET 1 HEAD".
func (b *bucket) count() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var counts []string
	for _, op := range slices.Sorted(maps.Keys(b.requests)) {
		counts = append(counts, fmt.Sprint(b.requests[op], " ", op))
	}
	clear(b.requests)
	return strings.Join(counts, " ")
}

// request makes one request.
func (b *bucket) request(op, key string) error {
	b.mu.Lock()
	b.requests[op]++
	b.running++
	b.most = max(b.most, b.running)
	fault := b.fault
	b.mu.Unlock()
	if b.delay > 0 {
		time.Sleep(b.delay)
	}
	b.mu.Lock()
	b.running--
	b.mu.Unlock()
	if fault != nil {
		return fault(op, key)
	}
	return nil
}

// get returns an object, for a GET or a HEAD.
func (b *bucket) get(op, key string) (object, error) {
	if err := b.request(op, key); err != nil {
		return object{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[key]
	if !ok {
		return object{}, fs.ErrNotExist
	}
	return o, nil
}

// list returns the objects below a prefix, by the rest of the key, and with a delimiter
// also the common prefixes, as zero objects.
func (b *bucket) list(prefix, delimiter string) (map[string]object, error) {
	all := map[string]object{}
	for after := ""; ; {
		if err := b.request("LIST", prefix); err != nil {
			return all, err
		}
		b.mu.Lock()
		if b.keys == nil {
			b.keys = slices.Sorted(maps.Keys(b.objects))
		}
		i, _ := slices.BinarySearch(b.keys, cmp.Or(after, prefix))
		n := 0
		for ; i < len(b.keys) && strings.HasPrefix(b.keys[i], prefix) && n < pageOfKeys; i++ {
			rest := strings.TrimPrefix(b.keys[i], prefix)
			if dir, _, ok := strings.Cut(rest, "/"); ok && delimiter != "" {
				if _, seen := all[dir]; seen {
					continue
				}
				all[dir] = object{}
			} else {
				all[rest] = b.objects[b.keys[i]]
			}
			n++
		}
		more := i < len(b.keys) && strings.HasPrefix(b.keys[i], prefix)
		if more {
			after = b.keys[i]
		}
		b.mu.Unlock()
		if !more {
			return all, nil
		}
	}
}

// A bucketFS shows the objects below a prefix.
type bucketFS struct {
	*bucket
	prefix string // ends with a slash
}

func (b bucketFS) key(name string) string { return b.prefix + name }

// Open makes one GET.
func (b bucketFS) Open(name string) (fs.File, error) {
	o, err := b.get("GET", b.key(name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openObject{objectInfo{path.Base(name), o}, strings.NewReader(o.data)}, nil
}

// Stat makes one HEAD and, for a directory, one LIST.
func (b bucketFS) Stat(name string) (fs.FileInfo, error) {
	o, err := b.get("HEAD", b.key(name))
	if err == nil {
		return objectInfo{path.Base(name), o}, nil
	}
	if below, listErr := b.list(b.key(name)+"/", "/"); len(below) > 0 && listErr == nil {
		return objectInfo{name: path.Base(name)}, nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
}

func (b bucketFS) ReadDir(name string) ([]fs.DirEntry, error) {
	prefix := b.prefix
	if name != "." {
		prefix += name + "/"
	}
	all, err := b.list(prefix, "/")
	entries := []fs.DirEntry{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		entries = append(entries, fs.FileInfoToDirEntry(objectInfo{name, all[name]}))
	}
	if err != nil {
		err = &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return entries, err
}

// An objectInfo describes an object, or a directory without an object. As in gocloud's
// blob.Bucket, the mode of an object is unknown.
type objectInfo struct {
	name string
	object
}

func (i objectInfo) Name() string       { return i.name }
func (i objectInfo) Size() int64        { return int64(len(i.data)) }
func (i objectInfo) ModTime() time.Time { return i.modified }
func (i objectInfo) IsDir() bool        { return i.etag == "" }
func (i objectInfo) Sys() any           { return nil }
func (i objectInfo) Version() string    { return i.etag }
func (i objectInfo) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir
	}
	return fs.ModeIrregular
}

// An openObject is an open file with the body of a GET.
type openObject struct {
	info objectInfo
	io.Reader
}

func (f *openObject) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openObject) Close() error               { return nil }

// A storeFS is a bucketFS with all interfaces of a store.
type storeFS struct {
	bucketFS
	ctx context.Context // of WithContext; nil without
}

func (b *bucket) store(prefix string) storeFS { return storeFS{bucketFS: bucketFS{b, prefix}} }

func (s storeFS) Sub(dir string) (fs.FS, error) {
	s.prefix += dir + "/"
	return s, nil
}

func (s storeFS) WithContext(ctx context.Context) fs.FS {
	s.ctx = ctx
	return s
}

func (s storeFS) Open(name string) (fs.File, error) {
	if s.ctx != nil && s.ctx.Err() != nil {
		return nil, s.ctx.Err()
	}
	return s.bucketFS.Open(name)
}

// Snapshot makes one LIST for each page of keys.
func (s storeFS) Snapshot(ctx context.Context) (fs.FS, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	objects, err := s.list(s.prefix, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	v := &snapshotFS{store: s, objects: objects, dirs: map[string]map[string]object{".": {}}, version: fmt.Sprint(s.puts)}
	s.mu.Unlock()
	for name, o := range objects {
		v.add(name, o)
	}
	return v, nil
}

// A snapshotFS has the objects of one listing.
type snapshotFS struct {
	store   storeFS
	ctx     context.Context
	version string
	objects map[string]object
	dirs    map[string]map[string]object
}

// Version is the number of changes of the bucket, or "" without bucket.tree.
func (v *snapshotFS) Version() string {
	if !v.store.tree {
		return ""
	}
	return v.version
}

func (v *snapshotFS) add(name string, o object) {
	dir := path.Dir(name)
	if v.dirs[dir] == nil {
		v.dirs[dir] = map[string]object{}
		v.add(dir, object{})
	}
	v.dirs[dir][path.Base(name)] = o
}

func (v *snapshotFS) WithContext(ctx context.Context) fs.FS {
	view := *v
	view.ctx = ctx
	return &view
}

func (v *snapshotFS) Stat(name string) (fs.FileInfo, error) {
	o, ok := v.objects[name]
	if !ok && v.dirs[name] == nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return objectInfo{path.Base(name), o}, nil
}

func (v *snapshotFS) ReadDir(name string) ([]fs.DirEntry, error) {
	v.store.scans.Add(1)
	if v.dirs[name] == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	var entries []fs.DirEntry
	for _, base := range slices.Sorted(maps.Keys(v.dirs[name])) {
		entries = append(entries, fs.FileInfoToDirEntry(objectInfo{base, v.dirs[name][base]}))
	}
	return entries, nil
}

// Open makes no request.
func (v *snapshotFS) Open(name string) (fs.File, error) {
	info, err := v.Stat(name)
	if err != nil {
		return nil, err
	}
	return &listedObject{v: v, key: v.store.key(name), objectInfo: info.(objectInfo)}, nil
}

// A listedObject is read with a GET with If-Match.
type listedObject struct {
	objectInfo
	v   *snapshotFS
	key string

	once sync.Once
	body io.Reader
	err  error
}

var errPrecondition = errors.New("412 precondition failed")

func (f *listedObject) get() (string, error) {
	if f.v.ctx != nil && f.v.ctx.Err() != nil {
		return "", f.v.ctx.Err()
	}
	o, err := f.v.store.get("GET", f.key)
	if err == nil && o.etag != f.etag {
		err = errPrecondition
	}
	return o.data, err
}

func (f *listedObject) ReadAt(p []byte, off int64) (int, error) {
	data, err := f.get()
	if err != nil {
		return 0, err
	}
	return strings.NewReader(data).ReadAt(p, off)
}

func (f *listedObject) Read(p []byte) (int, error) {
	f.once.Do(func() {
		data, err := f.get()
		f.body, f.err = strings.NewReader(data), err
	})
	if f.err != nil {
		return 0, f.err
	}
	return f.body.Read(p)
}

func (f *listedObject) Stat() (fs.FileInfo, error) { return f.objectInfo, nil }
func (f *listedObject) Close() error               { return nil }
