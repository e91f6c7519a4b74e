package skillsclient

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A Server provides the skills of one server. [Host.Server] returns a Server. All methods
// are safe for concurrent use. Every method with a context returns the context's error if
// the context ends, context.DeadlineExceeded after [Host.Timeout], [ErrClosed] after Close,
// mcp.ErrConnectionClosed after the end of the session, and a *jsonrpc.Error of the server,
// each within an [Error].
type Server struct {
	host      *Host
	label     string
	session   *mcp.ClientSession
	timeout   time.Duration
	announces bool // the server declares list_changed
	maxList   int  // bytes of all entries

	changes  atomic.Uint64 // counts the calls of Refresh
	suspects atomic.Uint64 // counts the reads that failed, perhaps because an entry is outdated
	closed   atomic.Bool
	turn     chan struct{} // held by the one list in progress

	contents index.Cache[[]byte] // verified files, by the digest as the path

	mu    sync.Mutex
	state *state // of the last list
}

// A state is a list and the entries of Get. It is immutable.
type state struct {
	list     Listing
	entries  map[string]*held    // by Dir
	top      func() *filetree.FS // the directories of the entries
	changes  uint64              // Server.changes when the list began
	suspects uint64              // Server.suspects when the list began
	began    time.Time           // when the list began; zero before the first list
	extra    int                 // entries of Get that the list did not contain
	failure  *Error              // why the last list failed; the entries are then those of the list before
	expires  time.Time           // zero if only a notification makes the list stale
}

// Close ends the use of the server and frees the label. All later calls return [ErrClosed],
// and the layers of FS contain no skills. Close does not close the session. Close always
// returns nil.
func (s *Server) Close() error {
	s.host.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	s.state = s.failed(&state{entries: map[string]*held{}}, s.fail("", ErrClosed))
	s.contents.Retain(func(index.File) bool { return false })
	return nil
}

// Refresh makes the next call of List and the next call of a layer list the skills again.
// Refresh sends no request. The notification list_changed calls Refresh.
func (s *Server) Refresh() { s.changes.Add(1) }

// A Listing is the result of [Server.List]. An incomplete list is legal: [Server.Get] finds
// skills that the server does not list.
type Listing struct {
	Skills   []Skill  // of the list and of Get, by the bytes of Dir
	Rejected []*Error // why other entries cannot be used, in the order of the server; the last may be why the list is incomplete
}

// List returns the skills of the server. List reads no file of a skill. The result shares its
// memory with later results; do not modify the result.
//
// List sends skills/list if the last list is stale: after Refresh, when its ttlMs has passed, and
// after a read that the server refused or that returned other content. Without a ttlMs, the list
// stays fresh until list_changed if the server declares listChanged, and is stale at once
// otherwise. Calls at the same time share one list.
//
// An entry that fails a check is in Rejected, with [ErrInvalidEntry], [ErrTooLarge] or
// [ErrDynamic], and affects no other entry. If the list is longer than 1,000 pages, 10,000
// entries, 32 MiB or 1,048,576 JSON values, the last of Rejected is an [ErrInvalidList]. If a list
// fails, later calls return the same error for 10 seconds or until Refresh.
func (s *Server) List(ctx context.Context) (Listing, error) {
	st, err := s.current(ctx)
	if err != nil {
		return Listing{}, err
	}
	if st.failure != nil {
		return Listing{}, st.failure
	}
	return st.list, nil
}

// Get returns the current entry of a skill, listed or not, and sends skills/get. The entry
// replaces the entry in the layers of FS, which show up to 1,000 unlisted skills. Get reads
// no file of the skill.
//
// Get returns [ErrNotFound] if the server does not serve the skill, and removes the skill
// from the layers. Get also returns the errors of an entry that List describes, and
// [ErrInvalidEntry] if the layers have the skill with another encoding of the URI.
func (s *Server) Get(ctx context.Context, uri string) (Skill, error) {
	_, dir, invalid := parseSkillURI(s.label, uri)
	if invalid != nil {
		return Skill{}, s.fail(uri, invalid)
	}
	s.mu.Lock()
	before := s.state.entries[dir]
	s.mu.Unlock()
	h, err := s.requestEntry(ctx, uri)
	switch {
	case errors.Is(err, ErrNotFound) && before != nil && before.URI == uri:
		s.drop(before)
	case err == nil && h.broken != nil:
		return Skill{}, h.broken
	case err == nil:
		err = s.hold(h)
	}
	if err != nil {
		return Skill{}, err
	}
	return h.Skill, nil
}

// maxExtra bounds the entries of Get that the list does not contain.
const maxExtra = 1000

// hold adds an entry of Get to the state. Another encoding of the URI of a held entry is an
// error, as in a list.
func (s *Server) hold(h *held) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := s.state.entries[h.Dir]
	if other != nil && other.URI != h.URI {
		return s.fail(h.URI, samePath(other))
	}
	if h.extra = other == nil || other.extra; s.closed.Load() || other == nil && s.state.extra >= maxExtra {
		return nil
	}
	s.change(func(entries map[string]*held) { entries[h.Dir] = h })
	return nil
}

// change replaces the state by a state with other entries. The caller holds s.mu.
func (s *Server) change(do func(entries map[string]*held)) {
	st := *s.state
	st.entries = maps.Clone(st.entries)
	do(st.entries)
	s.state = s.finish(&st)
}

// samePath returns the error for an entry with the path of another entry.
func samePath(other *held) *Error {
	return failf(ErrInvalidEntry, "the server has another entry for the same path, %s", quote(other.URI))
}

// drop removes an entry that the server no longer serves. An entry of a later list stays.
func (s *Server) drop(h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.entries[h.Dir] == h {
		s.change(func(entries map[string]*held) { delete(entries, h.Dir) })
	}
}

// current returns a fresh state, which may be the state of a failed list.
func (s *Server) current(ctx context.Context) (*state, error) {
	return s.stateWith(ctx, func(st *state) bool {
		return (st.expires.IsZero() || time.Now().Before(st.expires)) && st.suspects >= s.suspects.Load()
	})
}

// heldState returns the state that holds the entries of the last list, even if its ttlMs has
// passed. A call that reads several files therefore sees the entries of one list. If many
// reads fail, heldState lists again once in a second, and not after each read.
func (s *Server) heldState(ctx context.Context) (*state, error) {
	return s.stateWith(ctx, func(st *state) bool {
		if st.failure != nil {
			return time.Now().Before(st.expires)
		}
		return st.suspects >= s.suspects.Load() || time.Since(st.began) < time.Second
	})
}

// stateWith returns the state if fresh accepts the state, or else the state of a new list. The
// error is the error of ctx.
func (s *Server) stateWith(ctx context.Context, fresh func(*state) bool) (*state, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.fail("", err)
	}
	wanted, began := s.changes.Load(), time.Now()
	kept := func() *state {
		s.mu.Lock()
		defer s.mu.Unlock()
		st := s.state
		if s.closed.Load() || st.changes >= wanted && !st.began.IsZero() &&
			(fresh(st) || st.began.After(began)) {
			return st
		}
		return nil
	}
	if st := kept(); st != nil {
		return st, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, s.fail("", ctx.Err())
	}
	if st := kept(); st != nil {
		return st, nil
	}
	st := &state{entries: make(map[string]*held), changes: s.changes.Load(), suspects: s.suspects.Load(), began: time.Now()}
	list, err := ask(ctx, s, s.requestList)
	if err != nil && ctx.Err() != nil {
		return nil, s.fail("", ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed.Load():
	case err != nil:
		st.entries = maps.Clone(s.state.entries)
		st.expires = time.Now().Add(retryAfter)
		s.state = s.failed(st, s.fail("", err))
	default:
		s.addList(st, list)
		for dir, h := range s.state.entries {
			if h.extra && st.entries[dir] == nil {
				st.entries[dir] = h
			}
		}
		s.state = s.finish(st)
	}
	return s.state, nil
}

// retryAfter is the duration for which a failed list is not repeated.
const retryAfter = 10 * time.Second

// addList fills a state with the list of the server.
func (s *Server) addList(st *state, list pageList) {
	switch {
	case list.ttl != nil:
		st.expires = st.began.Add(*list.ttl)
	case !s.announces:
		st.expires = st.began
	}
	for _, h := range list.entries {
		if other := st.entries[h.Dir]; h.Dir != "" && other != nil {
			h = rejected(s.label, h.URI, samePath(other))
			h.Dir = ""
		}
		if h.broken != nil {
			st.list.Rejected = append(st.list.Rejected, h.broken)
		}
		if h.Dir != "" {
			st.entries[h.Dir] = h
		}
	}
	if list.incomplete != nil {
		st.list.Rejected = append(st.list.Rejected, list.incomplete)
		st.report(incompleteDir, list.incomplete, s.label)
	}
}

// failedDir and incompleteDir follow the label in the name of the directory that reports a
// failed list or an incomplete list. Neither a local skill nor [Skill.Dir] has such a name, and
// every system accepts the name.
const (
	failedDir     = ".(failed)"
	incompleteDir = ".(incomplete)"
)

// failed returns the state with a directory that reports why the list failed.
func (s *Server) failed(st *state, failure *Error) *state {
	st.failure = failure
	st.report(failedDir, failure, s.label)
	return s.finish(st)
}

// report adds a directory that reports a problem of the list.
func (st *state) report(name string, problem *Error, label string) {
	h := rejected(label, "", problem)
	h.Dir = label + name
	st.entries[h.Dir] = h
}

// finish returns the state with the fields that derive from entries.
func (s *Server) finish(st *state) *state {
	st.list.Skills, st.extra = make([]Skill, 0, len(st.entries)), 0
	for _, dir := range slices.Sorted(maps.Keys(st.entries)) {
		h := st.entries[dir]
		if h.broken == nil {
			st.list.Skills = append(st.list.Skills, h.Skill)
		}
		if h.extra {
			st.extra++
		}
	}
	entries := st.entries
	st.top = sync.OnceValue(func() *filetree.FS {
		return filetree.New("", func(yield func(string, filetree.File) bool) {
			for dir := range entries {
				if !yield(dir+"/"+skillFile, filetree.File{}) {
					return
				}
			}
		})
	})
	return st
}
