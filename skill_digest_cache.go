package toolshelf

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"strconv"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// maxDigests is the maximum number of files in a digestCache. The cache then
// takes 30 MB, and up to 60 MB after many evictions.
const maxDigests = 200_000

// A digestCache keeps the digests of the files of skills. A full cache evicts any file: a
// list of all skills uses each file once, and the eviction of the least recently used file
// would remove every digest just before its next use. The zero digestCache is empty. All
// methods are safe for concurrent use.
type digestCache struct {
	max int // maximum number of files; 0 means maxDigests

	mu    sync.Mutex
	files map[uint64]keptDigest // by the hash of the file
}

// A keptDigest is the digest of one state of a file.
type keptDigest struct {
	fileDigest
	stamp index.Stamp
	skill uint64 // hash of the skill's directory
}

// A fileDigest is the SHA-256 of a file.
type fileDigest struct {
	sum  [sha256.Size]byte
	head uint64 // of a SKILL.md: the headHash of the same bytes; otherwise 0
}

// String returns the SHA-256 as 64 lowercase hexadecimal digits.
func (d fileDigest) String() string { return hex.EncodeToString(d.sum[:]) }

// get returns the digest of a file with the given metadata.
func (c *digestCache) get(f index.File, info confine.Info) (fileDigest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.files[fileHash(f)]
	if !ok || !kept.stamp.Same(index.StampOf(info)) {
		return fileDigest{}, false
	}
	return kept.fileDigest, true
}

// put adds the digest of a file of a skill. skill is the directory of the skill.
func (c *digestCache) put(skill, f index.File, info confine.Info, d fileDigest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = make(map[uint64]keptDigest)
	}
	key, limit := fileHash(f), maxDigests
	if c.max > 0 {
		limit = c.max
	}
	if _, ok := c.files[key]; !ok && len(c.files) >= limit {
		for other := range c.files { // begins at a random file
			delete(c.files, other)
			break
		}
	}
	c.files[key] = keptDigest{d, index.StampOf(info), fileHash(skill)}
}

// retain removes the digests of skills that a snapshot does not contain.
func (c *digestCache) retain(s *index.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.files) == 0 {
		return
	}
	skills := make(map[uint64]bool)
	for e := range s.Files() {
		if e.Broken() != index.ErrNoSkillFile {
			skills[fileHash(skillDir(e))] = true
		}
	}
	for key, kept := range c.files {
		if !skills[kept.skill] {
			delete(c.files, key)
		}
	}
}

var fileSeed = maphash.MakeSeed()

// fileHash returns the key of a file or a directory. The seed is random, so that the
// author of a file cannot choose names with equal hashes.
func fileHash(f index.File) uint64 {
	return maphash.String(fileSeed, strconv.Itoa(f.Layer)+"/"+f.Path)
}
