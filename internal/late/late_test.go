package late

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A source counts the reads, which each take the duration of their key.
type source struct{ reads, running, most, entered atomic.Int64 }

func (s *source) config(ctx context.Context, limit int) Config[time.Duration, string] {
	return Config[time.Duration, string]{
		Max: limit, Lifetime: ctx,
		Enter: func() bool { s.entered.Add(1); return true },
		Leave: func() { s.entered.Add(-1) },
		Read: func(d time.Duration) string {
			s.reads.Add(1)
			s.most.Store(max(s.most.Load(), s.running.Add(1)))
			defer s.running.Add(-1)
			time.Sleep(d)
			return d.String()
		},
	}
}

// wait returns the values that Wait passes on.
func wait(ctx context.Context, r *Reads[time.Duration, string], patience time.Duration, keys ...time.Duration) ([]string, error) {
	reads := make([]*Read[string], len(keys))
	for i, key := range keys {
		if key >= 0 {
			reads[i] = r.Start(key)
		}
	}
	values := make([]string, len(keys))
	err := r.Wait(ctx, reads, patience, func(i int, value string) { values[i] = value })
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
				s := &source{}
				r := New(s.config(t.Context(), tt.limit))
				if tt.limit == 1 { // in the order of the keys
					for _, key := range tt.keys {
						r.Start(key)
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
		s := &source{}
		r := New(s.config(t.Context(), 4))
		begin := time.Now()
		for range 3 {
			if got, err := wait(t.Context(), r, time.Second, time.Minute); err != nil || got[0] != "" {
				t.Fatal(got, err)
			}
		}
		must.Equal(t, "three calls wait", time.Second, time.Since(begin))
		must.Equal(t, "s.reads.Load()", 1, s.reads.Load())
		time.Sleep(time.Minute)
		synctest.Wait()
		r.Start(time.Minute)
		synctest.Wait()
		must.Equal(t, "s.reads.Load()", 2, s.reads.Load())
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
			s := &source{}
			begin := time.Now()
			_, err := wait(call, New(s.config(lifetime, 1)), time.Hour, time.Minute)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
				t.Errorf("%s: got %v after %v", name, err, time.Since(begin))
			}
			time.Sleep(time.Hour)
		})
	}
}

func TestARefusedReadIsCompleteWithoutAValue(t *testing.T) {
	config := (&source{}).config(t.Context(), 1)
	config.Enter = func() bool { return false }
	config.Read = func(time.Duration) string { panic("a read after Close") }
	must.Equal(t, "wait(t.Context(), New(config), time.Hour, 1)", "",
		must.Get(wait(t.Context(), New(config), time.Hour, 1))(t)[0])
}

func TestAPanicOfAReadReachesTheWaitingCall(t *testing.T) {
	config := (&source{}).config(t.Context(), 1)
	config.Read = func(time.Duration) string { panic("broken store") }
	defer func() {
		if recover() == nil {
			t.Error("Wait returned")
		}
	}()
	wait(t.Context(), New(config), time.Hour, 1)
}
