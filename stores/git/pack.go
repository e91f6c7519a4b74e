package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

const (
	maxPath  = 2 * maxSize // bytes of the bases that wait for deltas while a pack is indexed
	maxTiny  = 1 << 17     // objects of a pack with less than minBytes
	minBytes = 50          // of an object in a pack on average, above maxTiny objects
)

var errLargeDelta = errors.New("the pack has too large deltas: clone the repository with git, or decrease core.bigFileThreshold of the remote")

// A writer writes until a context ends. The writes are small.
type writer struct {
	ctx context.Context
	io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.Writer.Write(p)
}

// hash returns the hash of an object.
func hash(ctx context.Context, typ plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	hasher := plumbing.NewHasher(typ, int64(len(content)))
	for part := range slices.Chunk(content, 64<<10) {
		if _, err := (writer{ctx, hasher}).Write(part); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	return hasher.Sum(), nil
}

// inflate returns the type and the content at an offset of a pack: an object or a delta.
func inflate(ctx context.Context, pack *packfile.Scanner, offset int64) (plumbing.ObjectType, []byte, error) {
	h, err := pack.SeekObjectHeader(offset)
	if err != nil {
		return 0, nil, err
	}
	if h.Length < 0 || h.Length > maxSize {
		return 0, nil, errLargeDelta
	}
	content := bytes.NewBuffer(make([]byte, 0, h.Length))
	if n, _, err := pack.NextObject(writer{ctx, content}); err != nil {
		return 0, nil, err
	} else if n != h.Length {
		return 0, nil, packfile.ErrMalformedPackFile
	}
	return h.Type, content.Bytes(), nil
}

// patch returns the object that a delta makes of a base.
func patch(ctx context.Context, base, delta []byte) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	size, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 || from != uint64(len(base)) {
		return nil, packfile.ErrInvalidDelta
	}
	if size > maxSize {
		return nil, errLargeDelta
	}
	content := bytes.NewBuffer(make([]byte, 0, size))
	for delta = delta[n+m:]; len(delta) > 0; {
		op := delta[0]
		delta = delta[1:]
		var part []byte
		if op < 0x80 { // the next bytes of the delta
			if op == 0 || int(op) > len(delta) {
				return nil, packfile.ErrInvalidDelta
			}
			part, delta = delta[:op], delta[op:]
		} else { // bytes of the base
			var place [8]byte // 4 bytes of the offset, and 3 of the length
			for i := range 7 {
				if op&(1<<i) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, packfile.ErrInvalidDelta
				}
				place[i], delta = delta[0], delta[1:]
			}
			offset, length := int64(binary.LittleEndian.Uint32(place[:])), int64(binary.LittleEndian.Uint32(place[4:]))
			if length == 0 {
				length = 1 << 16
			}
			if offset+length > int64(len(base)) {
				return nil, packfile.ErrInvalidDelta
			}
			part = base[offset : offset+length]
		}
		if len(part) > content.Available() {
			return nil, packfile.ErrInvalidDelta
		}
		if _, err := (writer{ctx, content}).Write(part); err != nil {
			return nil, err
		}
	}
	if uint64(content.Len()) != size {
		return nil, packfile.ErrInvalidDelta
	}
	return content.Bytes(), nil
}

// A fetching task is the storage of a fetch.
type fetching struct{ task }

// EncodedObject is the method of the task. A fetch compares the error.
func (f fetching) EncodedObject(typ plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	object, err := f.task.EncodedObject(typ, hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		err = plumbing.ErrObjectNotFound
	}
	return object, err
}

// PackfileWriter returns a writer for the pack of a fetch. The Close of the writer indexes the pack
// and adds the pack to the repository.
func (f fetching) PackfileWriter() (io.WriteCloser, error) {
	file, err := f.temporary()
	return &incoming{task: f.task, file: file}, err
}

func (o *objects) temporary() (billy.File, error) {
	disk := o.dot.Fs()
	return disk.TempFile(disk.Join("objects", "pack"), "tmp_pack_")
}

// An incoming pack is a temporary file.
type incoming struct {
	task
	file billy.File
	size int64
}

func (p *incoming) Write(b []byte) (int, error) {
	n, err := writer{p.ctx, p.file}.Write(b)
	p.size += int64(n)
	return n, err
}

func (p *incoming) Close() error {
	x := indexer{ctx: p.ctx, room: maxPath}
	var name string
	_, err := p.file.Seek(0, io.SeekStart)
	if err == nil {
		name, err = x.index(p.file, p.size)
	}
	if err = p.keep(p.file, name+".pack", err); err != nil {
		return err
	}
	encoded, err := x.found.Index()
	if err != nil {
		return err
	}
	file, err := p.temporary()
	if err != nil {
		return err
	}
	_, err = idxfile.NewEncoder(file).Encode(encoded)
	if err = p.keep(file, name+".idx", err); err != nil {
		return err
	}
	return p.alone(func() error { p.close(); return nil })
}

// keep closes a temporary file and gives the file a name. After an error, or if the name
// exists, keep removes the file.
func (p *incoming) keep(file billy.File, name string, err error) error {
	disk := p.dot.Fs()
	name = disk.Join("objects", "pack", name)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if _, missing := disk.Lstat(name); err != nil || missing == nil {
		return cmp.Or(err, disk.Remove(file.Name()))
	}
	if disk, ok := disk.(billy.Chmod); ok {
		_ = disk.Chmod(file.Name(), 0o444) // as git does, if the disk has modes
	}
	return disk.Rename(file.Name(), name)
}

// An indexer finds the hashes of the objects of a pack. The indexer applies each delta once, and
// keeps the bases of few deltas in memory.
type indexer struct {
	ctx   context.Context
	room  int // bytes of the bases that wait for deltas
	found idxfile.Writer

	scanner *packfile.Scanner
	objects []packed // by offset

	deltas []int32                   // whose bases are offsets, by the base and by the number below
	refs   map[plumbing.Hash][]int32 // deltas whose bases are hashes
	left   int                       // deltas without a hash
}

type packed struct {
	offset int64
	hash   plumbing.Hash // of an object that is no delta
	crc    uint32
	base   int32 // a place in objects, or -1
	below  int32 // deltas of the object, and of its deltas
}

// index indexes a pack and returns the name of the pack without the extension.
func (x *indexer) index(file io.ReadSeeker, size int64) (string, error) {
	x.scanner, x.refs = packfile.NewScanner(file), map[plumbing.Hash][]int32{}
	_, count, err := x.scanner.Header()
	if err != nil {
		return "", err
	}
	if int64(count) > min(maxTiny+size/minBytes, math.MaxInt32) {
		return "", fmt.Errorf("a pack of %d bytes with %d objects: clone the repository with git", size, count)
	}
	for range count {
		if err := x.next(); err != nil {
			return "", err
		}
	}
	checksum, err := x.scanner.Checksum()
	if err != nil {
		return "", err
	}
	var end plumbing.Hash
	if _, err := file.Seek(size-int64(len(end)), io.SeekStart); err != nil {
		return "", err
	}
	if _, err := io.ReadFull(file, end[:]); err != nil || end != checksum { // git opens no pack with other bytes at the end
		return "", cmp.Or(err, error(packfile.ErrMalformedPackFile))
	}
	for i, o := range slices.Backward(x.objects) {
		if o.base >= 0 {
			x.objects[o.base].below += x.objects[i].below + 1
		}
	}
	slices.SortFunc(x.deltas, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.objects[a].base, x.objects[b].base), cmp.Compare(x.objects[a].below, x.objects[b].below))
	})
	for i, o := range x.objects {
		if o.hash.IsZero() {
			continue
		}
		if err := x.resolve(o.offset, x.deltasOf(int32(i), o.hash)); err != nil {
			return "", err
		}
	}
	if x.left > 0 {
		return "", packfile.ErrReferenceDeltaNotFound
	}
	return "pack-" + checksum.String(), x.found.OnFooter(checksum)
}

// next reads the next object of the pack.
func (x *indexer) next() error {
	h, err := x.scanner.NextObjectHeader()
	if err != nil {
		return err
	}
	if !h.Type.IsDelta() && (h.Type < plumbing.CommitObject || h.Type > plumbing.TagObject) || h.Length < 0 {
		return packfile.ErrMalformedPackFile
	}
	hasher := plumbing.NewHasher(h.Type, h.Length)
	n, crc, err := x.scanner.NextObject(writer{x.ctx, hasher})
	if err == nil && n != h.Length {
		err = packfile.ErrMalformedPackFile
	}
	if err != nil {
		return err
	}
	o, place := packed{offset: h.Offset, crc: crc, base: -1}, int32(len(x.objects))
	switch h.Type {
	case plumbing.OFSDeltaObject:
		base, ok := slices.BinarySearchFunc(x.objects, h.OffsetReference, func(o packed, offset int64) int { return cmp.Compare(o.offset, offset) })
		if !ok {
			return packfile.ErrMalformedPackFile
		}
		o.base, x.deltas = int32(base), append(x.deltas, place)
		x.left++
	case plumbing.REFDeltaObject:
		x.refs[h.Reference] = append(x.refs[h.Reference], place)
		x.left++
	default:
		o.hash = hasher.Sum()
		x.found.Add(o.hash, uint64(o.offset), crc)
	}
	x.objects = append(x.objects, o)
	return nil
}

// deltasOf returns the deltas of an object. A delta with many deltas is the last.
func (x *indexer) deltasOf(place int32, hash plumbing.Hash) []int32 {
	start := func(place int32) int {
		i, _ := slices.BinarySearchFunc(x.deltas, place, func(d, place int32) int { return cmp.Compare(x.objects[d].base, place) })
		return i
	}
	deltas := x.deltas[start(place):start(place+1)]
	if refs := x.refs[hash]; refs != nil {
		delete(x.refs, hash)
		deltas = slices.Concat(refs, deltas)
	}
	return deltas
}

// resolve finds the hashes of the deltas of an object, and of all deltas below.
func (x *indexer) resolve(offset int64, deltas []int32) error {
	if len(deltas) == 0 {
		return nil
	}
	typ, content, err := inflate(x.ctx, x.scanner, offset)
	if err != nil {
		return err
	}
	type base struct {
		content []byte
		deltas  []int32 // not yet resolved
	}
	path, waiting := []base{{content, deltas}}, len(content)
	for len(path) > 0 {
		last := &path[len(path)-1]
		content, place := last.content, last.deltas[0]
		if last.deltas = last.deltas[1:]; len(last.deltas) == 0 {
			waiting -= len(content)
			path[len(path)-1] = base{}
			path = path[:len(path)-1]
		}
		o := x.objects[place]
		_, delta, err := inflate(x.ctx, x.scanner, o.offset)
		if err != nil {
			return err
		}
		if content, err = patch(x.ctx, content, delta); err != nil {
			return err
		}
		sum, err := hash(x.ctx, typ, content)
		if err != nil {
			return err
		}
		x.found.Add(sum, uint64(o.offset), o.crc)
		x.left--
		if deltas := x.deltasOf(place, sum); len(deltas) > 0 {
			if waiting += len(content); waiting > x.room {
				return errLargeDelta
			}
			path = append(path, base{content, deltas})
		}
	}
	return nil
}
