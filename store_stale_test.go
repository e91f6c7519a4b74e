package toolshelf_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

// A staleStore serves its last good snapshot while the bucket does not answer.
type staleStore struct {
	storeFS
	last *fs.FS
}

func staleStoreOf(b *bucket, prefix string) staleStore {
	return staleStore{b.store(prefix), new(fs.FS)}
}

func (s staleStore) Snapshot(ctx context.Context) (fs.FS, error) {
	now, err := s.storeFS.Snapshot(ctx)
	switch {
	case err == nil:
		*s.last = now
		return now, nil
	case *s.last == nil:
		return nil, err
	}
	return staleSnapshot{(*s.last).(*snapshotFS), err}, nil
}

type staleSnapshot struct {
	*snapshotFS
	err error
}

func (s staleSnapshot) Stale() error { return s.err }

var errOutage = errors.New("connection refused")

// outage lets all requests of a bucket fail.
func outage(string, string) error { return errOutage }

// A touch during an outage stays pending until the store answers. Calls ask the store once
// in a second.
func TestATouchDuringAnOutage(t *testing.T) {
	for _, versioned := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var feed testFeed
			b := newBucket()
			b.tree = versioned
			b.fill(3, 0)
			c := catalogOf(t, staleStoreOf(b, "commands/"), b.store("skills/"), feed.option(time.Hour))
			synctest.Wait()
			feed.touch()
			time.Sleep(time.Second)
			expect := func(name string, total int, requests string) {
				t.Helper()
				b.count()
				list, err := c.List(t.Context(), toolshelf.Page{})
				if err != nil || list.Pagination.Total != total {
					t.Errorf("%s: %d commands, %v, want %d", name, list.Pagination.Total, err, total)
				}
				if got := b.count(); got != requests {
					t.Errorf("%s: %q, want %q", name, got, requests)
				}
			}
			b.put("commands/new.md", "text")
			b.setFault(outage)
			expect("no touch", 3, "")
			feed.touch("new.md")
			expect("a touch", 3, "1 LIST")
			expect("another call", 3, "")
			time.Sleep(time.Second)
			expect("a second later", 3, "1 LIST")
			b.setFault(nil)
			expect("within a second", 3, "")
			time.Sleep(time.Second)
			expect("after the outage", 4, "1 GET 1 LIST")
			time.Sleep(time.Minute)
			expect("no change", 4, "")
		})
	}
}

// Without a last good snapshot, every call during an outage asks the store, and the touch
// stays pending.
func TestATouchBeforeAFailedListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		b.fill(3, 0)
		c := catalogOf(t, b.store("commands/"), b.store("skills/"), feed.option(time.Hour))
		synctest.Wait()
		b.setFault(outage)
		feed.touch()
		time.Sleep(time.Second)
		for range 2 {
			if err := listPage(t.Context(), c); !errors.Is(err, errOutage) {
				t.Errorf("error %v, want the error of the store", err)
			}
		}
		b.setFault(nil)
		b.count()
		if err := listPage(t.Context(), c); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff("3 GET 1 LIST", b.count()); diff != "" {
			t.Errorf("requests after the outage, -want +got:\n%s", diff)
		}
	})
}
