package skillsclient

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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

	changes atomic.Uint64 // counts the reasons to list again
	closed  atomic.Bool
	turn    chan struct{} // held by the one list in progress

	mu    sync.Mutex
	state *state           // the last list; nil before the first
	extra map[string]*held // entries of Get that the list did not contain, by Dir
	cache cache
}

// A state is a list and the entries of Get. It is immutable.
type state struct {
	list    Listing
	entries map[string]*held // by Dir
	dirs    []string         // keys of entries in order
	changes uint64           // Server.changes when the list began
	began   time.Time        // when the list began
	expires time.Time        // zero if only a notification makes the list stale
}

// Label returns the label of the server.
func (s *Server) Label() string { return s.label }

// Close ends the use of the server and frees the label. All later calls, and the calls of
// the layers of FS, return [ErrClosed]. Close does not close the session. Close always
// returns nil.
func (s *Server) Close() error {
	s.closed.Store(true)
	s.host.remove(s)
	return nil
}

// Refresh makes the next call of List and the next call of a layer list the skills again.
// Refresh sends no request. The notification list_changed, a read that the server
// refuses, and content with another size or digest call Refresh.
func (s *Server) Refresh() { s.changes.Add(1) }

// A Listing is the result of [Server.List]. An incomplete list is legal: [Server.Get] finds
// skills that the server does not list.
type Listing struct {
	Skills   []Skill  // of the list and of Get, by the bytes of Dir
	Rejected []*Error // why other entries of the list cannot be used, in the order of the server
}

// List returns the skills of the server. List reads no file of a skill. The result shares
// its memory with later results; do not modify the result.
//
// List sends skills/list if the last list is stale: after Refresh and when the ttlMs of the
// list has passed. If a legacy server sends no ttlMs, the list stays fresh until list_changed
// if the server declares listChanged, and is stale at once otherwise. Calls at the same time
// share one list.
//
// An entry that fails a check is in Rejected, with [ErrInvalidEntry], [ErrTooLarge] or
// [ErrDynamic], and affects no other entry. If a URI occurs twice, or two URIs differ only in
// their encoding, List rejects all but the first. List returns [ErrInvalidList] for more than
// 1,000 pages, 10,000 entries or 32 MiB of entries, and for a cursor that occurs twice.
func (s *Server) List(ctx context.Context) (Listing, error) {
	st, err := s.current(ctx)
	if err != nil {
		return Listing{}, err
	}
	return st.list, nil
}

// Get returns the current entry of a skill, listed or not, and sends skills/get. The entry
// replaces the entry in the layers of FS. Get reads no file of the skill.
//
// Get returns [ErrNotFound] if the server does not serve the skill, and the errors of an
// entry that List describes.
func (s *Server) Get(ctx context.Context, uri string) (Skill, error) {
	if _, _, err := parseSkillURI(s.label, uri); err != nil {
		err.Server, err.URI = s.label, uri
		return Skill{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	h, err := s.requestEntry(ctx, uri)
	if err != nil {
		return Skill{}, err
	}
	if h.broken != nil {
		return Skill{}, h.broken
	}
	s.hold(h)
	return h.Skill, nil
}

// hold adds an entry of Get to the state.
func (s *Server) hold(h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.extra == nil {
		s.extra = make(map[string]*held)
	}
	s.extra[h.Dir] = h
	if s.state != nil {
		st := *s.state
		st.entries = maps.Clone(st.entries)
		st.entries[h.Dir] = h
		s.state = st.finish()
	}
}

// current returns a fresh state.
func (s *Server) current(ctx context.Context) (*state, error) {
	return s.stateWith(ctx, func(st *state) bool { return st.expires.IsZero() || time.Now().Before(st.expires) })
}

// heldState returns the state that holds the entries of the last list, even if its ttlMs has
// passed. A call that reads several files therefore sees the entries of one list.
func (s *Server) heldState(ctx context.Context) (*state, error) {
	return s.stateWith(ctx, func(*state) bool { return true })
}

func (s *Server) stateWith(ctx context.Context, fresh func(*state) bool) (*state, error) {
	wanted := s.changes.Load()
	began := time.Now()
	kept := func() *state {
		s.mu.Lock()
		defer s.mu.Unlock()
		if st := s.state; st != nil && st.changes >= wanted && (fresh(st) || st.began.After(began)) {
			return st
		}
		return nil
	}
	if s.closed.Load() {
		return nil, s.fail("", ErrClosed)
	}
	if st := kept(); st != nil {
		return st, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, s.fail("", ctx.Err())
	}
	if st := kept(); st != nil {
		return st, nil
	}
	return s.list(ctx)
}

// list requests the list.
func (s *Server) list(ctx context.Context) (*state, error) {
	st := &state{entries: make(map[string]*held), changes: s.changes.Load(), began: time.Now()}
	all, ttl, err := s.requestList(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case ttl != nil:
		st.expires = st.began.Add(*ttl)
	case !s.announces:
		st.expires = st.began
	}
	for _, h := range all {
		if other := st.entries[h.Dir]; h.Dir != "" && other != nil {
			h = rejected(s.label, h.URI, failf(ErrInvalidEntry, "the list contains another entry for the same path, %s", quote(other.URI)))
			h.Dir = ""
		}
		if h.broken != nil {
			st.list.Rejected = append(st.list.Rejected, h.broken)
		}
		if h.Dir != "" {
			st.entries[h.Dir] = h
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir, h := range s.extra {
		if st.entries[dir] != nil {
			delete(s.extra, dir)
			continue
		}
		st.entries[dir] = h
	}
	s.state = st.finish()
	return s.state, nil
}

// finish returns the state with the fields that derive from entries.
func (st state) finish() *state {
	st.dirs = slices.Sorted(maps.Keys(st.entries))
	st.list.Skills = make([]Skill, 0, len(st.dirs))
	for _, dir := range st.dirs {
		if h := st.entries[dir]; h.broken == nil {
			st.list.Skills = append(st.list.Skills, h.Skill)
		}
	}
	return &st
}
