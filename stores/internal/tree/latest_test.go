package tree_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

func TestLatestChoosesTheErrorOrTheLastSnapshot(t *testing.T) {
	errDown, errOld := errors.New("down"), errors.New("too old")
	tests := []struct {
		name    string
		stale   error // result of stale
		noStale bool
		fails   error // second answer of the store
		want    error
	}{
		{name: "the store answers"},
		{name: "no function", noStale: true, fails: errDown, want: errDown},
		{name: "the last snapshot", fails: errDown},
		{name: "an error of stale", stale: errOld, fails: errDown, want: errOld},
		{name: "a store after Close", fails: fs.ErrClosed, want: fs.ErrClosed},
		{name: "something does not exist", fails: fmt.Errorf("revision: %w", fs.ErrNotExist), want: fs.ErrNotExist},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var answer error
				var age time.Duration
				stale := func(err error, since time.Duration) error {
					must.Equal(t, "stale received", test.fails, err)
					age = since
					return test.stale
				}
				if test.noStale {
					stale = nil
				}
				last := newFS("1", nil)
				latest := tree.NewLatest(func(context.Context, *filetree.FS) (*filetree.FS, error) { return last, answer }, 0, stale)
				must.Get(latest.Snapshot(t.Context()))(t)
				time.Sleep(time.Minute)
				answer = test.fails
				got, err := latest.Snapshot(t.Context())
				if !errors.Is(err, test.want) || test.want == nil && (got.Version() != last.Version() || got.Stale() != test.fails) {
					t.Errorf("Snapshot = %v, %v; want %v", got, err, test.want)
				}
				if test.fails == errDown && stale != nil && age != time.Minute {
					t.Errorf("age = %v, want 1m", age)
				}
			})
		})
	}
}

func TestADirectoryStartsWithTheLastSnapshot(t *testing.T) {
	errDown := errors.New("down")
	files := newFS("1", map[string]filetree.File{"skills/pdf/SKILL.md": {Size: 3}})
	stale := func(error, time.Duration) error { return nil }
	whole := tree.NewLatest(func(context.Context, *filetree.FS) (*filetree.FS, error) { return files, nil }, 0, stale)
	below := func(dir string) *tree.Latest {
		l := tree.NewLatest(func(context.Context, *filetree.FS) (*filetree.FS, error) { return nil, errDown }, 0, stale)
		l.Start(whole, dir)
		return l
	}
	must.Fail(below("skills").Snapshot(t.Context()))(t, "before the first snapshot", errDown)
	must.Get(whole.Snapshot(t.Context()))(t)
	last := must.Get(below("skills").Snapshot(t.Context()))(t)
	must.Equal(t, "Stat", 3, must.Get(last.Stat("pdf/SKILL.md"))(t).Size())
	must.Equal(t, "Stat", errDown, last.Stale())
	must.Fail(below("missing").Snapshot(t.Context()))(t, "a missing directory", errDown)
}

func TestLatestEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stale := func(error, time.Duration) error { t.Error("stale is called"); return nil }
		latest := tree.NewLatest(func(ctx context.Context, last *filetree.FS) (*filetree.FS, error) {
			if last == nil {
				return newFS("1", nil), nil
			}
			<-ctx.Done()
			return nil, errors.New("broken pipe")
		}, 0, stale)
		must.Get(latest.Snapshot(t.Context()))(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results := make(chan error)
		for range 2 { // the second call waits for the first
			go func() {
				_, err := latest.Snapshot(ctx)
				results <- err
			}()
		}
		for range 2 {
			must.Is(t, "Snapshot", context.DeadlineExceeded, <-results)
		}
	})
}

func TestWaitingCallsShareTheNextUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revision, written atomic.Int64
		latest := tree.NewLatest(func(context.Context, *filetree.FS) (*filetree.FS, error) {
			version := fmt.Sprint(written.Load())
			revision.Add(1)
			time.Sleep(time.Second)
			return newFS(version, nil), nil
		}, 0, nil)
		var wg sync.WaitGroup
		snapshot := func(ctx context.Context, want string) {
			wg.Go(func() {
				files, err := latest.Snapshot(ctx)
				if ctx.Err() != nil {
					must.Is(t, "Snapshot", context.DeadlineExceeded, err)
				} else if err != nil || files.Version() != want {
					t.Errorf("Snapshot = %v, %v; want version %s", files, err, want)
				}
			})
			synctest.Wait()
		}
		snapshot(t.Context(), "0")
		written.Store(1)
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		snapshot(short, "") // ends before the update, which another call then makes
		for range 50 {
			snapshot(t.Context(), "1")
		}
		wg.Wait()
		must.Equal(t, "revision.Load()", 2, revision.Load())
	})
}

// A panic ends the call that updates. A call that waits for the update makes an update itself.
func TestLatestSurvivesAPanicOfStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last, updates, stales := newFS("1", nil), 0, 0
		latest := tree.NewLatest(func(context.Context, *filetree.FS) (*filetree.FS, error) {
			time.Sleep(time.Minute)
			if updates++; updates > 2 {
				return nil, errors.New("down")
			}
			return last, nil
		}, 0, func(error, time.Duration) error {
			if stales++; stales == 1 {
				panic("stale")
			}
			return nil
		})
		must.Get(latest.Snapshot(t.Context()))(t)
		var calls sync.WaitGroup
		var panics, answers atomic.Int64
		for range 3 { // the first call updates, the second panics in stale, the third waits for the second
			calls.Go(func() {
				defer func() {
					if recover() != nil {
						panics.Add(1)
					}
				}()
				if got, err := latest.Snapshot(t.Context()); err != nil || got == nil || got.Version() != "1" {
					t.Errorf("Snapshot = %v, %v", got, err)
				}
				answers.Add(1)
			})
			synctest.Wait()
		}
		calls.Wait()
		if panics.Load() != 1 || answers.Load() != 2 || updates != 4 {
			t.Errorf("%d panics, %d answers, %d updates; want 1, 2, 4", panics.Load(), answers.Load(), updates)
		}
	})
}

func TestAfterATimeoutLatestPausesForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates, hangs, refused := 0, false, error(nil)
		update := func(ctx context.Context, last *filetree.FS) (*filetree.FS, error) {
			if updates++; hangs {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return newFS(fmt.Sprint(updates), map[string]filetree.File{"dir/a.md": {}}), nil
		}
		stale := func(err error, _ time.Duration) error {
			if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "no answer within 5s: context deadline exceeded" {
				t.Errorf("stale receives %v", err)
			}
			return refused
		}
		latest := tree.NewLatest(update, 5*time.Second, stale)
		expect := func(name string, l *tree.Latest, version string, asked int, wait time.Duration) {
			t.Helper()
			before, begin := updates, time.Now()
			files, err := l.Snapshot(t.Context())
			must.Equal(t, name, wait, time.Since(begin))
			must.Equal(t, name, asked, updates-before)
			switch {
			case version == "":
				if err == nil || !errors.Is(err, refused) && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: error %v", name, err)
				}
			case err != nil || files.Version() != version:
				t.Errorf("%s: %v, %v, want version %s", name, files, err, version)
			}
		}
		hangs = true
		expect("no snapshot", latest, "", 1, 5*time.Second)
		expect("no snapshot again", latest, "", 1, 5*time.Second)
		hangs = false
		expect("an answer", latest, "3", 1, 0)
		hangs = true
		expect("a timeout", latest, "3", 1, 5*time.Second)
		below, missing := tree.NewLatest(update, 5*time.Second, stale), tree.NewLatest(update, 5*time.Second, stale)
		below.Start(latest, "dir")
		missing.Start(latest, "missing")
		expect("within a second", latest, "3", 0, 0)
		expect("a directory within a second", below, "3", 0, 0)
		refused = errors.New("refused")
		expect("stale refuses", latest, "", 0, 0)
		time.Sleep(time.Second)
		expect("stale refuses after a second", latest, "", 1, 5*time.Second)
		refused = nil
		expect("a refused timeout is no pause", latest, "3", 1, 5*time.Second)
		expect("a directory without a snapshot", missing, "", 1, 5*time.Second)
		hangs = false
		expect("another answer", latest, "8", 1, 0)
	})
}
