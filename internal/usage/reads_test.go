package usage

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// A counter counts the reads, which each take the duration of their key.
type counter struct{ done, running, most, entered atomic.Int64 }

func (c *counter) reads(lifetime context.Context, limit int) *reads {
	return &reads{
		lifetime: lifetime, slots: make(chan struct{}, limit), all: map[key]*started{},
		enter: func() bool { c.entered.Add(1); return true },
		leave: func() { c.entered.Add(-1) },
		read: func(k key) []template.Parameter {
			c.done.Add(1)
			c.most.Store(max(c.most.Load(), c.running.Add(1)))
			defer c.running.Add(-1)
			d, _ := time.ParseDuration(k.entry.Name)
			time.Sleep(d)
			return []template.Parameter{{Name: k.entry.Name}}
		},
	}
}

// slow are the entries whose reads take a duration.
var slow = map[time.Duration]*index.Entry{}

func keyOf(d time.Duration) key {
	if slow[d] == nil {
		slow[d] = &index.Entry{Name: d.String()}
	}
	return key{entry: Invoked{Entry: slow[d]}}
}

// wait returns the values that reads.wait passes on.
func wait(
	ctx context.Context, r *reads, patience time.Duration, keys ...time.Duration,
) ([]string, error) {
	begun := make([]*started, len(keys))
	for i, d := range keys {
		if d >= 0 {
			begun[i] = r.start(keyOf(d))
		}
	}
	values := make([]string, len(keys))
	err := r.wait(ctx, begun, patience, func(i int, value []template.Parameter) {
		for _, p := range value {
			values[i] = p.Name
		}
	})
	return values, err
}

func TestWaitReturnsTheReadsThatCompleteInTime(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
		keys  []time.Duration // a negative key is a nil read
		want  []string
	}{
		{"no reads", 1, nil, []string{}},
		{"all", 3, []time.Duration{1, 2, 3}, []string{"1ns", "2ns", "3ns"}},
		{"nil reads", 3, []time.Duration{-1, 2, -1}, []string{"", "2ns", ""}},
		{"patience counts from the last completed read", 1, []time.Duration{6, 7, 8}, []string{"6ns", "7ns", "8ns"}},
		{"the rest without a read that hangs", 3, []time.Duration{1, time.Hour, 3}, []string{"1ns", "", "3ns"}},
		{"a read that hangs occupies its place", 1, []time.Duration{time.Hour, 1}, []string{"", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &counter{}
				r := s.reads(t.Context(), tt.limit)
				if tt.limit == 1 { // in the order of the keys
					for _, key := range tt.keys {
						r.start(keyOf(key))
						synctest.Wait()
					}
				}
				got := must.Get(wait(t.Context(), r, 10, tt.keys...))(t)
				must.Match(t, "result", tt.want, got)
				if s.most.Load() > int64(tt.limit) {
					t.Errorf("%d reads at the same time, the limit is %d", s.most.Load(), tt.limit)
				}
				time.Sleep(2 * time.Hour) // in the bubble
				must.Equal(t, "s.entered.Load()", 0, s.entered.Load())
			})
		})
	}
}

func TestCallsShareAReadAndWaitOnceForASlowRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &counter{}
		r := s.reads(t.Context(), 4)
		begin := time.Now()
		for range 3 {
			if got, err := wait(t.Context(), r, time.Second, time.Minute); err != nil || got[0] != "" {
				t.Fatal(got, err)
			}
		}
		must.Equal(t, "three calls wait", time.Second, time.Since(begin))
		must.Equal(t, "s.done.Load()", 1, s.done.Load())
		time.Sleep(time.Minute)
		synctest.Wait()
		r.start(keyOf(time.Minute))
		synctest.Wait()
		must.Equal(t, "s.done.Load()", 2, s.done.Load())
		time.Sleep(time.Minute)
	})
}

func TestWaitEndsWithItsContextAndWithTheLifetime(t *testing.T) {
	for _, name := range []string{"context", "lifetime"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			lifetime, call := context.Background(), ctx
			if name == "lifetime" {
				lifetime, call = ctx, context.Background()
			}
			s := &counter{}
			begin := time.Now()
			_, err := wait(call, s.reads(lifetime, 1), time.Hour, time.Minute)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
				t.Errorf("%s: got %v after %v", name, err, time.Since(begin))
			}
			time.Sleep(time.Hour)
		})
	}
}

func TestARefusedReadIsCompleteWithoutAValue(t *testing.T) {
	r := new(counter).reads(t.Context(), 1)
	r.enter = func() bool { return false }
	r.read = func(key) []template.Parameter { panic("a read after Close") }
	must.Equal(t, "wait", "", must.Get(wait(t.Context(), r, time.Hour, 1))(t)[0])
}

func TestAPanicOfAReadReachesTheWaitingCall(t *testing.T) {
	r := new(counter).reads(t.Context(), 1)
	r.read = func(key) []template.Parameter { panic("broken store") }
	defer func() {
		if recover() == nil {
			t.Error("wait returned")
		}
	}()
	wait(t.Context(), r, time.Hour, 1)
}
