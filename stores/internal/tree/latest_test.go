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
					if err != test.fails {
						t.Errorf("stale received %v", err)
					}
					age = since
					return test.stale
				}
				if test.noStale {
					stale = nil
				}
				last := tree.New("1", nil)
				latest := tree.NewLatest(func(context.Context, *tree.FS) (*tree.FS, error) { return last, answer }, stale)
				if _, err := latest.Snapshot(t.Context()); err != nil {
					t.Fatal(err)
				}
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
	files := tree.New("1", map[string]tree.File{"skills/pdf/SKILL.md": {Size: 3}})
	stale := func(error, time.Duration) error { return nil }
	whole := tree.NewLatest(func(context.Context, *tree.FS) (*tree.FS, error) { return files, nil }, stale)
	below := func(dir string) *tree.Latest {
		l := tree.NewLatest(func(context.Context, *tree.FS) (*tree.FS, error) { return nil, errDown }, stale)
		l.Start(whole, dir)
		return l
	}
	if _, err := below("skills").Snapshot(t.Context()); !errors.Is(err, errDown) {
		t.Errorf("before the first snapshot: %v, want %v", err, errDown)
	}
	if _, err := whole.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, err := below("skills").Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := last.Stat("pdf/SKILL.md"); err != nil || info.Size() != 3 || last.Stale() != errDown {
		t.Errorf("Stat: %v, %v; Stale: %v", info, err, last.Stale())
	}
	if _, err := below("missing").Snapshot(t.Context()); !errors.Is(err, errDown) {
		t.Errorf("a missing directory: %v, want %v", err, errDown)
	}
}

func TestLatestEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stale := func(error, time.Duration) error { t.Error("stale is called"); return nil }
		latest := tree.NewLatest(func(ctx context.Context, last *tree.FS) (*tree.FS, error) {
			if last == nil {
				return tree.New("1", nil), nil
			}
			<-ctx.Done()
			return nil, errors.New("broken pipe")
		}, stale)
		if _, err := latest.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
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
			if err := <-results; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Snapshot: %v", err)
			}
		}
	})
}

func TestWaitingCallsShareTheNextUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revision, written atomic.Int64
		latest := tree.NewLatest(func(context.Context, *tree.FS) (*tree.FS, error) {
			version := fmt.Sprint(written.Load())
			revision.Add(1)
			time.Sleep(time.Second)
			return tree.New(version, nil), nil
		}, nil)
		var wg sync.WaitGroup
		snapshot := func(ctx context.Context, want string) {
			wg.Go(func() {
				files, err := latest.Snapshot(ctx)
				if ctx.Err() != nil {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Snapshot: %v", err)
					}
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
		if got := revision.Load(); got != 2 {
			t.Errorf("%d updates, want 2", got)
		}
	})
}
