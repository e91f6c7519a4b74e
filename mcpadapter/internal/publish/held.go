package publish

import (
	"hash/maphash"
	"sync"
	"time"
)

// A Held remembers the digests of the entries that clients received and may still
// hold. A client verifies each file against its entry, so a read must not return other
// bytes. Held keeps 24 bytes for each file instead of the entry. The zero
// Held is empty. All methods are safe for concurrent use.
type Held struct {
	lifetime time.Duration // how long an entry is remembered; 0 means as long as Held exists

	mu    sync.Mutex
	files map[uint64]heldFile // by heldKey
}

type heldFile struct {
	digest uint64 // hash of the digest
	until  time.Time
}

// maxHeld is the maximum number of files. A session that receives more entries forgets
// all of them.
const maxHeld = 1 << 18

var heldSeed = maphash.MakeSeed()

// heldKey returns the key of a file in the entry of a skill. A nested skill and the
// enclosing skill have the same files, and a client may hold entries of different age.
func heldKey(skill, file string) uint64 { return maphash.String(heldSeed, skill+"\n"+file) }

// hold remembers the entry of a skill instead of an earlier entry.
func (h *Held) hold(skill string, files []File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if len(h.files)+len(files) > maxHeld {
		h.forget(now)
	}
	if h.files == nil {
		h.files = make(map[uint64]heldFile)
	}
	for _, f := range files {
		h.files[heldKey(skill, f.URI)] = heldFile{maphash.String(heldSeed, f.Digest),
			now.Add(h.lifetime)}
	}
}

// forget removes the expired files, or all files if most of them are not expired.
func (h *Held) forget(now time.Time) {
	for key, f := range h.files {
		if now.After(f.until) {
			delete(h.files, key)
		}
	}
	if len(h.files) > maxHeld/2 {
		h.files = nil
	}
}

// stale returns the URI of a skill whose remembered entry has another digest of a file, or
// "". known reports whether any remembered entry contains the file.
func (h *Held) stale(file, digest string) (skill string, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	want := maphash.String(heldSeed, digest)
	for i := len(scheme); i < len(file); i++ { // each directory that contains the file
		if file[i] != '/' {
			continue
		}
		entry := file[:i+1] + skillFile
		f, ok := h.files[heldKey(entry, file)]
		if !ok || h.lifetime > 0 && time.Now().After(f.until) {
			continue
		}
		if known = true; f.digest != want {
			return entry, true
		}
	}
	return "", known
}

// sharedLifetime is how long an adapter remembers an entry for clients whose transport
// creates a session for each request. A client without skills/get reads a changed file
// after this time.
const sharedLifetime = time.Minute
