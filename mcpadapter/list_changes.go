package mcpadapter

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// changeDelay is the time during which changes are collected before a subscriber is
// called. An editor, a checkout or a copy makes many changes at once, and each
// call makes clients request a long list again.
const changeDelay = 100 * time.Millisecond

// OnPromptsChange calls f with the sorted names of the prompts that were added, removed or changed.
// A change of a skill counts, whether or not a user may invoke the skill. The call comes a tenth of
// a second after the first of the changes. Calls of f do not overlap. All changes during a call of
// f are reported in one later call. The names of changes that are undone before the call are
// omitted, so the list may be empty. [toolshelf.Catalog.OnChange] documents when changes are found.
// A change found immediately before the catalog's Close may be reported immediately after Close.
//
// The subscription ends with stop or with the catalog's Close. A caller may call
// stop more than once, also from f. stop does not wait for a running f.
//
// All subscriptions of an Adapter share one subscription to the catalog, so a
// further subscription costs no goroutine. The Adapter holds f until stop is
// called.
func (a *Adapter) OnPromptsChange(f func(names []string)) (stop func()) {
	return a.subscribe(&subscriber{call: f, names: func(c toolshelf.Change) toolshelf.Names {
		if !a.config.permits("get_command") {
			c.Commands = toolshelf.Names{}
		}
		if !a.config.permits("get_skill") {
			c.Skills = toolshelf.Names{}
		}
		return toolshelf.Names{Added: slices.Concat(c.Commands.Added, c.Skills.Added), Removed: slices.Concat(c.Commands.Removed, c.Skills.Removed),
			Changed: slices.Concat(c.Commands.Changed, c.Skills.Changed)}
	}})
}

// OnSkillsChange calls f with the sorted URIs of the published skills that were added,
// removed or changed: the URIs of their SKILL.md. A skill changes when its SKILL.md
// changes; the catalog does not detect changes of other files. The URI of a removed skill
// is reported if a request has listed the skill since the call of OnSkillsChange. The
// list may be empty, if no URI is known.
//
// A server sends notifications/resources/list_changed for each call of f, and
// notifications/resources/updated for each URI with a subscription (see
// Session.Subscribed). In all other respects, OnSkillsChange is like OnPromptsChange.
func (a *Adapter) OnSkillsChange(f func(uris []string)) (stop func()) {
	a.skills.Remember()
	return a.subscribe(&subscriber{
		call: func(names []string) { f(a.skills.URIs(names)) },
		names: func(c toolshelf.Change) toolshelf.Names {
			if !a.config.publishesSkills() {
				return toolshelf.Names{}
			}
			return c.Skills
		},
	})
}

// subscribe adds a subscriber until the call of stop.
func (a *Adapter) subscribe(s *subscriber) (stop func()) {
	a.changes.add(a.catalog, s)
	return func() {
		a.changes.remove(s)
		s.stop()
	}
}

// listChanges passes the changes of a catalog's lists to subscribers. The subscription to
// the catalog exists as long as a subscriber exists.
type listChanges struct {
	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
	unsubscribe func() // nil without subscribers
}

func (c *listChanges) add(catalog *toolshelf.Catalog, s *subscriber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsubscribe == nil {
		c.subscribers = make(map[*subscriber]struct{})
		c.unsubscribe = catalog.OnChange(c.distribute)
	}
	c.subscribers[s] = struct{}{}
}

func (c *listChanges) remove(s *subscriber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.subscribers, s)
	if len(c.subscribers) == 0 && c.unsubscribe != nil {
		c.unsubscribe()
		c.unsubscribe = nil
	}
}

func (c *listChanges) distribute(change toolshelf.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.subscribers {
		if n := s.names(change); n.Added != nil || n.Removed != nil || n.Changed != nil {
			s.collect(n)
		}
	}
}

// A subscriber merges the differences of one list, and calls its function with all names
// after a pause. A function that blocks therefore costs at most the names of two states of
// the list.
type subscriber struct {
	call    func(names []string)
	names   func(toolshelf.Change) toolshelf.Names // the names of the list
	calling sync.Mutex                             // held while call runs

	mu      sync.Mutex
	pending map[string]bool // names that differ since the last call; true for new names
	timer   *time.Timer     // nil while no call is due
	stopped bool
}

func (s *subscriber) collect(n toolshelf.Names) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	if s.pending == nil {
		s.pending = make(map[string]bool)
	}
	for _, name := range n.Added {
		if _, known := s.pending[name]; !known {
			s.pending[name] = true
		}
	}
	for _, name := range n.Removed {
		if s.pending[name] {
			delete(s.pending, name)
		} else {
			s.pending[name] = false
		}
	}
	for _, name := range n.Changed {
		if !s.pending[name] {
			s.pending[name] = false
		}
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(changeDelay, s.report)
	}
}

func (s *subscriber) report() {
	s.calling.Lock()
	defer s.calling.Unlock()
	s.mu.Lock()
	names := slices.Sorted(maps.Keys(s.pending))
	s.pending, s.timer = nil, nil
	stopped := s.stopped
	s.mu.Unlock()
	if !stopped {
		s.call(names)
	}
}

func (s *subscriber) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped, s.pending = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
}
