package storetest

import (
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
)

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
