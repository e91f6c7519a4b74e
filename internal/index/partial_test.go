package index

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// TestRetryPartial reads a file that was good before. Each read returns the next
// of reads, and then the last again.
func TestRetryPartial(t *testing.T) {
	broken := []problem.Problem{{}}
	good := &Entry{Stamp: stamp.Of(confine.Info{Size: 10, Ino: 1})}
	replaced := &Entry{Stamp: stamp.Of(confine.Info{Size: 12, Ino: 2}), details: &details{version: version{recent: true}}}
	empty := &Entry{Stamp: stamp.Of(confine.Info{Ino: 3}), details: &details{version: version{recent: true}}}
	emptyLater := &Entry{Stamp: stamp.Of(confine.Info{Ino: 3, Modified: written}), details: &details{version: version{recent: true}}}
	emptyLast := &Entry{Stamp: stamp.Of(confine.Info{Ino: 3, Changed: written}), details: &details{version: version{recent: true}}}
	old := &Entry{Stamp: stamp.Of(confine.Info{Ino: 4})}
	short := &Entry{Stamp: stamp.Of(confine.Info{Size: 20, Ino: 5}), details: &details{version: version{recent: true, short: true}}}
	faulty := &Entry{Stamp: stamp.Of(confine.Info{Size: 11, Ino: 6}), details: &details{problems: broken, version: version{recent: true}}}
	for _, tt := range []struct {
		name  string
		known *Entry
		reads []*Entry // nil is an error
		want  *Entry
		n     int // number of reads
	}{
		{"unchanged", good, []*Entry{good}, good, 1},
		{"replaced by a good file", good, []*Entry{replaced}, replaced, 1},
		{"empty for a moment", good, []*Entry{empty, replaced}, replaced, 2},
		{"shorter than its size for a moment", good, []*Entry{short, replaced}, replaced, 2},
		{"with a problem for a moment", good, []*Entry{faulty, faulty, replaced}, replaced, 3},
		{"empty and left so", good, []*Entry{empty}, empty, 1 + rereads},
		{"empty since long ago", good, []*Entry{old}, old, 1},
		{"with a problem and left so", good, []*Entry{faulty}, faulty, 1 + rereads},
		{"changing all the time", good, []*Entry{empty, emptyLater, empty, emptyLast}, good, 1 + rereads},
		{"gone", good, []*Entry{nil}, nil, 1},
		{"empty, then gone", good, []*Entry{empty, nil}, nil, 2},
		{"new", nil, []*Entry{empty}, empty, 1},
		{"broken before", &Entry{details: &details{broken: fs.ErrPermission}}, []*Entry{empty}, empty, 1},
		{"with a problem before", &Entry{details: &details{problems: broken}}, []*Entry{faulty}, faulty, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			begin := time.Now()
			got, err := (&scan{Source: access.Source{Context: t.Context()}}).retryPartial(tt.known, func() (*Entry, error) {
				e := tt.reads[min(n, len(tt.reads)-1)]
				if n++; e == nil {
					return nil, fs.ErrNotExist
				}
				return e, nil
			})
			if got != tt.want || n != tt.n || (err != nil) != (tt.want == nil) {
				t.Errorf("%s: %+v after %d reads, %v; want %+v after %d", tt.name, got, n, err, tt.want, tt.n)
			}
			if pause := time.Duration(n-1) * rereadAfter; time.Since(begin) != pause {
				t.Errorf("%s: a pause of %v, want %v", tt.name, time.Since(begin), pause)
			}
		})
	}
}

func TestRetryPartialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	known := &Entry{Stamp: stamp.Of(confine.Info{Size: 10})}
	n := 0
	got, err := (&scan{Source: access.Source{Context: ctx}}).retryPartial(known, func() (*Entry, error) {
		n++
		cancel()
		return &Entry{details: &details{version: version{recent: true}}}, nil
	})
	if got != known || err != nil || n > 1 {
		t.Errorf("%+v, %v after %d reads", got, err, n)
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}
