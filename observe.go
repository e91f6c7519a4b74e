package toolshelf

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// The values of Event.Action.
const (
	EventListed   = "listed"   // a method returned a list, a prompt or the instructions of a file
	EventLoaded   = "loaded"   // a method returned the text of an entry, or failed
	EventRendered = "rendered" // arguments were filled into the text of an entry
	EventRead     = "read"     // a method returned the bytes of a file of a skill or of the project
	EventSearched = "searched" // a method returned the results of a search
	EventRefused  = "refused"  // a call by name or path found an entry or a file that the catalog does not show; see Event.Reason
	EventChanged  = "changed"  // a scan found a new, another or no file for a name
)

// An Event is a use of a catalog, for [WithObserver]. An Event has host paths and no text of a file.
type Event struct {
	Action string // EventListed, EventLoaded, EventRendered, EventRead, EventSearched, EventRefused or EventChanged
	Reason string // of EventRefused: "filter", "gate", or "link" for a link or a path that leads outside
	Kind   Kind   // the kind of the entries; "" for files of the project, and for lists of several kinds
	Name   string // the name of one entry, or as given by the caller if the call failed; "" for a list
	Layer  string // as in Item; "" without an entry
	Plugin string // the name of the plugin, or ""
	Path   string // of EventRead: the path as given by the caller; of a search in files, the directory

	// Digest is "sha256:" and 64 hexadecimal digits, of the bytes that the method returned or rendered. A skill of a gated layer
	// has the Digest of its Item. A skill of [Catalog.Skills] has a Digest only in a gated layer.
	Digest string

	Count    int           // entries of a list, results of a search; of EventChanged without a Name, the number of further changes
	Bytes    int           // size of the text or of the bytes that the method returned
	Duration time.Duration // of the call
	Code     Code          // of the error; "" without an error, and for the error of a context
}

// WithObserver calls f after each use of the catalog, its views and the adapters: each list, prompt, search and call by name,
// each read of a file of a skill, ReadFile and Grep, and each Render of a command or a skill of the catalog. The calls run on the
// goroutine of the caller, before the method returns, with the context of the method. [Skill.FS], [Command.Render] and [Skill.Render]
// have no context, so f gets context.Background. The time of f is a part of the time of the method.
//
// A range such as [Catalog.Skills] has an event for each loaded entry, and EventListed at the end. [Catalog.Expand] has EventLoaded and
// EventRendered. The changes of a scan, at most 256 names, come before the next event. Metadata of files, reports, Lint and
// Pending have no event.
//
// The function f must be safe for concurrent use, and may call the catalog, with events of these calls. The catalog holds no
// lock during f. A panic of f ends no call, and is a message at error level ([WithLogger]). The document docs/observe.md has the details.
func WithObserver(f func(context.Context, Event)) Option {
	return optionFunc(func(c *config) error {
		if f == nil {
			return invalidOption("WithObserver: the function is nil; omit the option, or pass a function")
		}
		if c.observer != nil {
			return invalidOption("WithObserver: the catalog has an observer; give the option once")
		}
		c.observer = f
		return nil
	})
}

// An observation is a call of a method. Without an observer, an observation is zero, and no method of an observation does anything.
type observation struct {
	catalog *Catalog
	ctx     context.Context
	begin   time.Time
}

// observe begins an observation.
func (c *Catalog) observe(ctx context.Context) observation {
	if c == nil || c.config.observer == nil {
		return observation{}
	}
	return observation{c, ctx, time.Now()}
}

// send calls the observer with the changes of scans and the event. The caller holds no lock.
func (o observation) send(e Event, err error) {
	if o.catalog == nil {
		return
	}
	for _, change := range o.catalog.scanned.take() {
		o.call(change)
	}
	if err != nil {
		if e.Code = CodeOf(err); e.Code == CodeOutsideRoot || errors.Is(err, confine.ErrEscape) || errors.Is(err, confine.ErrSymlink) {
			e.Action, e.Reason = EventRefused, "link"
		}
	}
	e.Duration = time.Since(o.begin)
	o.call(e)
}

func (o observation) call(e Event) {
	config := &o.catalog.config
	defer func() {
		if fault := recover(); fault != nil {
			config.logger.Error("the function of WithObserver did not return; the call continues", "exit", fmt.Sprint("panic: ", fault))
		}
	}()
	config.observer(o.ctx, e)
}

// An observable is a result with a text of an entry.
type observable interface {
	// event returns the event of the load.
	event(c *Catalog) Event
}

func (c Command) event(in *Catalog) Event {
	return Event{Kind: KindCommand, Name: c.Name, Layer: in.commands.fullLayer(c.Layer), Plugin: c.Plugin, Digest: c.Source.digest, Bytes: max(len(c.Raw), len(c.Content))}
}

func (s Skill) event(in *Catalog) Event {
	e := Event{Kind: KindSkill, Name: s.Name, Layer: in.skills.fullLayer(s.Layer), Plugin: s.Plugin, Digest: s.Source.digest, Bytes: max(len(s.Raw), len(s.Content))}
	if e.Digest == "" {
		e.Digest = digestOf(s.Raw)
	}
	return e
}

func (a Agent) event(in *Catalog) Event {
	return Event{Kind: KindAgent, Name: a.Name, Layer: in.agents.fullLayer(a.Layer), Plugin: a.Plugin, Digest: digestOf(a.Raw), Bytes: max(len(a.Raw), len(a.Content))}
}

func digestOf(raw []byte) string {
	if raw == nil {
		return ""
	}
	return index.FileDigest(sha256.Sum256(raw))
}

// fullLayer returns the Item.Layer of a layer with a name.
func (c *collection[Info]) fullLayer(name string) string {
	for i := range c.full {
		if c.Layer(i).Name == name {
			return c.full[i]
		}
	}
	return ""
}

// loaded ends the observation of a call for one entry.
func loaded[T observable, Info any](o observation, in *collection[Info], name, stem string, value T, err error) {
	switch {
	case o.catalog == nil:
	case err != nil:
		o.send(in.failed(o.ctx, Event{Action: EventLoaded, Kind: Kind(in.noun), Name: name}, stem, err), err)
	default:
		e := value.event(o.catalog)
		e.Action = EventLoaded
		o.send(e, nil)
	}
}

// failed completes the event of a call by name that failed. If a filter or the gate hides the entry, the call is refused.
func (c *collection[Info]) failed(ctx context.Context, e Event, stem string, err error) Event {
	all := c.Last()
	if all == nil {
		return e
	}
	entry, _ := all.Find(e.Name, stem)
	if entry == nil {
		return e
	}
	e = c.located(e, entry)
	switch {
	case CodeOf(err) != c.notFound:
	case !c.filter.guard.allows(ctx, entry):
		e.Action, e.Reason, e.Digest = EventRefused, "gate", c.filter.guard.item(entry).Digest
	case c.filter.apply(ctx, all).Lookup(entry.Name) == nil:
		e.Action, e.Reason = EventRefused, "filter"
	}
	return e
}

// located adds the name and the place of an entry.
func (c *collection[Info]) located(e Event, entry *index.Entry) Event {
	e.Name, e.Layer, e.Plugin = entry.Name, c.full[entry.Layer()], entry.Plugin()
	return e
}

// readSkill ends the observation of a read of a file of a skill.
func (o observation) readSkill(skill, path string, raw []byte, err error) {
	if o.catalog == nil {
		return
	}
	e, in := Event{Action: EventRead, Kind: KindSkill, Name: skill, Path: path, Digest: digestOf(raw), Bytes: len(raw)}, o.catalog.skills
	if err != nil {
		e = in.failed(o.ctx, e, skill, err)
	} else if entry, _ := in.Last().Find(skill); entry != nil {
		e = in.located(e, entry)
	}
	o.send(e, err)
}

// observed is a range with an event for each value that has a text, and an event at the end.
func observed[T any](ctx context.Context, c *Catalog, kind Kind, all iter.Seq2[T, error]) iter.Seq2[T, error] {
	if c.config.observer == nil {
		return all
	}
	return func(yield func(T, error) bool) {
		o := c.observe(ctx)
		listed := Event{Action: EventListed, Kind: kind}
		var failure error
		for value, err := range all {
			if err != nil {
				failure = err
			} else {
				listed.Count++
			}
			if text, ok := any(value).(observable); ok && err == nil {
				e := text.event(c)
				e.Action = EventLoaded
				o.send(e, nil)
			}
			if !yield(value, err) {
				break
			}
		}
		o.send(listed, failure)
	}
}

// maxScanned is the number of changed names that wait for the next call.
const maxScanned = 256

// scanned are the changes since the last event.
type scanned struct {
	mu   sync.Mutex
	all  []Event
	more int
}

// add appends the differences between two snapshots.
func (s *scanned) add(kind Kind, layers []string, before, now *index.Snapshot) {
	if before == nil || now == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(e *index.Entry) {
		if len(s.all) == maxScanned {
			s.more++
			return
		}
		s.all = append(s.all, Event{Action: EventChanged, Kind: kind, Name: e.Name, Layer: layers[e.Layer()], Plugin: e.Plugin()})
	}
	for e := range now.Winners() {
		if before.Lookup(e.Name) != e {
			add(e)
		}
	}
	for e := range before.Winners() {
		if now.Lookup(e.Name) == nil {
			add(e)
		}
	}
}

// take returns and forgets the changes.
func (s *scanned) take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	if s.more > 0 {
		all = append(all, Event{Action: EventChanged, Count: s.more})
	}
	s.all, s.more = nil, 0
	return all
}

// invoked ends the observation of a call for a command or a skill.
func (o observation) invoked(name string, x Expansion, err error) {
	switch {
	case o.catalog == nil:
	case x.Skill != nil:
		loaded(o, o.catalog.skills, name, name, *x.Skill, nil)
	case x.Command != nil:
		loaded(o, o.catalog.commands, name, name, *x.Command, nil)
	default:
		e := o.catalog.skills.failed(o.ctx, Event{Action: EventLoaded, Kind: KindSkill, Name: name}, name, &Error{Code: CodeSkillNotFound})
		if e.Reason == "" {
			e = o.catalog.commands.failed(o.ctx, Event{Action: EventLoaded, Kind: KindCommand, Name: name}, name, err)
		}
		o.send(e, err)
	}
}
