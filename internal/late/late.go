// Package late shares reads between concurrent calls. A call that has waited long enough returns
// without the result of a read. The read continues, and later calls get the result.
package late

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// Reads holds the reads in progress. All methods are safe for concurrent use.
type Reads[K comparable, V any] struct {
	config Config[K, V]
	slots  chan struct{} // has an element for each running read

	mu  sync.Mutex
	all map[K]*Read[V] // guarded by mu
}

// A Config has the functions and the limits of Reads.
type Config[K comparable, V any] struct {
	Read     func(K) V
	Max      int             // reads at the same time
	Lifetime context.Context // after its end, no read begins
	Enter    func() bool     // called before a read; false refuses the read
	Leave    func()          // called after a read
}

// New returns a Reads without a read in progress.
func New[K comparable, V any](config Config[K, V]) *Reads[K, V] {
	return &Reads[K, V]{config: config, slots: make(chan struct{}, config.Max), all: make(map[K]*Read[V])}
}

// A Read is a read that has begun.
type Read[V any] struct {
	done  chan struct{} // closed when value and exit are set
	value V
	// A panic or runtime.Goexit of the reading function, passed on to each waiting call.
	exit *parallel.Exit
	late atomic.Bool // a call has stopped waiting
}

// Start returns the read in progress for a key, or starts a read. If Enter refuses the read, Start
// returns a completed read with a zero value.
func (r *Reads[K, V]) Start(key K) *Read[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if read := r.all[key]; read != nil {
		return read
	}
	read := &Read[V]{done: make(chan struct{})}
	if !r.config.Enter() {
		close(read.done)
		return read
	}
	r.all[key] = read
	go r.run(key, read)
	return read
}

func (r *Reads[K, V]) run(key K, read *Read[V]) {
	defer r.config.Leave()
	parallel.Run(func() {
		select {
		case r.slots <- struct{}{}:
			defer func() { <-r.slots }()
			read.value = r.config.Read(key)
		case <-r.config.Lifetime.Done(): // the waiting calls return an error
		}
	}, func(exit *parallel.Exit) {
		read.exit = exit
		close(read.done)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, key)
	})
}

// Wait calls use with the index and the value of each read that has completed, in order, and omits
// a nil read. If no read completes for the given time, Wait waits no longer. No call waits again
// for a read that a call has left behind. Wait returns the error of ctx or of the lifetime as soon
// as one of them ends.
func (r *Reads[K, V]) Wait(ctx context.Context, reads []*Read[V], patience time.Duration,
	use func(i int, value V)) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	expired := false
	for i, read := range reads {
		switch {
		case read == nil:
			continue
		case !expired && !read.late.Load():
			timer.Reset(patience)
			select {
			case <-read.done:
			case <-timer.C:
				expired = true
			case <-ctx.Done():
			case <-r.config.Lifetime.Done():
			}
		}
		if err := cmp.Or(ctx.Err(), r.config.Lifetime.Err()); err != nil {
			return err
		}
		select {
		case <-read.done:
			if read.exit != nil {
				read.exit.Resume()
			}
			use(i, read.value)
		default:
			read.late.Store(true)
		}
	}
	return nil
}
