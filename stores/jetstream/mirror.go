package jetstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
)

const maxLag = time.Second // of a watch behind the leader of the stream

var (
	errEnded    = errors.New("the watch has ended: connect again")
	errTooLarge = errors.New("the bucket is too large: increase Options.MaxSize, or set Options.Dir")
	errRestored = errors.New("the bucket has another history: copy the bucket again")
)

// A message is the last message of a key. Two messages with the same revision and time are the
// same.
type message struct {
	revision uint64
	created  int64 // in nanoseconds
}

// A mirror is a copy of the bucket in memory, which a watch keeps up to date.
type mirror struct {
	created time.Time // of the stream
	dir     string
	stop    context.CancelFunc
	proven  uint64  // revision of the copy before the start
	anchor  message // the last message up to proven, with which the watch starts; zero for a new copy

	mu       sync.Mutex
	keys     map[string]message // of all keys of the stream, also keys with a deletion as the last message
	sum      uint64             // of the keys and messages
	files    *filetree.Builder
	base     uint64          // last revision of the stream before the start
	revision uint64          // last revision in the copy
	anchored bool            // the watch has delivered the anchor
	unsure   map[string]bool // keys with later messages than proven, which the watch has not yet delivered again
	loaded   bool            // the watch has delivered the messages from before the start
	behind   time.Time       // when a snapshot first waited for a message; zero if no snapshot waits
	err      error
	changed  chan struct{} // closed after a change
}

// restart replaces the mirror by a new copy. If resume is set, the new mirror begins with the old
// copy, and the watch with the last message up to the last agreement, the anchor. If the stream
// still has the anchor, no other message up to the agreement, and a message of each key that has
// changed since, then the new mirror agrees with the stream. Otherwise the new mirror fails.
func (s *source) restart(info *jetstream.StreamInfo, resume bool) {
	ctx, stop := context.WithCancel(s.life)
	next := &mirror{
		created: info.Created, base: info.State.LastSeq, dir: s.opts.Dir, stop: stop,
		keys: map[string]message{}, files: filetree.NewBuilder(s.opts.MaxSize, errTooLarge), changed: make(chan struct{}),
	}
	if old := s.mirror; old != nil {
		old.stop()
		old.change(func() { old.err = errEnded })
		if resume && s.agreed.revision > 0 {
			next.keys, next.sum, next.files, next.proven, next.revision = old.keys, old.sum, old.files, s.agreed.revision, s.agreed.revision
			next.unsure = map[string]bool{}
			for key, m := range next.keys {
				if m.revision > next.proven {
					next.unsure[key] = true
				} else if m.revision > next.anchor.revision {
					next.anchor = m
				}
			}
		}
	}
	s.mirror = next
	go next.run(ctx, s.kv)
}

// run copies the bucket until the watch ends.
func (m *mirror) run(ctx context.Context, kv jetstream.KeyValue) {
	defer m.stop()
	start := time.AfterFunc(10*maxLag, m.stop) // the request that starts the watch has no limit of its own
	var opts []jetstream.WatchOpt
	if m.proven > 0 {
		opts = append(opts, jetstream.ResumeFromRevision(max(m.anchor.revision, 1)))
	}
	watch, err := kv.WatchAll(ctx, opts...)
	if start.Stop(); err == nil {
		for change := range watch.Updates() {
			m.change(func() { m.err = m.apply(change) })
		}
		err = errEnded
	}
	m.change(func() { m.err = err })
}

// change calls do, unless the mirror has failed, and wakes the snapshots that wait.
func (m *mirror) change(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		do()
	}
	if m.err != nil {
		m.stop()
	}
	close(m.changed)
	m.changed = make(chan struct{})
}

// apply copies a message. Nil means that the copy is complete.
func (m *mirror) apply(change jetstream.KeyValueEntry) error {
	if change == nil {
		m.loaded = true
		if m.proven > 0 && !m.anchored || len(m.unsure) > 0 {
			return errRestored
		}
		return nil
	}
	next := message{change.Revision(), change.Created().UnixNano()}
	if next.revision <= m.proven || m.proven > 0 && !m.anchored {
		// Messages between the anchor and the proven revision are from another history.
		if m.anchored = next == m.anchor; !m.anchored {
			return errRestored
		}
		return nil
	}
	if old, ok := m.keys[change.Key()]; ok {
		m.sum ^= old.hash(change.Key())
	}
	m.keys[change.Key()] = next
	m.sum ^= next.hash(change.Key())
	m.revision = next.revision
	delete(m.unsure, change.Key())
	name, ok := nameOf(m.dir, change)
	if !ok {
		return nil
	}
	if change.Operation() != jetstream.KeyValuePut {
		m.files.Remove(name)
		return nil
	}
	value := change.Value()
	return m.files.Put(name, filetree.File{
		Size: int64(len(value)), Kept: int64(len(value)), Mode: 0o444, ModTime: change.Created(), Version: fmt.Sprintf("%x", sha256.Sum256(value)),
		Content: func(context.Context) (io.ReaderAt, error) { return bytes.NewReader(value), nil },
	})
}

func (m message) hash(key string) uint64 {
	hash := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", m.revision, m.created, key))
	return binary.LittleEndian.Uint64(hash[:])
}

// nameOf returns the path of a key below dir. Keys that are no path are not below dir.
func nameOf(dir string, change jetstream.KeyValueEntry) (string, bool) {
	name, below := change.Key(), true
	if dir != "." {
		name, below = strings.CutPrefix(name, dir+"/")
	}
	return name, below && fs.ValidPath(name)
}

// await waits until the mirror agrees with a state of the stream, and returns false if a new
// mirror is necessary: the watch has ended or is late, or keys have disappeared without a
// message. A fresh mirror is newer than the state; then await returns true or an error.
func (m *mirror) await(ctx context.Context, state jetstream.StreamState, fresh bool) (bool, error) {
	for {
		now := m.progress(state)
		switch {
		case now.err != nil && fresh:
			return false, now.err
		case now.err != nil || now.late || now.gone && !fresh:
			return false, nil
		case now.loaded && !now.behind:
			return true, nil
		}
		var expired <-chan time.Time
		if now.behind {
			expired = time.After(time.Until(now.since.Add(maxLag)))
		}
		select {
		case <-now.changed:
		case <-expired:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// A progress compares the mirror with a state of the stream.
type progress struct {
	loaded bool
	behind bool      // the mirror lacks messages
	since  time.Time // of behind
	late   bool      // behind for maxLag
	gone   bool      // keys have disappeared without a message
	err    error     // of the watch

	changed <-chan struct{}
}

// progress compares the mirror with a state of the stream.
func (m *mirror) progress(state jetstream.StreamState) progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	behind := m.loaded && m.revision < state.LastSeq
	if !behind {
		m.behind = time.Time{}
	} else if m.behind.IsZero() {
		m.behind = time.Now()
	}
	late := behind && time.Since(m.behind) >= maxLag
	if late && m.base >= state.LastSeq {
		m.revision, behind, late = state.LastSeq, false, false // the last messages have disappeared
	}
	gone := m.loaded && m.revision == state.LastSeq && uint64(len(m.keys)) != state.NumSubjects
	return progress{m.loaded, behind, m.behind, late, gone, m.err, m.changed}
}

// state returns the last revision in the copy, and whether the copy is complete.
func (m *mirror) state() (revision uint64, loaded bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revision, m.loaded
}

// snapshot returns the files and the last revision, or last if the version is the same.
func (m *mirror) snapshot(last *filetree.FS) (*filetree.FS, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The last revision is not enough: keys disappear without a message, and a stream can go back.
	version := fmt.Sprintf("%x-%d-%x", m.created.UnixNano(), m.revision, m.sum)
	if last == nil || last.Version() != version {
		last = m.files.FS(version)
	}
	return last, m.revision
}
