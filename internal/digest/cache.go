package digest

import (
	"hash/maphash"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// maxFiles is the default of Cache.Max. The cache then takes 30 MB, and up to 60 MB after
// many evictions.
const maxFiles = 200_000

// A Cache keeps the digests of the files of skills. A full cache evicts any file: a
// list of all skills uses each file once, and the eviction of the least recently used file
// would remove every digest just before its next use. The zero Cache is empty. All
// methods are safe for concurrent use.
type Cache struct {
	Max int // maximum number of files; 0 means maxFiles

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
func (c *Cache) Kept(dir *index.SkillDir, f skilldir.File) (Digest, bool) {
	return c.get(fileOf(dir, f), f.Info)
}

// Keep adds the digest of a listed file, which was read no earlier than now, unless a later
// change of the file may keep the metadata.
func (c *Cache) Keep(dir *index.SkillDir, f skilldir.File, d Digest, now time.Time) {
	if dir.Settled(f.Info, now) {
		c.put(skillOf(dir.Entry), fileOf(dir, f), f.Info, d)
	}
}

// fileOf identifies a listed file of a skill.
func fileOf(dir *index.SkillDir, f skilldir.File) index.File {
	file := skillOf(dir.Entry)
	file.Path = path.Join(file.Path, f.Name)
	return file
}

// skillOf identifies the directory of a skill.
func skillOf(e *index.Entry) index.File { return index.File{Layer: e.Layer(), Path: path.Dir(e.Path)} }

// get returns the digest of a file with the given metadata.
func (c *Cache) get(f index.File, info confine.Info) (Digest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.files[fileHash(f)]
	if !ok || !known.stamp.Same(stamp.Of(info)) {
		return Digest{}, false
	}
	return known.Digest, true
}

// put adds the digest of a file of a skill. skill is the directory of the skill.
func (c *Cache) put(skill, f index.File, info confine.Info, d Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = make(map[uint64]kept)
	}
	key, limit := fileHash(f), maxFiles
	if c.Max > 0 {
		limit = c.Max
	}
	if _, ok := c.files[key]; !ok && len(c.files) >= limit {
		for other := range c.files { // begins at a random file
			delete(c.files, other)
			break
		}
	}
	c.files[key] = kept{d, stamp.Of(info), fileHash(skill)}
}

// Retain removes the digests of skills that a snapshot does not contain.
func (c *Cache) Retain(s *index.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.files) == 0 {
		return
	}
	skills := make(map[uint64]bool)
	for e := range s.Files() {
		if e.Broken() != index.ErrNoSkillFile {
			skills[fileHash(skillOf(e))] = true
		}
	}
	for key, known := range c.files {
		if !skills[known.skill] {
			delete(c.files, key)
		}
	}
}

// Len returns the number of files in the cache.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.files)
}

var seed = maphash.MakeSeed()

// fileHash returns the key of a file or a directory. The seed is random, so that the
// author of a file cannot choose names with equal hashes.
func fileHash(f index.File) uint64 {
	return maphash.String(seed, strconv.Itoa(f.Layer)+"/"+f.Path)
}
