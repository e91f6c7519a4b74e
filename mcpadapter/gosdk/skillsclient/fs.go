package skillsclient

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/opendir"
)

// FS returns the skills as a layer for toolshelf.WithSkillsFS. Each skill is a directory with the
// name [Skill.Dir]: the label, a dot, and the segments of the URI before SKILL.md joined by dots,
// as in docs.acme.refunds. No valid local skill has such a name.
//
// Lists and searches of a catalog use the frontmatter of the entries. Only ReadDir of "." lists a
// stale server again, and only the first Read of a file and ReadFile request the file, verified as
// by [Server.ReadFile].
//
// A problem of a server affects no other layer of a catalog. A rejected entry is a skill with a
// SKILL.md that cannot be read. A failed list leaves the skills of the last list and adds the
// directory LABEL.(failed).
//
// The requests use ctx, and each ends after [Host.Timeout]; WithContext returns the layer with
// another context. Errors are *fs.PathError with an [Error] as cause.
func (s *Server) FS(ctx context.Context) *FS { return &FS{s, ctx} }

// An FS is the layer of a [Server]. All methods are safe for concurrent use.
type FS struct {
	server *Server
	ctx    context.Context
}

var (
	_ fs.ReadDirFS  = (*FS)(nil)
	_ fs.ReadFileFS = (*FS)(nil)
	_ fs.StatFS     = (*FS)(nil)

	_ toolshelf.Versioned = fileInfo{}
	_ interface {
		WithContext(ctx context.Context) fs.FS
		ReadHead(name string) ([]byte, fs.FileInfo, error)
	} = (*FS)(nil)
)

// WithContext returns the layer for requests that end with ctx.
func (f *FS) WithContext(ctx context.Context) fs.FS { return &FS{f.server, ctx} }

// Open opens a file or a directory. The first Read of a file requests and verifies the whole
// file. If the verification fails, every Read returns the error.
func (f *FS) Open(name string) (fs.File, error) {
	at, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if at.dir {
		entries, err := f.entries("open", name, at)
		return opendir.New(at.info(), entries), err
	}
	return &file{fs: f, name: name, at: at}, nil
}

// Stat returns the metadata of a file or a directory.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	at, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return at.info(), nil
}

// ReadDir returns the entries of a directory in the order of their names.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	at, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	return f.entries("readdir", name, at)
}

// ReadFile returns the verified content of a file. The caller may modify the result.
func (f *FS) ReadFile(name string) ([]byte, error) {
	at, err := f.find("read", name)
	if err != nil {
		return nil, err
	}
	raw, err := f.read(name, at)
	return bytes.Clone(raw), err
}

// ReadHead returns the frontmatter of a SKILL.md and the metadata of the file, without a
// request. The bytes are not the bytes of the file: the fields are those of the entry, and
// [Server.ReadFile] verifies that the file has the same fields. For every other file,
// ReadHead returns fs.ErrNotExist, so toolshelf.WithSkillDepth finds no skills inside a skill:
// the SKILL.md of an inner skill is an ordinary file of the outer skill.
func (f *FS) ReadHead(name string) ([]byte, fs.FileInfo, error) {
	at, err := f.find("read", name)
	switch {
	case err != nil:
		return nil, nil, err
	case at.path != skillFile:
		return nil, nil, pathError("read", name, fs.ErrNotExist)
	case at.held.broken != nil:
		return nil, nil, pathError("read", name, at.held.broken)
	}
	return at.held.head, at.info(), nil
}

// A place is a file or a directory of a layer.
type place struct {
	state *state
	held  *held  // nil for the top
	path  string // below the directory of the skill
	dir   bool
	file  File
}

func (f *FS) find(op, name string) (place, error) {
	fail := func(err error) (place, error) { return place{}, pathError(op, name, err) }
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	state := f.server.heldState
	if op == "readdir" && name == "." {
		state = f.server.current
	}
	st, err := state(f.ctx)
	if err != nil {
		return fail(err)
	}
	if name == "." {
		return place{state: st, dir: true, path: "."}, nil
	}
	dir, below, ok := strings.Cut(name, "/")
	if !ok {
		below = "."
	}
	h := st.entries[dir]
	if h == nil && st.failure != nil {
		return fail(st.failure)
	}
	if h == nil {
		return fail(fs.ErrNotExist)
	}
	at := place{state: st, held: h, path: below}
	if at.dir = h.isDir(below); at.dir {
		return at, nil
	}
	if at.file, ok = h.file(below); !ok {
		return fail(fs.ErrNotExist)
	}
	return at, nil
}

// entries lists a directory.
func (f *FS) entries(op, name string, at place) ([]fs.DirEntry, error) {
	if !at.dir {
		return nil, pathError(op, name, errNotDirectory)
	}
	var all []fs.DirEntry
	add := func(p place) { all = append(all, fs.FileInfoToDirEntry(p.info())) }
	if at.held == nil {
		for _, dir := range at.state.dirs {
			add(place{held: at.state.entries[dir], path: ".", dir: true})
		}
		return all, nil
	}
	prefix := at.path + "/"
	if at.path == "." {
		prefix = ""
	}
	last := ""
	for _, child := range at.held.Files { // the files of a directory follow each other
		below, ok := strings.CutPrefix(child.Path, prefix)
		if !ok {
			continue
		}
		elem, _, nested := strings.Cut(below, "/")
		if nested && elem == last {
			continue
		}
		last = elem
		add(place{held: at.held, path: prefix + elem, dir: nested, file: child})
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

func (f *FS) read(name string, at place) ([]byte, error) {
	var raw []byte
	err := opendir.ErrIsDir
	switch {
	case at.dir:
	case at.held.broken != nil:
		err = at.held.broken
	default:
		raw, err = f.server.read(f.ctx, &at.held.Skill, at.path)
	}
	if err != nil {
		return nil, pathError("read", name, err)
	}
	return raw, nil
}

func (p place) info() fs.FileInfo {
	switch {
	case p.held == nil:
		return info{"."}
	case p.path == ".":
		return info{p.held.Dir}
	case p.dir:
		return info{path.Base(p.path)}
	}
	version := p.file.Digest
	if p.path == skillFile {
		version = p.held.version
	}
	return fileInfo{info{path.Base(p.path)}, p.file.Size, version}
}

// An info is the metadata of a directory.
type info struct{ name string }

func (i info) Name() string     { return i.name }
func (info) Size() int64        { return 0 }
func (info) Mode() fs.FileMode  { return fs.ModeDir | 0o555 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return true }
func (info) Sys() any           { return nil }

// A fileInfo is the metadata of a file.
type fileInfo struct {
	info
	size    int64
	version string
}

func (i fileInfo) Size() int64     { return i.size }
func (fileInfo) Mode() fs.FileMode { return 0o444 }
func (fileInfo) IsDir() bool       { return false }

// Version makes a fileInfo a toolshelf.Versioned.
func (i fileInfo) Version() string { return i.version }

// A file is an open file. The first Read requests the content.
type file struct {
	fs      *FS
	name    string
	at      place
	content *bytes.Reader // nil before the first Read
	err     error
}

func (f *file) Stat() (fs.FileInfo, error) { return f.at.info(), nil }

func (f *file) Read(p []byte) (int, error) {
	if f.content == nil && f.err == nil {
		var raw []byte
		raw, f.err = f.fs.read(f.name, f.at)
		f.content = bytes.NewReader(raw)
	}
	if f.err != nil {
		return 0, f.err
	}
	return f.content.Read(p)
}

func (f *file) Close() error {
	f.err = pathError("read", f.name, fs.ErrClosed)
	return nil
}

var errNotDirectory = errors.New("not a directory")
