package toolshelf

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/lifetime"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// await is lifetime.Await.
func await[T any](ctx context.Context, c *Catalog, do func(context.Context) (T, error)) (T, error) {
	return lifetime.Await(ctx, c.lifetime, do)
}

// awaitRoot is await. If do reads only files below the root, inRoot is true. On a local disk, no
// system call waits for a network or another program, and do looks at its context
// between system calls. There, do runs on the caller's goroutine, because another
// goroutine can cost more than a small directory.
func awaitRoot[T any](ctx context.Context, c *Catalog, inRoot bool, do func(context.Context) (T, error)) (T, error) {
	if inRoot && c.onDisk() {
		return lifetime.Direct(ctx, c.lifetime, do)
	}
	return await(ctx, c, do)
}

// onDisk reports whether all files below the root are on a local disk.
func (c *Catalog) onDisk() bool { return c.local != nil && c.local.Local() }

// newReporter returns a reporter, or nil if f is nil. count returns numbers that never
// decrease.
func newReporter(f func(Progress), count func() (entries, files int64)) *parallel.Reporter {
	if f == nil {
		return nil
	}
	return parallel.NewReporter(func(entries, files int, done bool) { f(Progress{entries, files, done}) }, count)
}

// reporter returns the reporter of a call with WithProgress, or nil.
func (o *dirOptions) reporter() *parallel.Reporter {
	if o.progress == nil {
		return nil
	}
	seen, searched := new(atomic.Int64), new(atomic.Int64)
	o.seen, o.searched = seen, searched
	return newReporter(o.progress, func() (entries, files int64) { return seen.Load(), searched.Load() })
}

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
