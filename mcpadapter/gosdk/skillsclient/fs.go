package skillsclient

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
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
	files, _, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	return files.WithContext(f.ctx).Open(name)
}

// Stat returns the metadata of a file or a directory.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	files, _, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return files.Stat(name)
}

// ReadDir returns the entries of a directory in the order of their names.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	files, _, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	return files.ReadDir(name)
}

// ReadFile returns the verified content of a file. The caller may modify the result.
func (f *FS) ReadFile(name string) ([]byte, error) {
	files, _, err := f.find("read", name)
	if err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(files.WithContext(f.ctx), name)
	if failed, ok := err.(*fs.PathError); ok {
		failed.Op, failed.Path = "read", name
	}
	return data, err
}

// ReadHead returns the frontmatter of a SKILL.md and the metadata of the file, without a
// request. The bytes are not the bytes of the file: the fields are those of the entry, and
// [Server.ReadFile] verifies that the file has the same fields. For every other file,
// ReadHead returns fs.ErrNotExist, so toolshelf.WithSkillDepth finds no skills inside a skill:
// the SKILL.md of an inner skill is an ordinary file of the outer skill.
func (f *FS) ReadHead(name string) ([]byte, fs.FileInfo, error) {
	files, h, err := f.find("read", name)
	switch {
	case err != nil:
		return nil, nil, err
	case h == nil || name != h.Dir+"/"+skillFile:
		return nil, nil, pathError("read", name, fs.ErrNotExist)
	case h.broken != nil:
		return nil, nil, pathError("read", name, h.broken)
	}
	info, err := files.Stat(name)
	return h.head, info, err
}

// find returns the entry that contains a file, or nil for the top, and a filesystem with the file.
func (f *FS) find(op, name string) (*filetree.FS, *held, error) {
	if !fs.ValidPath(name) {
		return nil, nil, pathError(op, name, fs.ErrInvalid)
	}
	current := f.server.heldState
	if op == "readdir" && name == "." {
		current = f.server.current
	}
	st, err := current(f.ctx)
	if err != nil {
		return nil, nil, pathError(op, name, err)
	}
	dir, _, _ := strings.Cut(name, "/")
	h := st.entries[dir]
	if h == nil && name != "." && st.failure != nil {
		return nil, nil, pathError(op, name, st.failure)
	}
	if h == nil {
		return st.top(), nil, nil
	}
	return f.server.filesOf(h), h, nil
}

// filesOf returns the files of an entry, with their names in a layer.
func (s *Server) filesOf(h *held) *filetree.FS {
	h.once.Do(func() { h.files = filetree.New("", s.layerFiles(h)) })
	return h.files
}

// layerFiles ranges over the files of an entry, with their names in a layer.
func (s *Server) layerFiles(h *held) iter.Seq2[string, filetree.File] {
	return func(yield func(string, filetree.File) bool) {
		for _, f := range h.Files {
			file := filetree.File{Size: f.Size, Mode: 0o444, Version: f.Digest}
			if f.Path == skillFile {
				file.Version = h.version
			}
			file.Content = func(ctx context.Context) (io.ReaderAt, error) {
				if h.broken != nil {
					return nil, layerCause(h.broken)
				}
				raw, err := s.read(ctx, &h.Skill, f.Path)
				if err != nil {
					return nil, layerCause(err)
				}
				return bytes.NewReader(raw), nil
			}
			if !yield(h.Dir+"/"+f.Path, file) {
				return
			}
		}
	}
}
