package jetstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

const maxLag = time.Second // of a watch behind the leader of the stream

var (
	errEnded    = errors.New("the watch has ended: connect again")
	errTooLarge = errors.New("the bucket is too large: increase Options.MaxSize, or set Options.Dir")
)

// A mirror is a copy of the bucket in memory, which a watch keeps up to date.
type mirror struct {
	created time.Time // of the stream
	dir     string
	stop    context.CancelFunc

	mu       sync.Mutex
	keys     map[string]bool // all keys of the stream, also keys with a deletion as the last message
	files    *tree.Builder
	base     uint64    // last revision of the stream before the start
	revision uint64    // last revision in the copy
	loaded   bool      // the watch has delivered the messages from before the start
	behind   time.Time // when a snapshot first waited for a message; zero if no snapshot waits
	err      error
	changed  chan struct{} // closed after a change
}

// restart replaces the mirror by a new copy.
func (s *source) restart(info *jetstream.StreamInfo) {
	if s.mirror != nil {
		s.mirror.stop()
	}
	ctx, stop := context.WithCancel(s.life)
	s.mirror = &mirror{
		created: info.Created, base: info.State.LastSeq, dir: s.opts.Dir, stop: stop,
		keys: map[string]bool{}, files: tree.NewBuilder(s.opts.MaxSize, errTooLarge), changed: make(chan struct{}),
	}
	go s.mirror.run(ctx, s.kv)
}

// run copies the bucket until the watch ends.
func (m *mirror) run(ctx context.Context, kv jetstream.KeyValue) {
	defer m.stop()
	start := time.AfterFunc(10*maxLag, m.stop) // the request that starts the watch has no limit of its own
	watch, err := kv.WatchAll(ctx)
	if start.Stop(); err == nil {
		for change := range watch.Updates() {
			m.change(func() { m.apply(change) })
		}
		err = errEnded
	}
	m.change(func() { m.err = errors.Join(m.err, err) })
}

// change calls do and wakes the snapshots that wait.
func (m *mirror) change(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
	close(m.changed)
	m.changed = make(chan struct{})
}

// apply copies a message. Nil means that the copy is complete.
func (m *mirror) apply(change jetstream.KeyValueEntry) {
	if change == nil {
		m.loaded = true
		return
	}
	m.keys[change.Key()] = true
	m.revision = change.Revision()
	name, ok := nameOf(m.dir, change)
	if !ok {
		return
	}
	if change.Operation() != jetstream.KeyValuePut {
		m.files.Remove(name)
		return
	}
	value := change.Value()
	if err := m.files.Put(name, tree.File{
		Size: int64(len(value)), Kept: int64(len(value)), Mode: 0o444, ModTime: change.Created(), Version: fmt.Sprintf("%x", sha256.Sum256(value)),
		Content: func() (io.ReaderAt, error) { return bytes.NewReader(value), nil },
	}); err != nil {
		m.err = err
		m.stop()
	}
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
		m.mu.Lock()
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
		err, ready, changed, since := m.err, m.loaded && !behind, m.changed, m.behind
		m.mu.Unlock()
		switch {
		case err != nil && fresh:
			return false, err
		case err != nil || late || gone && !fresh:
			return false, nil
		case ready:
			return true, nil
		}
		var expired <-chan time.Time
		if behind {
			expired = time.After(time.Until(since.Add(maxLag)))
		}
		select {
		case <-changed:
		case <-expired:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// snapshot returns the files of the mirror, or last if the version is the same.
func (m *mirror) snapshot(last *tree.FS) *tree.FS {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Without a message, only the number of keys tells that keys have disappeared.
	version := fmt.Sprintf("%x-%d-%d", m.created.UnixNano(), m.revision, len(m.keys))
	if last != nil && last.Version() == version {
		return last
	}
	return m.files.FS(version)
}
