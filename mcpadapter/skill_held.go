package mcpadapter

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/delivery"
)

// heldEntries remembers the digests of the entries that clients received and may still
// hold. A client verifies each file against its entry, so a read must not return other
// bytes. heldEntries keeps 24 bytes for each file instead of the entry. The zero
// heldEntries is empty. All methods are safe for concurrent use.
type heldEntries struct {
	lifetime time.Duration // how long an entry is remembered; 0 means as long as heldEntries exists

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

// hold remembers an entry instead of an earlier entry of the skill.
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
		h.files[heldKey(e.URI, r.URI)] = heldFile{maphash.String(heldSeed, r.Digest), now.Add(h.lifetime)}
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

// stale returns the URI of a skill whose remembered entry has another digest of a file, or
// "". known reports whether any remembered entry contains the file.
func (h *heldEntries) stale(file, digest string) (skill string, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	want := maphash.String(heldSeed, digest)
	for i := len(skillScheme); i < len(file); i++ { // each directory that contains the file
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

// publish returns the entry of a skill. When the client receives the entry, publish
// remembers the entry for the session and for the sessions without an entry of their own.
func (s *Session) publish(ctx context.Context, skill servedSkill) SkillEntry {
	e := skill.entry()
	delivery.Then(ctx, e.URI, func() {
		s.held.hold(e)
		s.adapter.held.hold(e)
	})
	return e
}

// stale returns the URI of a skill whose entry the client must fetch again before the
// client reads a file with a digest, or "". The digest "" differs from all digests.
func (s *Session) stale(file, digest string) string {
	for _, h := range []*heldEntries{&s.held, &s.adapter.held} {
		if skill, known := h.stale(file, digest); known {
			return skill
		}
	}
	return ""
}
