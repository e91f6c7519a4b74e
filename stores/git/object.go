package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// objects is a storage that is safe for concurrent reads, verifies the objects, and sees
// the packs that other processes add. The Storage reads and writes the references only: a
// Storage reads objects, deltas and bases of any size, and does not end with a context.
type objects struct {
	*filesystem.Storage
	dot *dotgit.DotGit

	turn   chan struct{} // holds a value while a goroutine reads
	recent *cache.BufferLRU
	packs  map[plumbing.Hash]*pack // nil before the indexes are loaded
	opened []*pack
}

type pack struct {
	index   *idxfile.MemoryIndex
	place   int64      // of the pack in recent
	file    billy.File // nil if the pack is not open
	scanner *packfile.Scanner
}

func newObjects(dot billy.Filesystem) *objects {
	return &objects{
		Storage: filesystem.NewStorage(dot, nil), dot: dotgit.New(dot),
		turn: make(chan struct{}, 1), recent: cache.NewBufferLRU(16 * cache.MiByte),
	}
}

// A task reads objects until the context ends.
type task struct {
	*objects
	ctx   context.Context
	known bool // a missing object does not load the indexes again
}

// EncodedObject returns a commit, a tree or a tag, and fails if the content does not have the hash.
func (t task) EncodedObject(typ plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
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
func (t task) read(typ plumbing.ObjectType, name plumbing.Hash, limit int64) (found plumbing.ObjectType, content []byte, err error) {
	err = t.use(name, func(e entry) error {
		found, content, err = e.read(t.ctx, limit)
		return err
	})
	var sum plumbing.Hash
	if err == nil {
		sum, err = hash(t.ctx, found, content)
	}
	switch {
	case err != nil:
	case sum != name:
		err = errors.New("damaged: clone the repository again")
	case typ != found && typ != plumbing.AnyObject:
		err = fmt.Errorf("a %s is no %s: %w", found, typ, plumbing.ErrObjectNotFound)
	}
	if err != nil {
		return found, nil, fmt.Errorf("object %s: %w", name, err)
	}
	return found, content, nil
}

// EncodedObjectSize returns the size of an object.
func (t task) EncodedObjectSize(hash plumbing.Hash) (size int64, err error) {
	err = t.use(hash, func(e entry) error {
		size = e.size
		return nil
	})
	return size, err
}

// use calls read with an object while no other goroutine reads. If the object or its pack is
// missing, use loads the indexes of the packs again.
func (t task) use(hash plumbing.Hash, read func(entry) error) error {
	return t.alone(func() error {
		err := t.open(hash, read)
		if errors.Is(err, plumbing.ErrObjectNotFound) && !t.known || errors.Is(err, dotgit.ErrPackfileNotFound) {
			t.close()
			err = t.open(hash, read)
		}
		return err
	})
}

// alone calls a function while no other goroutine reads.
func (t task) alone(do func() error) error {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-t.ctx.Done():
	}
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	return do()
}

func (o *objects) open(hash plumbing.Hash, read func(entry) error) error {
	file, err := o.dot.Object(hash)
	if err == nil {
		defer file.Close()
		content, err := zlib.NewReader(file)
		if err != nil {
			return err
		}
		defer content.Close()
		e := entry{loose: bufio.NewReaderSize(content, 64)}
		header, err := e.loose.ReadSlice(0)
		if err != nil {
			return err
		}
		typ, size, _ := strings.Cut(string(header[:len(header)-1]), " ")
		if e.typ, err = plumbing.ParseObjectType(typ); err != nil {
			return err
		}
		if e.size, err = strconv.ParseInt(size, 10, 64); err != nil {
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
				o.closeFiles()
			}
			p.file, p.scanner = file, packfile.NewScanner(file)
			o.opened = append(o.opened, p)
		}
		head, err := p.header(offset)
		if err != nil {
			return err
		}
		return read(entry{size: head.size, pack: p, offset: offset, recent: o.recent})
	}
	return plumbing.ErrObjectNotFound
}

// close forgets the packs.
func (o *objects) close() {
	o.closeFiles()
	o.packs = nil
}

func (o *objects) closeFiles() {
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
		packs[name] = &pack{index: index, place: int64(len(packs)) << 48}
	}
	o.recent.Clear()
	o.packs = packs
	return nil
}

// An entry is an object in an open file: a loose object, or an object at an offset of a pack.
type entry struct {
	size   int64
	typ    plumbing.ObjectType // of a loose object
	loose  *bufio.Reader
	pack   *pack
	offset int64
	recent *cache.BufferLRU // of packs
}

func (e *entry) read(ctx context.Context, limit int64) (plumbing.ObjectType, []byte, error) {
	switch {
	case e.size < 0 || e.size > limit:
		return 0, nil, fmt.Errorf("%d bytes are too large; remove the object", e.size)
	case e.loose == nil:
		return e.resolve(ctx, limit)
	}
	content := bytes.NewBuffer(make([]byte, 0, e.size))
	_, err := io.Copy(writer{ctx, content}, io.LimitReader(e.loose, e.size))
	return e.typ, content.Bytes(), err
}

// resolve applies deltas to a base. If the bases or deltas are many or large, resolve returns an
// error after the headers are read.
func (e *entry) resolve(ctx context.Context, limit int64) (plumbing.ObjectType, []byte, error) {
	var chain []int64 // offsets, from the object to a base that is no delta
	var typ plumbing.ObjectType
	for at, sum := e.offset, min(32*limit, 4*maxSize); ; {
		if ctx.Err() != nil {
			return 0, nil, context.Cause(ctx)
		}
		h, err := e.pack.header(at)
		if err != nil {
			return 0, nil, err
		}
		if sum -= h.size + h.delta; h.size > limit || h.delta > limit || sum < 0 || len(chain) > maxDepth {
			return 0, nil, errors.New("the bases of the delta are too many or too large: run git repack -a -d -f")
		}
		chain = append(chain, at)
		if at = h.base; at == 0 {
			typ = h.typ
			break
		}
	}
	var content []byte
	missing := chain
	for i, at := range chain {
		var ok bool
		if content, ok = e.recent.Get(e.pack.place + at); ok {
			missing = chain[:i]
			break
		}
	}
	for i, at := range slices.Backward(missing) {
		_, stored, err := inflate(ctx, e.pack.scanner, at)
		if err == nil && i < len(chain)-1 {
			stored, err = patch(ctx, content, stored)
		}
		if err != nil {
			return 0, nil, err
		}
		content = stored
		e.recent.Put(e.pack.place+at, content)
	}
	return typ, content, nil
}

// A header describes an object of a pack.
type header struct {
	typ   plumbing.ObjectType // or the kind of the delta
	size  int64               // of the object
	delta int64               // size of the delta, or 0
	base  int64               // offset of the base of a delta, or 0
}

func (p *pack) header(offset int64) (header, error) {
	found, err := p.scanner.SeekObjectHeader(offset)
	if err != nil {
		return header{}, err
	}
	h := header{typ: found.Type, size: found.Length}
	if found.Type.IsDelta() {
		r, err := p.scanner.ReadObject()
		if err != nil {
			return h, err
		}
		defer r.Close()
		var start [2 * binary.MaxVarintLen64]byte // the size of the base, and the size of the object
		n, err := io.ReadFull(r, start[:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return h, err
		}
		_, skip := binary.Uvarint(start[:n])
		size, end := binary.Uvarint(start[max(skip, 0):n])
		if skip <= 0 || end <= 0 {
			return h, packfile.ErrInvalidDelta
		}
		h.size, h.delta, h.base = int64(size), found.Length, found.OffsetReference
		if found.Type == plumbing.REFDeltaObject {
			if h.base, err = p.index.FindOffset(found.Reference); err != nil {
				return h, err
			}
		}
	}
	if h.size < 0 || h.delta < 0 || h.typ.IsDelta() != (h.base > 0) {
		return h, packfile.ErrMalformedPackFile
	}
	return h, nil
}
