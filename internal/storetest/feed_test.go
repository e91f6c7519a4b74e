package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A testFeed is a source for WithFeed under the control of a test.
type testFeed struct {
	touch func(paths ...string) // set when the feed begins
	end   chan error            // ends the feed
}

func (f *testFeed) option(maxAge time.Duration) toolshelf.Option {
	f.end = make(chan error, 1)
	return toolshelf.WithFeed(maxAge, func(ctx context.Context, touch func(paths ...string)) error {
		f.touch = touch
		select {
		case err := <-f.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// While a feed reports no change, no call makes a request, except the first look at a file.
func TestRequestsWithAFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const maxAge = time.Minute
		var feed testFeed
		b := newBucket()
		b.fill(2500, 40)
		b.put("commands/long.md", "Long command.\n\n"+strings.Repeat("text\n", 1000))
		c := catalogOf(t, b.store("commands/"), b.store("skills/"), feed.option(maxAge))
		synctest.Wait()
		expect := func(name string, call call, want string) {
			t.Helper()
			if err := call(t.Context(), c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			synctest.Wait()
			must.Equal(t, name, want, b.count())
		}
		expect("before the first touch", listPage, "2501 GET 3 LIST")
		expect("before the first touch, again", listPage, "3 LIST")

		feed.touch()
		time.Sleep(time.Second) // the background scan
		b.count()
		expect("List", listPage, "")
		expect("unknown name", unknown("missing"), "")
		expect("first Get", get("c00007"), "")
		expect("first Get of a long command", get("long"), "1 GET")
		expect("repeated Get of a long command", get("long"), "")
		expect("ListSkills", listSkills, "")
		expect("GetSkill", getSkill("s003"), "1 LIST")
		expect("first page of prompts", usagePage, "")
		expect("repeated page of prompts", usagePage, "")
		expect("first Search", searchFor("word7"), "1 GET")
		expect("repeated Search", searchFor("word8"), "")

		b.put("commands/c00007.md", "New.\n")
		b.put("commands/new.md", "New.\n")
		feed.touch("c00007.md", "new.md")
		expect("a touched file", get("new"), "2 GET 3 LIST")
		time.Sleep(time.Second)
		b.count() // the background scan of the skills
		expect("List after a touch", listPage, "")
		expect("Get after a touch", get("c00007"), "")

		time.Sleep(maxAge)
		expect("List after the maximum age", listPage, "3 LIST")
		expect("another List after the maximum age", listPage, "3 LIST")
		expect("Get after the maximum age", get("c00007"), "1 HEAD")

		feed.touch()
		time.Sleep(time.Second)
		b.count()
		expect("List after another touch", listPage, "")

		feed.end <- errors.New("disconnected")
		synctest.Wait()
		expect("List after the end of the feed", listPage, "3 LIST")
		expect("Get after the end of the feed", get("c00007"), "1 HEAD")
		feed.touch()
		expect("List after a touch of an ended feed", listPage, "3 LIST")
	})
}

// The limit of the size applies to a file that a list has read as a whole.
func TestATooLargeFileWithAFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		b.put("commands/large.md", strings.Repeat("text\n", 100))
		c := catalogOf(t, b.store("commands/"), b.store("skills/"), feed.option(time.Hour), toolshelf.WithMaxFileSize(100))
		synctest.Wait()
		feed.touch()
		must.Do(t, listPage(t.Context(), c))
		must.Is(t, "error", toolshelf.ErrFileTooLarge, get("large")(t.Context(), c))
	})
}

// With WithCacheTTL, a call makes no request only if the feed shows no change and the
// duration has not passed.
func TestAFeedWithATTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		b.fill(3, 0)
		c := catalogOf(t, b.store("commands/"), b.store("skills/"), feed.option(time.Hour), toolshelf.WithCacheTTL(time.Minute))
		synctest.Wait()
		expect := func(name, want string) {
			t.Helper()
			b.count()
			must.Do(t, listPage(t.Context(), c))
			must.Equal(t, name, want, b.count())
		}
		expect("the first call", "3 GET 1 LIST")
		expect("before the first touch", "1 LIST")
		feed.touch()
		time.Sleep(time.Second)
		expect("no change", "")
		time.Sleep(time.Minute)
		expect("no change, after the duration", "1 LIST")
		expect("no change, within the duration", "")
		b.count()
		must.Do(t, get("c00001")(t.Context(), c))
		must.Equal(t, "Get within the duration", "", b.count())
		time.Sleep(time.Minute)
		must.Do(t, get("c00001")(t.Context(), c))
		if got, want := b.count(), "1 HEAD"; got != want {
			t.Errorf("Get after the duration: %q, want %q", got, want)
		}
		expect("no change, after the duration of another minute", "1 LIST")
		feed.touch()
		expect("a change, within the duration", "1 LIST")
	})
}

// A feed causes a scan after a burst of touches, and OnChange reports the changes.
func TestAFeedReportsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		b.fill(3, 1)
		c := catalogOf(t, b.store("commands/"), b.store("skills/"), feed.option(time.Hour))
		synctest.Wait()
		feed.touch()
		time.Sleep(time.Second)
		var seen []string
		stop := c.OnChange(func(change toolshelf.Change) { seen = append(seen, fmt.Sprint(change)) })
		defer stop()
		b.count()
		for i := range 20 {
			b.put(fmt.Sprintf("commands/new%02d.md", i), "text")
			feed.touch(fmt.Sprintf("new%02d.md", i))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		must.Len(t, "changes", 1, seen)
		must.Equal(t, "changes", 20, strings.Count(seen[0], "new"))
		if got, want := b.count(), "20 GET 2 LIST"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// A touch during a scan makes the next call scan again.
func TestATouchDuringAScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed testFeed
		b := newBucket()
		b.fill(3, 0)
		c := catalogOf(t, b.store("commands/"), b.store("skills/"), feed.option(time.Hour))
		synctest.Wait()
		feed.touch()
		time.Sleep(time.Second)
		var once sync.Once
		b.setFault(func(op, key string) error {
			if op == "GET" {
				once.Do(func() {
					b.put("commands/c00000.md", "second")
					feed.touch("c00000.md")
				})
			}
			return nil
		})
		b.put("commands/c00001.md", "first")
		feed.touch("c00001.md")
		for _, want := range []string{"Command 0", "second"} {
			list := must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
			must.Equal(t, "Description", want, list.Commands[0].Description)
			must.Equal(t, "Description", "first", list.Commands[1].Description)
		}
	})
}

// Layers of the disk are scanned in each call, with a feed for the other layers.
func TestAFeedAndADirectory(t *testing.T) {
	b := newBucket()
	b.fill(3, 0)
	root := catalogtest.Disk(t, map[string]string{"commands/a.md": "A."})
	c := catalogtest.Open(t, toolshelf.WithRoot(root), toolshelf.WithCommandsFS("store", b.store("commands/")), toolshelf.WithFeed(time.Hour, func(ctx context.Context, touch func(...string)) error {
		touch()
		<-ctx.Done()
		return ctx.Err()
	}))
	names := func() (names []string) {
		for _, command := range must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Commands {
			names = append(names, command.Name)
		}
		return names
	}
	for names(); b.count() != ""; names() { // until the feed is connected
	}
	catalogtest.Write(t, "B.", root, "commands", "b.md")
	if got, want := names(), []string{"a", "b", "c00000", "c00001", "c00002"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, text := range []string{"A.", "Another text."} {
		must.Equal(t, "Content", text, must.Get(c.Get(t.Context(), "a"))(t).Content)
		catalogtest.Write(t, "Another text.", root, "commands", "a.md")
	}
	if err := get("c00001")(t.Context(), c); err != nil {
		t.Error(err)
	}
	b.count()
	if err := get("c00001")(t.Context(), c); err != nil {
		t.Error(err)
	}
	must.Equal(t, "a repeated Get of a lower layer", "", b.count())
}

// The operating system reports no change of a store.
func TestAStoreBesideAWatch(t *testing.T) {
	b := newBucket()
	b.fill(2, 0)
	root := catalogtest.Disk(t, map[string]string{"commands/a.md": "A."})
	c := catalogtest.Open(t, toolshelf.WithRoot(root), toolshelf.WithWatch(), toolshelf.WithCommandsFS("store", b.store("commands/")))
	must.Do(t, listPage(t.Context(), c))
	search := func(query string) string {
		found := must.Get(c.Search(t.Context(), query, 0))(t)
		must.Len(t, query, 1, found.Results)
		return found.Results[0].Name + "/" + found.Results[0].Tier
	}
	b.put("commands/new.md", "A zebra.")
	must.Equal(t, "Total", 4, must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Pagination.Total)
	must.Match(t, "search", "new/tier2", search("zebra"))
	b.put("commands/new.md", "A lion.")
	must.Match(t, "search after a change", "new/tier2", search("lion"))
}
