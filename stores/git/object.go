package git

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// objects is a storage that is safe for concurrent reads, verifies the objects, and sees
// the packs that other processes add. The Storage reads the references only: a Storage reads a
// whole delta for the size of an object, and bases of any size.
type objects struct {
	*filesystem.Storage
	dot *dotgit.DotGit

	mu     sync.Mutex
	recent cache.Object
	packs  map[plumbing.Hash]*pack // nil before the indexes are loaded
	opened []*pack
}

type pack struct {
	index *idxfile.MemoryIndex
	file  *packfile.Packfile // nil if the pack is not open
}

func newObjects(dot billy.Filesystem) *objects {
	return &objects{Storage: filesystem.NewStorage(dot, nil), dot: dotgit.New(dot), recent: cache.NewObjectLRU(16 * cache.MiByte)}
}

// A task reads objects until the context ends.
type task struct {
	*objects
	ctx context.Context
}

// EncodedObject returns a commit, a tree or a tag, and fails if the content does not have the hash.
func (t task) EncodedObject(typ plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	if t.ctx.Err() != nil {
		return nil, context.Cause(t.ctx)
	}
	typ, content, err := t.read(typ, hash, maxTree)
	if err != nil {
		return nil, err
	}
	object := new(plumbing.MemoryObject)
	object.SetType(typ)
	_, err = object.Write(content)
	return object, err
}

// read returns the type and the content of an object. The object, its bases and its deltas have at
// most limit bytes each.
func (o *objects) read(typ plumbing.ObjectType, hash plumbing.Hash, limit int64) (found plumbing.ObjectType, content []byte, err error) {
	err = o.use(hash, func(e entry) error {
		found, content, err = e.read(hash, limit)
		return err
	})
	switch {
	case err != nil:
	case plumbing.ComputeHash(found, content) != hash:
		err = errors.New("damaged: clone the repository again")
	case typ != found && typ != plumbing.AnyObject:
		err = fmt.Errorf("a %s is no %s: %w", found, typ, plumbing.ErrObjectNotFound)
	}
	if err != nil {
		return found, nil, fmt.Errorf("object %s: %w", hash, err)
	}
	return found, content, nil
}

// EncodedObjectSize returns the size of an object.
func (o *objects) EncodedObjectSize(hash plumbing.Hash) (size int64, err error) {
	err = o.use(hash, func(e entry) error {
		size = e.size
		return nil
	})
	return size, err
}

// use calls read with an object while no other goroutine reads. If the object or its pack is missing,
// use loads the indexes of the packs again.
func (o *objects) use(hash plumbing.Hash, read func(entry) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.open(hash, read)
	if errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, dotgit.ErrPackfileNotFound) {
		o.close()
		o.packs = nil
		err = o.open(hash, read)
	}
	return err
}

func (o *objects) open(hash plumbing.Hash, read func(entry) error) error {
	file, err := o.dot.Object(hash)
	if err == nil {
		defer file.Close()
		loose, err := objfile.NewReader(file)
		if err != nil {
			return err
		}
		defer loose.Close()
		e := entry{loose: loose}
		if e.typ, e.size, err = loose.Header(); err != nil {
			return err
		}
		return read(e)
	}
	if !os.IsNotExist(err) {
		return err
	}
	if err := o.load(); err != nil {
		return err
	}
	for name, p := range o.packs {
		offset, err := p.index.FindOffset(hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if p.file == nil {
			file, err := o.dot.ObjectPack(name)
			if err != nil {
				return err
			}
			if len(o.opened) == maxOpen {
				o.close()
			}
			p.file = packfile.NewPackfileWithCache(p.index, nil, file, o.recent, 0)
			o.opened = append(o.opened, p)
		}
		e := entry{pack: p.file, offset: offset}
		if e.size, _, _, err = e.header(offset); err != nil {
			return err
		}
		return read(e)
	}
	return plumbing.ErrObjectNotFound
}

// close closes the packs.
func (o *objects) close() {
	for _, p := range o.opened {
		p.file.Close()
		p.file = nil
	}
	o.opened = nil
}

// load loads the indexes of the packs.
func (o *objects) load() error {
	if o.packs != nil {
		return nil
	}
	names, err := o.dot.ObjectPacks()
	if err != nil {
		return err
	}
	packs := map[plumbing.Hash]*pack{}
	for _, name := range names {
		file, err := o.dot.ObjectPackIdx(name)
		if err != nil {
			return err
		}
		index := idxfile.NewMemoryIndex()
		err = idxfile.NewDecoder(file).Decode(index)
		file.Close()
		if err == nil && index.PackfileChecksum != name {
			err = errors.New("the index belongs to another pack: run git index-pack")
		}
		if err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
		packs[name] = &pack{index: index}
	}
	o.packs = packs
	return nil
}

// An entry is an object in an open file: a loose object, or an object at an offset of a pack.
type entry struct {
	size   int64
	typ    plumbing.ObjectType // of a loose object
	loose  *objfile.Reader
	pack   *packfile.Packfile
	offset int64
}

func (e *entry) read(hash plumbing.Hash, limit int64) (plumbing.ObjectType, []byte, error) {
	if e.size > limit {
		return 0, nil, fmt.Errorf("%d bytes are too large: remove the object", e.size)
	}
	if e.loose != nil {
		content, err := io.ReadAll(io.LimitReader(e.loose, e.size+1))
		return e.typ, content, err
	}
	if err := e.check(limit); err != nil {
		return 0, nil, err
	}
	found, err := e.pack.Get(hash)
	if err != nil {
		return 0, nil, err
	}
	r, err := found.Reader()
	if err != nil {
		return 0, nil, err
	}
	content, err := io.ReadAll(r)
	return found.Type(), content, err
}

// check returns an error if the object has many or large bases or deltas. The function reads
// headers only.
func (e *entry) check(limit int64) error {
	sum := min(32*limit, 4*maxSize)
	for depth, at := 0, e.offset; at != 0; depth++ {
		size, delta, base, err := e.header(at)
		if err != nil {
			return err
		}
		if sum -= size + delta; size > limit || delta > limit || sum < 0 || depth > maxDepth {
			return errors.New("the bases of the delta are too many or too large: run git repack -a -d -f")
		}
		at = base
	}
	return nil
}

// header returns the size of the object at an offset of a pack. For a delta, header also returns the
// size of the delta and the offset of the base.
func (e *entry) header(offset int64) (size, delta, base int64, err error) {
	h, err := e.pack.Scanner().SeekObjectHeader(offset)
	if err != nil {
		return 0, 0, 0, err
	}
	size, base = h.Length, h.OffsetReference
	if h.Type.IsDelta() {
		r, err := e.pack.Scanner().ReadObject()
		if err != nil {
			return 0, 0, 0, err
		}
		defer r.Close()
		var start [2 * binary.MaxVarintLen64]byte // the size of the base, and the size of the object
		n, err := io.ReadFull(r, start[:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return 0, 0, 0, err
		}
		_, skip := binary.Uvarint(start[:n])
		found, end := binary.Uvarint(start[max(skip, 0):n])
		if skip <= 0 || end <= 0 {
			return 0, 0, 0, packfile.ErrInvalidDelta
		}
		size, delta = int64(found), h.Length
		if h.Type == plumbing.REFDeltaObject {
			if base, err = e.pack.FindOffset(h.Reference); err != nil {
				return 0, 0, 0, err
			}
		}
	}
	if size < 0 || delta < 0 {
		return 0, 0, 0, packfile.ErrMalformedPackFile
	}
	return size, delta, base, nil
}
