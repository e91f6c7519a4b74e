package toolshelf

import (
	"context"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// A Change says what is different since a subscriber was told last. Names are
// sorted as List sorts them, and nil where there are none.
type Change struct {
	Commands Names
	Skills   Names
}

// Names are the commands or skills that a list shows and did not, showed and
// does no more, or shows with another file.
type Names struct {
	Added   []string
	Removed []string
	Changed []string
}

func (n Names) empty() bool { return n.Added == nil && n.Removed == nil && n.Changed == nil }

// OnChange calls f with the names that were added, removed and changed,
// whenever the commands or skills differ from the last look at the files. With
// WithWatch the catalog looks when the system tells of a change. Without it,
// every method that lists looks.
//
// The result of the first look is no change. With WithWatch, OnChange takes the
// first look itself, unless New's background look has ended, and so may read
// every command and skill before it returns. Without WithWatch, call List or
// ListSkills first. A missing directory is an empty list: commands in a
// directory that comes later are added, and commands in a directory that goes
// are removed.
//
// Calls of f do not overlap, and come in the order of the changes, from a
// goroutine of f's own: what happens while f runs is told in one Change
// afterwards, and a slow f holds up nobody. A change that was undone before f
// could be told is not told.
//
// The subscription ends with stop, which may be called more than once and from
// f, or with Close. Neither waits for an f that is running. OnChange after Close
// does nothing.
func (c *Catalog) OnChange(f func(Change)) (stop func()) {
	if c.config.watch && !c.isClosed() {
		for _, x := range []*index.Index{c.commands, c.skills} {
			if x.Last() == nil {
				_, _ = x.Snapshot(context.Background()) // a call that lists tells of the error
			}
		}
	}
	s := &subscriber{
		catalog:  c,
		wake:     make(chan struct{}, 1),
		stop:     make(chan struct{}),
		commands: c.commands.Last(),
		skills:   c.skills.Last(),
	}
	if !c.changes.add(s) {
		return func() {}
	}
	if c.ended.Load() {
		c.changes.remove(s)
	}
	go func() {
		for {
			select {
			case <-s.wake:
			case <-s.stop:
				return
			}
			change := c.since(s)
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

// A subscriber is told what differs from the snapshots that it was told of last.
type subscriber struct {
	catalog          *Catalog        // whose filters choose what it is told
	wake             chan struct{}   // has a token after something changed
	stop             chan struct{}   // closed by changes
	commands, skills *index.Snapshot // guarded by changes.mu; nil before the first
}

// since returns what has changed for a subscriber since it was asked last.
func (c *Catalog) since(s *subscriber) Change {
	c.changes.mu.Lock()
	commands, skills := c.commands.Last(), c.skills.Last()
	knownCommands, knownSkills := s.commands, s.skills
	// What is not known yet stays so: signal is about to say what came before.
	if s.commands != nil {
		s.commands = commands
	}
	if s.skills != nil {
		s.skills = skills
	}
	c.changes.mu.Unlock()
	return Change{
		Commands: difference(c.commandFilter.of(knownCommands), c.commandFilter.of(commands)),
		Skills:   difference(c.skillFilter.of(knownSkills), c.skillFilter.of(skills)),
	}
}

// difference merges two sorted lists. To a list that was not known, nothing is
// new.
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

// drop is remove for who holds c.mu.
func (c *changes) drop(s *subscriber) {
	if c.all[s] {
		delete(c.all, s)
		close(s.stop)
	}
}

// end ends the subscriptions of one catalog.
func (c *changes) end(of *Catalog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.all {
		if s.catalog == of {
			c.drop(s)
		}
	}
}

// signal wakes every subscriber, and waits for none. One who knew of no
// snapshot yet is taken to know the one before the change.
func (c *changes) signal(known func(*subscriber) **index.Snapshot, before *index.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.all {
		if last := known(s); *last == nil {
			*last = before
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
