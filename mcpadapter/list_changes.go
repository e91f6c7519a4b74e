package mcpadapter

import (
	"slices"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// changeDelay is the time during which changes are collected before a subscriber is
// called. An editor, a checkout or a copy makes many changes at once, and each
// call makes clients request a long list again.
const changeDelay = 100 * time.Millisecond

// OnPromptsChange calls f with the sorted names of the prompts that were added,
// removed or changed. The call comes a tenth of a second after the first of the
// changes. Calls of f do not overlap. [toolshelf.Catalog.OnChange] documents when
// changes are found. A change found immediately before the catalog's Close may
// be reported immediately after Close.
//
// The subscription ends with stop or with the catalog's Close. A caller may call
// stop more than once, also from f. stop does not wait for a running f.
//
// All subscriptions of an Adapter share one subscription to the catalog, so a
// further subscription costs no goroutine. The Adapter holds f until stop is
// called.
func (a *Adapter) OnPromptsChange(f func(names []string)) (stop func()) {
	s := &promptSubscriber{call: f}
	a.changes.add(a.catalog, s)
	return func() {
		a.changes.remove(s)
		s.stop()
	}
}

// promptChanges passes the changes of a catalog's commands to subscribers. The
// subscription to the catalog exists as long as a subscriber exists.
type promptChanges struct {
	mu          sync.Mutex
	subscribers map[*promptSubscriber]struct{}
	unsubscribe func() // nil without subscribers
}

func (c *promptChanges) add(catalog *toolshelf.Catalog, s *promptSubscriber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsubscribe == nil {
		c.subscribers = make(map[*promptSubscriber]struct{})
		c.unsubscribe = catalog.OnChange(c.distribute)
	}
	c.subscribers[s] = struct{}{}
}

func (c *promptChanges) remove(s *promptSubscriber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.subscribers, s)
	if len(c.subscribers) == 0 && c.unsubscribe != nil {
		c.unsubscribe()
		c.unsubscribe = nil
	}
}

func (c *promptChanges) distribute(change toolshelf.Change) {
	names := slices.Concat(change.Commands.Added, change.Commands.Removed, change.Commands.Changed)
	if names == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.subscribers {
		s.collect(names)
	}
}

// A promptSubscriber collects names, and calls its function with all of them
// after a pause.
type promptSubscriber struct {
	call    func(names []string)
	calling sync.Mutex // held while call runs

	mu      sync.Mutex
	pending []string
	timer   *time.Timer // nil while no call is due
	stopped bool
}

func (s *promptSubscriber) collect(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.pending = append(s.pending, names...)
	if s.timer == nil {
		s.timer = time.AfterFunc(changeDelay, s.report)
	}
}

func (s *promptSubscriber) report() {
	s.calling.Lock()
	defer s.calling.Unlock()
	s.mu.Lock()
	names := s.pending
	s.pending, s.timer = nil, nil
	s.mu.Unlock()
	if names == nil { // stop came first
		return
	}
	slices.Sort(names)
	s.call(slices.Compact(names))
}

func (s *promptSubscriber) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped, s.pending = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
}
