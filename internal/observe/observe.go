// Package observe calls the observer of a catalog: a function of the program that gets events.
package observe

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/index"
)

// The limits of the memory of an Observer.
const (
	maxChanges = 256  // number of changed files that wait for the next call
	maxDigests = 1024 // number of digests
)

// An Observer calls a function of the program with events of type E. All fields are set once. A nil
// Observer observes nothing. All methods are safe for concurrent use.
type Observer[E any] struct {
	Func   func(context.Context, E)
	Finish func(e E, took time.Duration, err error) E // returns the event of a call with its duration and its error
	More   func(n int) E                              // the event of n changes without events of their own
	Logger *slog.Logger

	mu      sync.Mutex
	changes []E // found by scans since the last call
	more    int // further changes
	digests map[[sha256.Size]byte]string
}

// A Call is a call of a method. The zero Call is not observed, and its methods do nothing.
type Call[E any] struct {
	observer *Observer[E]
	ctx      context.Context
	begin    time.Time
}

// Begin returns the Call of a method that begins now.
func (o *Observer[E]) Begin(ctx context.Context) Call[E] {
	if o == nil {
		return Call[E]{}
	}
	return Call[E]{o, ctx, time.Now()}
}

// Context returns the context of the call, and nil if the call is not observed.
func (c Call[E]) Context() context.Context { return c.ctx }

// Send calls the function with the changes that scans have found, and with the event of the call.
// The caller holds no lock.
func (c Call[E]) Send(e E, err error) {
	if c.observer == nil {
		return
	}
	took := time.Since(c.begin)
	changes, more := c.observer.take()
	for _, change := range changes {
		c.call(change)
	}
	if more > 0 {
		c.call(c.observer.More(more))
	}
	c.call(c.observer.Finish(e, took, err))
}

// call calls the function, and logs a panic.
func (c Call[E]) call(e E) {
	defer func() {
		if fault := recover(); fault != nil {
			c.observer.Logger.Error("the function of WithObserver did not return; the call continues", "exit", fmt.Sprint("panic: ", fault))
		}
	}()
	c.observer.Func(c.ctx, e)
}

// Digest returns the digest of a file with the given name and bytes: of the seal if the seal has
// the file. The events of an unchanged file share a digest. A nil Observer returns "".
func (o *Observer[E]) Digest(seal *index.Seal, name string, raw []byte) string {
	if o == nil {
		return ""
	}
	sum := seal.SumOf(name, raw)
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.digests[sum]
	if known == "" {
		if o.digests == nil || len(o.digests) == maxDigests {
			o.digests = map[[sha256.Size]byte]string{}
		}
		known = index.FileDigest(sum)
		o.digests[sum] = known
	}
	return known
}

// Scanned keeps the events of the files that differ between two snapshots, for the next call.
// Scanned runs during a scan, and does not call the function.
func (o *Observer[E]) Scanned(before, now *index.Snapshot, event func(*index.Entry) E) {
	if before == nil || now == nil {
		return
	}
	known := map[index.File]*index.Entry{}
	for e := range before.Files() {
		known[e.File()] = e
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	add := func(e *index.Entry) {
		if len(o.changes) == maxChanges {
			o.more++
		} else {
			o.changes = append(o.changes, event(e))
		}
	}
	for e := range now.Files() {
		if known[e.File()] != e {
			add(e)
		}
		delete(known, e.File())
	}
	for e := range before.Files() {
		if known[e.File()] != nil {
			add(e)
		}
	}
}

// take returns and forgets the changes.
func (o *Observer[E]) take() (changes []E, more int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	changes, more = o.changes, o.more
	o.changes, o.more = nil, 0
	return changes, more
}
