package mcpadapter

import (
	"hash/maphash"
	"sync"
	"time"
)

// heldEntries remembers the digests of the entries that clients received and may still
// hold. A client verifies each file against its entry, so a read must not return other
// bytes. heldEntries keeps 24 bytes for each file instead of the entry. The zero
// heldEntries is empty. All methods are safe for concurrent use.
type heldEntries struct {
	lifetime time.Duration // how long an entry is remembered; 0 means as long as heldEntries exists

	mu    sync.Mutex
	files map[uint64]heldFile // by the hash of the URI
}

type heldFile struct {
	digest uint64 // hash of the digest
	until  time.Time
}

// maxHeld is the maximum number of files. A session that receives more entries forgets
// all of them.
const maxHeld = 1 << 18

var heldSeed = maphash.MakeSeed()

// hold remembers an entry instead of earlier entries of the same files.
func (h *heldEntries) hold(e SkillEntry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if len(h.files)+len(e.Resources) > maxHeld {
		h.forget(now)
	}
	if h.files == nil {
		h.files = make(map[uint64]heldFile)
	}
	for _, r := range e.Resources {
		h.files[maphash.String(heldSeed, r.URI)] = heldFile{maphash.String(heldSeed, r.Digest), now.Add(h.lifetime)}
	}
}

// forget removes the expired files, or all files if most of them are not expired.
func (h *heldEntries) forget(now time.Time) {
	for uri, f := range h.files {
		if now.After(f.until) {
			delete(h.files, uri)
		}
	}
	if len(h.files) > maxHeld/2 {
		h.files = nil
	}
}

// digest compares a digest with the remembered digest of a file. known reports whether
// the file has a remembered digest.
func (h *heldEntries) digest(uri, digest string) (same, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := h.files[maphash.String(heldSeed, uri)]
	if !ok || h.lifetime > 0 && time.Now().After(f.until) {
		return false, false
	}
	return f.digest == maphash.String(heldSeed, digest), true
}

// sharedLifetime is how long an adapter remembers an entry for clients whose transport
// creates a session for each request. A client without skills/get reads a changed file
// after this time.
const sharedLifetime = time.Minute

// publish returns the entry of a skill, and remembers the entry for the session and for
// the sessions without an entry of their own.
func (s *Session) publish(skill servedSkill) SkillEntry {
	e := skill.entry()
	s.held.hold(e)
	s.adapter.held.hold(e)
	return e
}

// stale reports whether the client may hold an entry with another digest of a file. The
// digest "" is different from all digests.
func (s *Session) stale(uri, digest string) bool {
	for _, h := range []*heldEntries{&s.held, &s.adapter.held} {
		if same, known := h.digest(uri, digest); known {
			return !same
		}
	}
	return false
}
