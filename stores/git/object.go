package git

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// objects is a storage that is safe for concurrent reads, verifies the objects, and sees
// the packs that other processes add.
type objects struct {
	mu sync.Mutex
	*filesystem.Storage
}

func newObjects(dot billy.Filesystem) *objects {
	return &objects{Storage: filesystem.NewStorageWithOptions(dot, cache.NewObjectLRU(16*cache.MiByte), filesystem.Options{MaxOpenDescriptors: 16})}
}

// locked calls read while no other goroutine reads. If the object is missing, locked loads the
// indexes of the packs again and repeats the call.
func locked[T any](o *objects, read func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	result, err := read()
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		o.Reindex()
		result, err = read()
	}
	return result, err
}

// EncodedObject returns an object, and fails if the content does not have the hash.
func (o *objects) EncodedObject(typ plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	found, _, err := o.read(typ, hash)
	return found, err
}

// read returns an object and the content.
func (o *objects) read(typ plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, []byte, error) {
	size, err := o.EncodedObjectSize(hash)
	if err == nil && (size > maxSize || size > maxTree && typ != plumbing.BlobObject) {
		err = fmt.Errorf("%d bytes are too large: remove the object", size)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("object %s: %w", hash, err)
	}
	found, err := locked(o, func() (plumbing.EncodedObject, error) { return o.Storage.EncodedObject(typ, hash) })
	if err != nil {
		return nil, nil, fmt.Errorf("object %s: %w", hash, err)
	}
	reader, err := found.Reader()
	if err != nil {
		return nil, nil, err
	}
	defer reader.Close()
	content, err := io.ReadAll(reader)
	if err == nil && plumbing.ComputeHash(found.Type(), content) != hash {
		err = fmt.Errorf("object %s is damaged: clone the repository again", hash)
	}
	return found, content, err
}

// EncodedObjectSize returns the size of an object.
func (o *objects) EncodedObjectSize(hash plumbing.Hash) (int64, error) {
	return locked(o, func() (int64, error) { return o.Storage.EncodedObjectSize(hash) })
}
