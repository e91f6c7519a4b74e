package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
)

const keyBytes = 2048 // of memory for each key of Options.MaxKeys

// A snapshot is the files of a listing, and the store that reads the contents.
type snapshot struct {
	*filetree.FS
	store *Store
}

// view calls a method of a new snapshot, whose requests end with the context of the store.
func view[T any](s *Store, name string, call func(*snapshot, string) (T, error)) (T, error) {
	files, err := s.latest.Snapshot(s.ctx)
	if err != nil {
		var zero T
		return zero, err
	}
	return call(&snapshot{files, s}, name)
}

func (v *snapshot) WithContext(ctx context.Context) fs.FS {
	return &snapshot{v.FS, &Store{ctx, v.store.state}}
}

func (v *snapshot) Open(name string) (fs.File, error) {
	info, err := v.Stat(name)
	if err != nil || info.IsDir() {
		return v.FS.Open(name)
	}
	return &file{v.store, name, info, nil}, nil
}

// list lists the keys of the store, and returns last if nothing has changed.
func (s *state) list(ctx context.Context, last *filetree.FS) (*filetree.FS, error) {
	limit := int64(min(s.opts.MaxKeys, 1<<40/keyBytes))*keyBytes + 1<<20
	files := filetree.NewBuilder(limit, fmt.Errorf("names and directories of more than %d bytes: raise Options.MaxKeys, or name a directory with Options.Dir", limit))
	hash, versioned := sha256.New(), true
	for keys, n := s.bucket.List(&gocloud.ListOptions{Prefix: s.prefix}), 0; ; n++ {
		object, err := keys.Next(ctx)
		if err == io.EOF {
			break
		}
		if err == nil && n == s.opts.MaxKeys {
			err = fmt.Errorf("more than %d keys: raise Options.MaxKeys, or name a directory with Options.Dir", n)
		}
		if err == nil {
			if name := strings.TrimPrefix(object.Key, s.prefix); isFile(name) {
				f := s.describe(object.Size, object.ModTime, object.MD5, object.As)
				versioned = versioned && f.Version != ""
				fmt.Fprintf(hash, "%d %s%d %s", len(name), name, len(f.Version), f.Version)
				err = files.Put(name, f)
			}
		}
		if err != nil {
			return nil, pathError("list", s.opts.Dir, err)
		}
	}
	if !versioned {
		return files.FS(""), nil
	}
	version := hex.EncodeToString(hash.Sum(nil))
	if last != nil && last.Version() == version {
		return last, nil
	}
	return files.FS(version), nil
}

// describe describes an object in a listing or a response.
func (s *state) describe(size int64, modified time.Time, md5 []byte, as func(any) bool) filetree.File {
	f := filetree.File{Size: size, Mode: 0o444, ModTime: modified}
	if s.opts.Versions.Of != nil {
		f.Version = s.opts.Versions.Of(as)
	} else if len(md5) > 0 { // the driver of GCS reports an empty hash for a composite object
		// A fileblob does not update the hash of a file that another program writes.
		f.Version = fmt.Sprintf("%x-%d", md5, modified.UnixNano())
	}
	return f
}

func isFile(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.Contains(name, "\x00")
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: expected(err)}
}

// expected adds the error that programs expect.
func expected(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case gcerrors.PermissionDenied:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return err
}
