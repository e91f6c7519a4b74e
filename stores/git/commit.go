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
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
)

const (
	maxSize = 256 << 20 // bytes of a snapshot, and of a file that is read; small trees can expand without end
	maxTree = 8 << 20   // bytes of a tree, a commit or a tag
	maxLink = 4096      // bytes of the target of a symbolic link, as on Linux

	maxDepth = 4095 // bases of a delta, as git writes at most
	maxOpen  = 16   // packs
)

var errTooLarge = errors.New("too many or too long names; set Options.Dir to a smaller directory")

// commit returns the commit of the revision.
func (s *source) commit(ctx context.Context) (*object.Commit, error) {
	hash, err := s.hash()
	if err != nil {
		return nil, err
	}
	objects := task{s.objects, ctx, false}
	found, err := objects.EncodedObject(plumbing.AnyObject, hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) && plumbing.IsHash(s.revision) {
		return nil, fmt.Errorf("%w: fetch the commit", fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	decoded, err := object.DecodeObject(objects, found)
	if err != nil {
		return nil, err
	}
	switch decoded := decoded.(type) {
	case *object.Commit:
		return decoded, nil
	case *object.Tag:
		return decoded.Commit()
	}
	return nil, fmt.Errorf("a %s is not a commit: %w", found.Type(), fs.ErrNotExist)
}

// hash returns the commit or the tag to which the revision points.
func (s *source) hash() (plumbing.Hash, error) {
	if plumbing.IsHash(s.revision) {
		return plumbing.NewHash(s.revision), nil
	}
	for _, format := range plumbing.RefRevParseRules {
		ref, err := storer.ResolveReference(s.objects, plumbing.ReferenceName(fmt.Sprintf(format, s.revision)))
		if err == nil {
			return ref.Hash(), nil
		}
		// A short name such as main is no reference by itself.
		if !errors.Is(err, plumbing.ErrReferenceNotFound) && !errors.Is(err, dotgit.ErrReferenceNameEscape) {
			return plumbing.ZeroHash, err
		}
	}
	return plumbing.ZeroHash, fmt.Errorf("%w: create or fetch the reference", fs.ErrNotExist)
}

// files returns the files of Options.Dir in a commit.
func (s *source) files(ctx context.Context, commit *object.Commit, last *filetree.FS) (*filetree.FS, error) {
	top, err := commit.Tree()
	if err == nil && s.opts.Dir != "." {
		var entry *object.TreeEntry
		entry, err = top.FindEntry(s.opts.Dir)
		if errors.Is(err, object.ErrDirectoryNotFound) || errors.Is(err, object.ErrEntryNotFound) {
			err = fmt.Errorf("directory %q: %w", s.opts.Dir, fs.ErrNotExist)
		} else if err == nil {
			top, err = object.GetTree(task{s.objects, ctx, false}, entry.Hash)
		}
	}
	if err != nil || last != nil && last.Version() == top.Hash.String() {
		return last, err
	}
	w := walk{task{s.objects, ctx, false}, commit.Committer.When, filetree.NewBuilder(maxSize, errTooLarge), map[plumbing.Hash]*object.Tree{}, map[object.TreeEntry]*filetree.File{}}
	if err := w.addDir(top, ""); err != nil {
		return nil, err
	}
	return w.files.FS(top.Hash.String()), nil
}

// A walk collects the files of a snapshot.
type walk struct {
	objects task
	when    time.Time
	files   *filetree.Builder

	// The objects that the walk has read: a tree may have the same object at many names.
	trees map[plumbing.Hash]*object.Tree
	blobs map[object.TreeEntry]*filetree.File // without names
}

// addDir adds the files of a directory. The prefix of the names is empty or ends with "/".
func (w *walk) addDir(dir *object.Tree, prefix string) error {
	for _, entry := range dir.Entries {
		name := prefix + entry.Name
		var err error
		switch {
		case w.objects.ctx.Err() != nil:
			err = context.Cause(w.objects.ctx)
		case !filetree.Valid(name) || entry.Mode == filemode.Submodule:
			err = w.files.Use(filetree.Entry + int64(len(name)))
		case entry.Mode == filemode.Dir:
			sub := w.trees[entry.Hash]
			if sub == nil {
				sub, err = object.GetTree(w.objects, entry.Hash)
				w.trees[entry.Hash] = sub
			}
			if err == nil {
				err = w.files.Use(filetree.Entry + int64(len(name)))
			}
			if err == nil {
				err = w.addDir(sub, name+"/")
			}
		default:
			err = w.addFile(name, entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) addFile(name string, entry object.TreeEntry) error {
	entry.Name = ""
	file, ok := w.blobs[entry]
	if !ok {
		var err error
		if file, err = w.file(entry); err != nil {
			return err
		}
		w.blobs[entry] = file
	}
	if file == nil {
		return w.files.Use(filetree.Entry)
	}
	return w.files.Put(name, *file)
}

// file returns the file of an entry, or nil for a link that is too long.
func (w *walk) file(entry object.TreeEntry) (*filetree.File, error) {
	size, err := w.objects.EncodedObjectSize(entry.Hash)
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", entry.Hash, err)
	}
	file := &filetree.File{Size: size, Mode: 0o444, ModTime: w.when, Version: entry.Hash.String()}
	objects := w.objects.objects // Content must not keep the walk in memory
	file.Content = func(ctx context.Context) (io.ReaderAt, error) {
		_, content, err := task{objects, ctx, false}.read(plumbing.BlobObject, entry.Hash, maxSize)
		return bytes.NewReader(content), err
	}
	if entry.Mode == filemode.Symlink {
		if size > maxLink {
			return nil, nil
		}
		_, target, err := w.objects.read(plumbing.BlobObject, entry.Hash, maxTree)
		if err != nil {
			return nil, err
		}
		file.Link = string(target)
	}
	return file, nil
}
