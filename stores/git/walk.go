package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

const (
	maxFiles = 1 << 20 // in a snapshot; a small repository can have trees that expand without end
	maxLink  = 4096    // bytes of the target of a symbolic link, as on Linux
)

// files returns the files of Options.Dir in a commit.
func (s *source) files(ctx context.Context, commit *object.Commit, last *tree.FS) (*tree.FS, error) {
	top, err := commit.Tree()
	if err == nil && s.opts.Dir != "." {
		var entry *object.TreeEntry
		entry, err = top.FindEntry(s.opts.Dir)
		if errors.Is(err, object.ErrDirectoryNotFound) || errors.Is(err, object.ErrEntryNotFound) {
			err = fmt.Errorf("directory %q: %w", s.opts.Dir, fs.ErrNotExist)
		} else if err == nil {
			top, err = object.GetTree(s.objects, entry.Hash)
		}
	}
	if err != nil || last != nil && last.Version() == top.Hash.String() {
		return last, err
	}
	w := walk{s.objects, commit.Committer.When, s.sizes, map[string]tree.File{}, map[plumbing.Hash]int64{}}
	if err := w.addDir(ctx, top, ""); err != nil {
		return nil, err
	}
	s.sizes = w.sizes
	return tree.New(top.Hash.String(), w.files), nil
}

// A walk collects the files of a snapshot.
type walk struct {
	objects *objects
	when    time.Time
	known   map[plumbing.Hash]int64 // sizes in the last snapshot
	files   map[string]tree.File
	sizes   map[plumbing.Hash]int64
}

// addDir adds the files of a directory. The prefix of the names is empty or ends with "/".
func (w *walk) addDir(ctx context.Context, dir *object.Tree, prefix string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, entry := range dir.Entries {
		name := prefix + entry.Name
		switch {
		case !fs.ValidPath(name) || entry.Mode == filemode.Submodule:
		case entry.Mode == filemode.Dir:
			sub, err := object.GetTree(w.objects, entry.Hash)
			if err != nil {
				return err
			}
			if err := w.addDir(ctx, sub, name+"/"); err != nil {
				return err
			}
		default:
			if err := w.addFile(name, entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) addFile(name string, entry object.TreeEntry) error {
	if len(w.files) == maxFiles {
		return fmt.Errorf("more than %d files: set Options.Dir to a smaller directory", maxFiles)
	}
	size, ok := w.known[entry.Hash]
	if !ok {
		var err error
		if size, err = w.objects.EncodedObjectSize(entry.Hash); err != nil {
			return fmt.Errorf("object %s: %w", entry.Hash, err)
		}
	}
	w.sizes[entry.Hash] = size
	file := tree.File{Size: size, Mode: 0o444, ModTime: w.when, Version: entry.Hash.String()}
	objects := w.objects // Content must not keep the walk in memory
	file.Content = func() (io.ReaderAt, error) {
		content, err := objects.blob(entry.Hash)
		return bytes.NewReader(content), err
	}
	if entry.Mode == filemode.Symlink {
		if size > maxLink {
			return nil
		}
		target, err := objects.blob(entry.Hash)
		if err != nil {
			return err
		}
		file.Link = string(target)
	}
	w.files[name] = file
	return nil
}
