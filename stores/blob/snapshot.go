package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	gocloud "gocloud.dev/blob"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

const mode = 0o444

var errTooManyKeys = errors.New("too many keys")

// A snapshot is the files of a listing, and the store that reads the contents.
type snapshot struct {
	*tree.FS
	store *Store
}

// WithContext returns a view whose reads end when ctx ends.
func (v *snapshot) WithContext(ctx context.Context) fs.FS {
	return &snapshot{v.FS, &Store{ctx, v.store.state}}
}

// Open opens a file without a request, or a directory.
func (v *snapshot) Open(name string) (fs.File, error) {
	info, err := v.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return v.FS.Open(name)
	}
	return &file{store: v.store, info: info, name: name}, nil
}

// list lists the keys of the store, and returns last if nothing has changed.
func (s *state) list(ctx context.Context, last *tree.FS) (*tree.FS, error) {
	files := map[string]tree.File{}
	hash, versioned := sha256.New(), true
	keys := s.bucket.List(&gocloud.ListOptions{Prefix: s.prefix})
	for n := 0; ; n++ {
		object, err := keys.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, pathError("list", s.opts.Dir, err)
		}
		if n == s.opts.MaxKeys {
			return nil, pathError("list", s.opts.Dir, fmt.Errorf("%w: raise Options.MaxKeys above %d, or name a directory with Options.Dir", errTooManyKeys, n))
		}
		name := strings.TrimPrefix(object.Key, s.prefix)
		if !isFile(name) {
			s.omit(object.Key)
			continue
		}
		f := s.file(object.Size, object.ModTime, object.MD5, object.As)
		files[name] = f
		versioned = versioned && f.Version != ""
		fmt.Fprintf(hash, "%d %s%d %s", len(name), name, len(f.Version), f.Version)
	}
	version := ""
	if versioned {
		version = hex.EncodeToString(hash.Sum(nil))
	}
	if last != nil && version != "" && last.Version() == version {
		return last, nil
	}
	listed := tree.New(version, files)
	for name := range files {
		if info, err := listed.Stat(name); err != nil || info.IsDir() {
			s.omit(s.prefix + name)
		}
	}
	return listed, nil
}

// omit reports a key that is not a file. The key of the directory itself is no problem.
func (s *state) omit(key string) {
	if s.opts.Omitted != nil && key != s.prefix {
		s.opts.Omitted(key)
	}
}

// file describes an object in a listing or in the response to a HEAD request.
func (s *state) file(size int64, modified time.Time, md5 []byte, as func(any) bool) tree.File {
	f := tree.File{Size: size, Mode: mode, ModTime: modified}
	switch {
	case s.opts.Versions.Of != nil:
		f.Version = s.opts.Versions.Of(as)
	case md5 != nil && !modified.IsZero():
		// The MD5 hash alone is not the version: a fileblob does not update the hash of a
		// file that another program writes.
		f.Version = fmt.Sprintf("%x-%d", md5, modified.UnixNano())
	}
	return f
}

// describe returns the metadata of a file.
func describe(name string, f tree.File) fs.FileInfo {
	info, err := tree.New("", map[string]tree.File{name: f}).Stat(name)
	if err != nil {
		panic(err) // isFile accepts the name
	}
	return info
}
