package toolshelf

import (
	"context"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A Change describes the differences since the last Change of a subscriber. Names
// are in the order of List. Lists without names are nil.
type Change struct {
	Commands Names
	Skills   Names
}

// Names are the commands or skills that a list newly shows, no longer shows, or
// shows with another file.
type Names struct {
	Added   []string
	Removed []string
	Changed []string
}

func (n Names) empty() bool { return n.Added == nil && n.Removed == nil && n.Changed == nil }

// OnChange calls f with the names that were added, removed and changed, whenever
// the commands or skills differ from the previous scan. With [WithWatch], the
// catalog scans after the system reports a change. With [WithFeed], the catalog scans
// after a touch of the feed. Otherwise, every method that lists scans.
//
// The result of the first scan is not a change. With WithWatch, OnChange performs
// the first scan itself, unless the background scan of New has ended. OnChange may
// therefore read every command and skill before it returns. Without WithWatch,
// call List or ListSkills first. A missing directory is an empty list: commands in
// a directory that is created later are added, and commands in a directory that is
// removed are removed.
//
// Calls of f do not overlap and follow the order of the changes. They run in a
// goroutine of their own, and f may call every method of the catalog. All changes
// during a call of f are reported in one later Change. A slow f delays nothing
// else. A change that is undone before the call of f is not reported.
//
// The subscription ends with stop or with Close. Stop may be called several times,
// and from f. Neither stop nor Close waits for a running f. OnChange after Close
// does nothing.
//
// If f calls runtime.Goexit, the subscription ends. A panic of f ends the program.
// After a panic of a filter or of the caller's filesystem in the background, the
// catalog logs the panic (see [WithLogger]), and the next Change also has the names
// that are missing. The next method that lists reads the files again, and its caller
// receives the panic if the panic happens again. A runtime.Goexit counts as a panic.
func (c *Catalog) OnChange(f func(Change)) (stop func()) {
	if c.config.watch && !c.isClosed() {
		for _, x := range []*index.Index{c.commands.Index, c.skills.Index} {
			if x.Last() == nil {
				_, _ = x.Snapshot(context.Background()) // methods that list return the error
			}
		}
	}
	s := &subscriber{
		catalog: c,
		wake:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
		known:   snapshots{c.commands.Last(), c.skills.Last()},
	}
	if !c.changes.add(s) {
		return func() {}
	}
	if c.ended.Load() {
		c.changes.remove(s)
	}
	go func() {
		defer c.changes.remove(s) // f may call runtime.Goexit
		for {
			select {
			case <-s.wake:
			case <-s.stop:
				return
			}
			// A filter may panic, or call runtime.Goexit.
			outcome := <-parallel.Go(func() (Change, error) { return c.changeSince(s), nil })
			if exit := outcome.Exit(); exit != nil {
				c.logExit(exit)
				continue
			}
			change, _ := outcome.Result()
			if change.Commands.empty() && change.Skills.empty() {
				continue
			}
			select {
			case <-s.stop:
				return
			default:
				f(change)
			}
		}
	}()
	return func() { c.changes.remove(s) }
}

// snapshots are snapshots of the commands and of the skills. An unknown snapshot is
// nil.
type snapshots struct {
	commands, skills *index.Snapshot
}

// A subscriber receives the differences from the snapshots of its last Change.
type subscriber struct {
	catalog *Catalog      // its filters select the names
	wake    chan struct{} // holds a token after a change
	stop    chan struct{} // closed by changes
	known   snapshots     // guarded by changes.mu; each is nil before the first snapshot
}

// changeSince returns the changes since the last call for the subscriber that has returned.
func (c *Catalog) changeSince(s *subscriber) Change {
	c.changes.mu.Lock()
	before, now := s.known, snapshots{c.commands.Last(), c.skills.Last()}
	c.changes.mu.Unlock()
	change := Change{
		Commands: difference(c.commands.filter.apply(before.commands), c.commands.filter.apply(now.commands)),
		Skills:   difference(c.skills.filter.apply(before.skills), c.skills.filter.apply(now.skills)),
	}
	c.changes.mu.Lock()
	defer c.changes.mu.Unlock()
	// An unknown snapshot stays unknown: notify sets the snapshot before the change.
	if before.commands != nil {
		s.known.commands = now.commands
	}
	if before.skills != nil {
		s.known.skills = now.skills
	}
	return change
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

// changes are the subscribers of a catalog.
type changes struct {
	mu     sync.Mutex
	all    map[*subscriber]bool
	closed bool
}

func (c *changes) add(s *subscriber) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	if c.all == nil {
		c.all = make(map[*subscriber]bool)
	}
	c.all[s] = true
	return true
}

func (c *changes) remove(s *subscriber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(s)
}

// drop is remove for callers that hold c.mu.
func (c *changes) drop(s *subscriber) {
	if c.all[s] {
		delete(c.all, s)
		close(s.stop)
	}
}

// end ends all subscriptions of one catalog.
func (c *changes) end(of *Catalog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.all {
		if s.catalog == of {
			c.drop(s)
		}
	}
}

// notify wakes every subscriber without waiting, after a change of the commands or of
// the skills. A subscriber without a known snapshot gets the snapshot before the
// change.
func (c *changes) notify(before snapshots) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.all {
		if s.known.commands == nil {
			s.known.commands = before.commands
		}
		if s.known.skills == nil {
			s.known.skills = before.skills
		}
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

func (c *changes) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for s := range c.all {
		c.drop(s)
	}
}
