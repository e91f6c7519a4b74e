package toolshelf

import (
	"context"

	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/index"
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
	return c.changes.Subscribe(&changes.Subscriber{
		Commands: changes.List{Index: c.commands.Index, Shown: c.commands.filter.apply},
		Skills:   changes.List{Index: c.skills.Index, Shown: c.skills.filter.apply},
		Ended:    &c.ended,
		Exited:   c.logExit,
		Call:     func(change changes.Change) { f(Change{Names(change.Commands), Names(change.Skills)}) },
	})
}
