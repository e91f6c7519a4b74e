package usage

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// A reads holds the reads in progress, which concurrent calls share. A call that has waited long
// enough returns without the result of a read. The read continues, and later calls get the result.
// All methods are safe for concurrent use.
type reads struct {
	read     func(key) []template.Parameter
	lifetime context.Context // after its end, no read begins
	enter    func() bool     // called before a read; false refuses the read
	leave    func()          // called after a read
	slots    chan struct{}   // has an element for each running read

	mu  sync.Mutex
	all map[key]*started // guarded by mu
}

// A started is a read that has begun.
type started struct {
	done  chan struct{} // closed when value and exit are set
	value []template.Parameter
	// A panic or runtime.Goexit of the reading function, passed on to each waiting call.
	exit *parallel.Exit
	late atomic.Bool // a call has stopped waiting
}

// start returns the read in progress for a key, or starts a read. If enter refuses the read, start
// returns a completed read with a zero value.
func (r *reads) start(key key) *started {
	r.mu.Lock()
	defer r.mu.Unlock()
	if read := r.all[key]; read != nil {
		return read
	}
	read := &started{done: make(chan struct{})}
	if !r.enter() {
		close(read.done)
		return read
	}
	r.all[key] = read
	go r.run(key, read)
	return read
}

func (r *reads) run(key key, read *started) {
	defer r.leave()
	parallel.Run(func() {
		select {
		case r.slots <- struct{}{}:
			defer func() { <-r.slots }()
			read.value = r.read(key)
		case <-r.lifetime.Done(): // the waiting calls return an error
		}
	}, func(exit *parallel.Exit) {
		read.exit = exit
		close(read.done)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, key)
	})
}

// wait calls use with the index and the value of each read that has completed, in order, and omits
// a nil read. If no read completes for the given time, wait waits no longer. No call waits again
// for a read that a call has left behind. wait returns the error of ctx or of the lifetime as soon
// as one of them ends.
func (r *reads) wait(ctx context.Context, reads []*started, patience time.Duration,
	use func(i int, value []template.Parameter)) error {
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
			case <-r.lifetime.Done():
			}
		}
		if err := cmp.Or(ctx.Err(), r.lifetime.Err()); err != nil {
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
