package skill

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/maphash"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A Digest is the SHA-256 of a file.
type Digest struct {
	sum  [sha256.Size]byte
	head uint64 // of a SKILL.md: the headHash of the same bytes; otherwise 0
}

// String returns the SHA-256 as 64 lowercase hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d.sum[:]) }

// ofSkillFile returns the Digest of a SKILL.md with the given frontmatter.
func ofSkillFile(content []byte, format, frontmatter string) Digest {
	return Digest{sum: sha256.Sum256(content), head: headHash(format, frontmatter)}
}

// HasHead reports whether the Digest is the result of ofSkillFile for a SKILL.md with the
// given frontmatter.
func (d Digest) HasHead(format, frontmatter string) bool {
	return d.head == headHash(format, frontmatter)
}

// headHash returns a hash of a frontmatter. The result is not 0.
func headHash(format, frontmatter string) uint64 {
	return maphash.String(seed, format+"\n"+frontmatter) | 1
}

// Of returns the digest of a listed file, from the cache if possible, or index.ErrChanging if the
// file has changed since the listing.
func (c *Digests) Of(ctx context.Context, dir *Dir, f skilldir.File) (d Digest, err error) {
	if d, ok := c.Kept(dir, f); ok {
		return d, nil
	}
	now := time.Now()
	var info confine.Info
	d.sum, info, _, err = dir.Sum(ctx, f.Name, max(f.Info.Size, dir.reader.MaxFileSize))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, confine.ErrNotRegular),
		errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink),
		errors.Is(err, index.ErrTooLarge), err == nil && !stamp.SameFile(info, f.Info):
		return d, index.ErrChanging
	case err == nil:
		c.Keep(dir, f, d, now)
	}
	return d, err
}

// unchanged lists the files of a skill again, and returns index.ErrChanging if the files have
// changed since the first listing.
func unchanged(ctx context.Context, dir *Dir, listed skilldir.Listing) error {
	again, err := dir.Files(ctx)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(listed.Files, again.Files, func(a, b skilldir.File) bool {
		return a.Name == b.Name && stamp.SameFile(a.Info, b.Info)
	})
	if !same {
		return index.ErrChanging
	}
	return nil
}

// maxDigests is the default of Digests.Max. The cache then takes 30 MB, and up to 60 MB after
// many evictions.
const maxDigests = 200_000

// Digests keep the digests of the files of skills. A full cache evicts any file: a
// list of all skills uses each file once, and the eviction of the least recently used file
// would remove every digest just before its next use. The zero Digests is empty. All
// methods are safe for concurrent use.
type Digests struct {
	Max int // maximum number of files; 0 means maxDigests

	mu    sync.Mutex
	files map[uint64]kept // by the hash of the file
}

// kept is the digest of one state of a file.
type kept struct {
	Digest
	stamp stamp.Stamp
	skill uint64 // hash of the skill's directory
}

// Kept returns the digest of a listed file from the cache.
func (c *Digests) Kept(dir *Dir, f skilldir.File) (Digest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.files[fileHash(dir.Entry, f.Name)]
	if !ok || !known.stamp.Same(stamp.Of(f.Info)) {
		return Digest{}, false
	}
	return known.Digest, true
}

// Keep adds the digest of a listed file, which was read no earlier than now, unless a later
// change of the file may keep the metadata.
func (c *Digests) Keep(dir *Dir, f skilldir.File, d Digest, now time.Time) {
	if !dir.Settled(f.Info, now) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = make(map[uint64]kept)
	}
	key := fileHash(dir.Entry, f.Name)
	if _, ok := c.files[key]; !ok && len(c.files) >= cmp.Or(c.Max, maxDigests) {
		for other := range c.files { // begins at a random file
			delete(c.files, other)
			break
		}
	}
	c.files[key] = kept{d, stamp.Of(f.Info), fileHash(dir.Entry, ".")}
}

// Retain removes the digests of skills that a snapshot does not contain.
func (c *Digests) Retain(s *index.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.files) == 0 {
		return
	}
	skills := make(map[uint64]bool)
	for e := range s.Files() {
		if e.Broken() != index.ErrNoSkillFile {
			skills[fileHash(e, ".")] = true
		}
	}
	for key, known := range c.files {
		if !skills[known.skill] {
			delete(c.files, key)
		}
	}
}

// Len returns the number of files in the cache.
func (c *Digests) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.files)
}

var seed = maphash.MakeSeed()

// fileHash returns the key of a file of a skill or, with the name ".", of its directory. The seed is
// random, so that the author of a file cannot choose names with equal hashes.
func fileHash(skill *index.Entry, name string) uint64 {
	file := path.Join(path.Dir(skill.Path), name)
	return maphash.String(seed, strconv.Itoa(skill.Layer())+"/"+file)
}
