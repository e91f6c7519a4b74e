// Package changes tells subscribers the differences between the snapshots of indexes.
package changes

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A Change describes the differences since the last Change of a Subscriber, in the order of
// Subscriber.Lists.
type Change []Names

func (c Change) empty() bool {
	return !slices.ContainsFunc(c, func(n Names) bool { return !n.empty() })
}

// Names are the entries that a list newly shows, no longer shows, or shows with another
// file, in the order of names.Compare. Lists without names are nil.
type Names struct {
	Added   []string
	Removed []string
	Changed []string
}

func (n Names) empty() bool { return n.Added == nil && n.Removed == nil && n.Changed == nil }

// A List is an index with a selection of its entries.
type List struct {
	Index *index.Index
	// Shown, if not nil, returns the snapshot with the selected entries; Shown of nil is nil.
	Shown func(*index.Snapshot) *index.Snapshot

	// More, if not nil, adds the differences of further names to those of Shown.
	More func(*Names)

	// Since, if not nil, replaces Shown, and returns the differences between two snapshots. A
	// snapshot may be nil.
	Since func(before, now *index.Snapshot) Names
}

// since returns the differences between two snapshots of the list.
func (l List) since(before, now *index.Snapshot) Names {
	if l.Since != nil {
		return l.Since(before, now)
	}
	var n Names
	if l.Shown != nil {
		n = difference(l.Shown(before), l.Shown(now))
	}
	if l.More != nil {
		l.More(&n)
	}
	return n
}

// Add adds the differences between two maps of names. If either map is nil, Add adds no names.
func Add[T comparable](n *Names, before, now map[string]T) {
	if before == nil || now == nil {
		return
	}
	for name, old := range before {
		switch current, ok := now[name]; {
		case !ok:
			n.Removed = append(n.Removed, name)
		case current != old:
			n.Changed = append(n.Changed, name)
		}
	}
	for name := range now {
		if _, ok := before[name]; !ok {
			n.Added = append(n.Added, name)
		}
	}
	for _, list := range [][]string{n.Added, n.Removed, n.Changed} {
		slices.SortFunc(list, names.Compare)
	}
}

// difference merges two sorted lists. If either list is unknown, difference
// returns no names.
func difference(before, now *index.Snapshot) (n Names) {
	if before == nil || now == nil || before == now {
		return n
	}
	a, b := before.Entries, now.Entries
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && names.Compare(a[0].Name, b[0].Name) < 0:
			n.Removed = append(n.Removed, a[0].Name)
			a = a[1:]
		case len(a) == 0 || a[0].Name != b[0].Name:
			n.Added = append(n.Added, b[0].Name)
			b = b[1:]
		default:
			if a[0] != b[0] {
				n.Changed = append(n.Changed, a[0].Name)
			}
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// A Subscriber receives the differences of lists. The functions run without a lock of
// the Hub.
type Subscriber struct {
	Lists  []List
	Ended  *atomic.Bool         // refuses the subscription if set; see Hub.End
	Exited func(*parallel.Exit) // called if a Shown panics or calls runtime.Goexit
	Call   func(Change)         // called with each Change, in a goroutine of the subscription

	wake  chan struct{}     // holds a token after a change
	stop  chan struct{}     // closed by the Hub
	known []*index.Snapshot // of the last Change, guarded by Hub.mu; each is nil before the first snapshot
}

// last returns the last snapshots of the lists.
func (s *Subscriber) last() []*index.Snapshot {
	all := make([]*index.Snapshot, len(s.Lists))
	for i, l := range s.Lists {
		all[i] = l.Index.Last()
	}
	return all
}

// A Hub keeps the subscribers of a catalog. The zero Hub has no subscribers. All methods
// are safe for concurrent use.
type Hub struct {
	mu     sync.Mutex
	all    map[*Subscriber]bool
	closed bool
}

// Subscribe calls s.Call with the differences from the last snapshots, after each Notify
// with a difference. Several changes during a call of s.Call become one Change. After a
// panic of a Shown, the next Change also has the names that are missing. The subscription
// ends with stop, with End and with Close, which do not wait for a running s.Call, and when
// s.Call calls runtime.Goexit. A Subscriber subscribes once.
func (h *Hub) Subscribe(s *Subscriber) (stop func()) {
	s.wake, s.stop = make(chan struct{}, 1), make(chan struct{})
	if !h.add(s) {
		return func() {}
	}
	go h.follow(s)
	return func() { h.remove(s) }
}

// follow calls s.Call until the subscription ends.
func (h *Hub) follow(s *Subscriber) {
	defer h.remove(s) // s.Call may call runtime.Goexit
	for {
		select {
		case <-s.wake:
		case <-s.stop:
			return
		}
		outcome := <-parallel.Go(func() (Change, error) { return h.since(s), nil })
		if exit := outcome.Exit(); exit != nil {
			s.Exited(exit)
			continue
		}
		change, _ := outcome.Result()
		if change.empty() {
			continue
		}
		select {
		case <-s.stop:
			return
		default:
			s.Call(change)
		}
	}
}

// since returns the changes since the last call for the subscriber that has returned.
func (h *Hub) since(s *Subscriber) Change {
	h.mu.Lock()
	before, now := slices.Clone(s.known), s.last()
	h.mu.Unlock()
	change := make(Change, len(s.Lists))
	for i, l := range s.Lists {
		change[i] = l.since(before[i], now[i])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range now {
		if before[i] != nil { // an unknown snapshot stays unknown: Notify sets the snapshot before the change
			s.known[i] = now[i]
		}
	}
	return change
}

// add reads the last snapshots under the lock, so that Notify wakes the subscriber after
// every later snapshot.
func (h *Hub) add(s *Subscriber) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || s.Ended.Load() {
		return false
	}
	if h.all == nil {
		h.all = make(map[*Subscriber]bool)
	}
	s.known = s.last()
	h.all[s] = true
	return true
}

func (h *Hub) remove(s *Subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(s)
}

// drop is remove for callers that hold h.mu.
func (h *Hub) drop(s *Subscriber) {
	if h.all[s] {
		delete(h.all, s)
		close(s.stop)
	}
}

// End ends the subscriptions with the given Subscriber.Ended, which the caller has set.
func (h *Hub) End(ended *atomic.Bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.all {
		if s.Ended == ended {
			h.drop(s)
		}
	}
}

// Notify wakes every subscriber without waiting, after a change of the list with a position in
// Subscriber.Lists. A subscriber without a known snapshot of the list gets the snapshot before the
// change.
func (h *Hub) Notify(list int, before *index.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.all {
		if s.known[list] == nil {
			s.known[list] = before
		}
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// Close ends all subscriptions. After Close, Subscribe does nothing.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.all {
		h.drop(s)
	}
}

// maxAsked bounds the questions of an Asked. An Observer watches fewer directories.
const maxAsked = 2000

// An Asked has the answers to the questions that calls have asked, as first returned: a subscriber
// hears of the directories that a call has asked for. A call looks at the files even if no change
// was reported, because the system may report a change later. The zero value is empty. An Asked is
// safe for concurrent use.
type Asked[Question comparable, Answer any] struct {
	mu    sync.Mutex
	first map[Question]Answer
}

// Add adds an answer, unless an answer to the question is known.
func (a *Asked[Question, Answer]) Add(q Question, answer Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first == nil {
		a.first = map[Question]Answer{}
	}
	if _, known := a.first[q]; !known && len(a.first) < maxAsked {
		a.first[q] = answer
	}
}

// Follow returns a function that asks each question again, and adds the differences since its last
// call. The function states returns the states of the names in an answer. A question that was added
// since the last call has the first answer as its last answer.
func (a *Asked[Question, Answer]) Follow(
	ask func(Question) (Answer, error), states func(Answer) map[string]string,
) (since func(*Names)) {
	first := func() map[Question]map[string]string {
		a.mu.Lock()
		answers := maps.Clone(a.first)
		a.mu.Unlock()
		all := map[Question]map[string]string{}
		for q, answer := range answers {
			all[q] = states(answer)
		}
		return all
	}
	again := func(last map[Question]map[string]string) map[Question]map[string]string {
		all := maps.Clone(last)
		for q := range last {
			if answer, err := ask(q); err == nil {
				all[q] = states(answer)
			}
		}
		return all
	}
	seen := again(first())
	return func(n *Names) {
		last := first()
		maps.Copy(last, seen)
		current := again(last)
		Add(n, joined(last), joined(current))
		seen = current // not after a panic of a filter
	}
}

// joined returns the states of each name in the answers to all questions.
func joined[Question comparable](all map[Question]map[string]string) map[string]string {
	states := map[string][]string{}
	for _, answer := range all {
		for name, state := range answer {
			states[name] = append(states[name], state)
		}
	}
	joined := make(map[string]string, len(states))
	for name, of := range states {
		slices.Sort(of)
		joined[name] = strings.Join(slices.Compact(of), "\x00")
	}
	return joined
}
