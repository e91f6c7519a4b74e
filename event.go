package toolshelf

import (
	"context"
	"errors"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/observe"
)

// The values of Event.Action.
const (
	EventListed   = "listed"   // a method returned names or metadata: a list, a prompt, or a directory
	EventLoaded   = "loaded"   // a method returned the text of an entry
	EventRendered = "rendered" // arguments were filled into the text of an entry
	EventRead     = "read"     // a method returned the bytes of a file
	EventSearched = "searched" // a method returned the results of a search
	EventRefused  = "refused"  // a call by name or path found an entry or a file that the catalog does not show; see Event.Reason
	EventChanged  = "changed"  // a scan found a new, another or no file for a name
)

// An Event is a use of a catalog, for [WithObserver]. An Event has no text of a file, and no path
// of the host that neither the program nor the caller of the method has given. Name and Path of a
// failed call can be any text. If the method failed, the fields describe the attempt.
type Event struct {
	Action string // EventListed, EventLoaded, EventRendered, EventRead, EventSearched, EventRefused or EventChanged
	Reason string // of EventRefused: "filter", "gate", or "link" for a link or a path that leads outside
	Kind   Kind   // the kind of the entries; "" for files of the project
	Name   string // of one entry, as in a list; as given if no entry is known; "" for a list
	Layer  string // the directory or the FS name, as given to the option; "" without an entry
	Plugin string // the name of the plugin, or ""
	Path   string // of a file of a skill or of the project, and of Instructions, as given

	// Digest is "sha256:" and the SHA-256 of the file whose text or bytes the method returned or
	// rendered, in 64 lowercase hexadecimal digits: of EventLoaded, EventRendered, and EventRead of
	// ReadSkillFile and Skill.FS. A skill or an instruction that the gate decides about, and
	// EventRefused of the gate, has the Digest of its Item. Other events have "".
	Digest string

	Count    int           // entries of a list, and results of a search; of EventChanged without a Name, the number of further changes
	Bytes    int           // the size of the text or the bytes that the method returned
	Duration time.Duration // of the call
	Code     Code          // of the error; "" without an error, and for the error of a context
}

// WithObserver calls f after each use of the catalog, its views and the adapters, on the goroutine
// of the caller, before the method returns, with the context of the method. [Skill.FS],
// [Command.Render] and [Skill.Render] have no context, so f gets context.Background. A method whose
// arguments are invalid, except for names and paths, has no event. Reports, [Catalog.CompleteName],
// [Catalog.Lint] and [Catalog.Pending] have no event.
//
// The function f must be safe for concurrent use, and may call the catalog. The catalog holds no
// lock during f. A panic of f ends no call, and is a message at error level ([WithLogger]). The
// document docs/observe.md has the events of each method.
func WithObserver(f func(context.Context, Event)) Option {
	return optionFunc(func(c *config) {
		c.require(f != nil, "WithObserver: the function is nil; omit the option, or pass a function")
		c.require(c.observer == nil, "WithObserver: the catalog has an observer; give the option once")
		c.observer = f
	})
}

// finishEvent returns the event of a call with its duration and its error.
func finishEvent(e Event, took time.Duration, err error) Event {
	e.Duration = took
	if err == nil {
		return e
	}
	if e.Code = CodeOf(err); e.Code == CodeOutsideRoot || errors.Is(err, confine.ErrEscape) || errors.Is(err, confine.ErrSymlink) {
		e.Action, e.Reason = EventRefused, "link"
	}
	return e
}

// An outcome is what an observer learns of a reading.
type outcome struct {
	entry  *index.Entry // nil without an entry
	digest string       // of the bytes; "" without an observer
	bytes  int
	hidden bool // the filter or the gate refuses the entry
}

// of completes an event of an entry with the name of its layer.
func (e Event) of(kind string, entry *index.Entry, layer string) Event {
	e.Kind, e.Name, e.Layer, e.Plugin = Kind(kind), entry.Name, layer, entry.Plugin()
	return e
}

// seen completes the event of a call for an entry. The event has the action, and the name and the
// path as given.
func (c *collection) seen(ctx context.Context, e Event, found outcome) Event {
	e.Kind, e.Digest, e.Bytes = Kind(c.noun), found.digest, found.bytes
	if found.entry != nil {
		e = e.of(c.noun, found.entry, c.LayerOf(found.entry).Name)
	}
	if found.hidden {
		e.Action, e.Reason, e.Digest, e.Bytes = EventRefused, "filter", "", 0
		if reason, digest := c.filter.Guard.Refusal(ctx, found.entry); reason != "" {
			e.Reason, e.Digest = reason, digest
		}
	}
	return e
}

// send sends the event that seen returns.
func (c *collection) send(o observe.Call[Event], e Event, found outcome, err error) {
	if ctx := o.Context(); ctx != nil {
		o.Send(c.seen(ctx, e, found), err)
	}
}
