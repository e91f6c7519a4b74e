package servertest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/internal/conformance"
	"github.com/toolshelf-go/toolshelf/stores/jetstream"
	"github.com/toolshelf-go/toolshelf/stores/jetstream/internal/interval"
)

var _ conformance.Store = (*jetstream.Store)(nil)

var (
	snapshot = conformance.Snapshot
	version  = conformance.Version
	contents = conformance.Contents
)

func newStore(t *testing.T, kv natsjs.KeyValue, opts jetstream.Options) *jetstream.Store {
	t.Helper()
	store := must.Get(jetstream.New(kv, opts))(t)
	t.Cleanup(func() { store.Close() })
	return store
}

func (n *node) store(opts jetstream.Options) *jetstream.Store {
	n.t.Helper()
	_, kv := n.open()
	return newStore(n.t, kv, opts)
}

// settle makes the first snapshot of a store with a short Timeout.
func settle(t *testing.T, store *jetstream.Store) fs.FS {
	t.Helper()
	for {
		files, err := store.Snapshot(t.Context())
		if err == nil {
			return files
		}
		must.Is(t, "err", context.DeadlineExceeded, err)
	}
}

func same(t *testing.T, got fs.FS, want map[string]string) {
	t.Helper()
	must.Match(t, "files", want, contents(t, got))
}

func TestKeysBecomeFiles(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	files := map[string]string{"commands/deploy.md": "Deploy.\n", "commands/team/roll.md": "", "skills/review/SKILL.md": conformance.Skill, "a=b_c-d": "x"}
	for key, value := range files {
		bucket.put(key, value)
	}
	for _, key := range []string{"a//b.md", "/abs.md", "dir/", "commands//x.md"} {
		bucket.put(key, "not a path")
	}
	got := snapshot(t, node.store(jetstream.Options{}))
	same(t, got, files)
	below := snapshot(t, node.store(jetstream.Options{Dir: "commands"}))
	same(t, below, map[string]string{"deploy.md": "Deploy.\n", "team/roll.md": ""})

	before := must.Get(fs.Stat(below, "deploy.md"))(t)
	bucket.put("commands/deploy.md", "deploy.\n")
	after := must.Get(fs.Stat(snapshot(t, node.store(jetstream.Options{})), "commands/deploy.md"))(t)
	if version(t, before) == version(t, after) {
		t.Error("the version of a changed file is the same")
	}
}

func TestACatalogReadsTheStore(t *testing.T) {
	node := startNode(t)
	conformance.ACatalogReadsTheStore(t, node.create().replace, func(dir string) fs.FS {
		return node.store(jetstream.Options{Dir: dir})
	})
}

func TestASnapshotDoesNotChange(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	conformance.ASnapshotDoesNotChange(t, bucket.replace, node.store(jetstream.Options{}))
}

func TestReadsSeeTheWritesOfOthers(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	store := node.store(jetstream.Options{})
	for i := range 200 {
		want := fmt.Sprint(i)
		bucket.put("a.md", want)
		if got, err := fs.ReadFile(store, "a.md"); err != nil || string(got) != want {
			t.Fatalf("a.md = %q, %v; want %q", got, err, want)
		}
	}
}

func TestASnapshotCostsOneRequest(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	bucket.put("a.md", "one")
	conn, kv := node.open()
	store := newStore(t, kv, jetstream.Options{})
	before := snapshot(t, store)
	requests := conn.Stats().OutMsgs
	must.Equal(t, "the version", version(t, before),
		version(t, snapshot(t, store)))
	bucket.put("a.md", "two")
	after := snapshot(t, store)
	same(t, after, map[string]string{"a.md": "two"})
	same(t, before, map[string]string{"a.md": "one"})
	must.Equal(t, "two snapshots made", 2, conn.Stats().OutMsgs-requests)
}

func TestKeysThatDisappearWithoutAMessage(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	bucket.put("a.md", "A")
	bucket.put("b.md", "B")
	store := node.store(jetstream.Options{})
	before := snapshot(t, store)
	must.Do(t, bucket.stream().Purge(t.Context(), natsjs.WithPurgeSubject("$KV.team.b.md")))
	after := snapshot(t, store)
	same(t, after, map[string]string{"a.md": "A"})
	if version(t, before) == version(t, after) {
		t.Error("the version is the same")
	}
	must.Do(t, bucket.stream().Purge(t.Context()))
	same(t, snapshot(t, store), map[string]string{})
}

// The server forgets the consumer of the watch. The client needs many seconds to notice.
func TestALateWatchIsReplaced(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	bucket.put("a.md", "one")
	store := node.store(jetstream.Options{Timeout: 4 * time.Second})
	snapshot(t, store)
	_, kv := node.open()
	impatient := newStore(t, kv, jetstream.Options{Timeout: 300 * time.Millisecond})
	settle(t, impatient)
	stream := bucket.stream()
	for name := range stream.ConsumerNames(t.Context()).Name() {
		must.Do(t, stream.DeleteConsumer(t.Context(), name))
	}
	bucket.put("a.md", "two")
	same(t, snapshot(t, store), map[string]string{"a.md": "two"})
	// The waits of several calls count together.
	failures := 0
	for ; failures < 8; failures++ {
		if _, err := impatient.Snapshot(t.Context()); err == nil {
			break
		}
	}
	if failures == 8 {
		t.Error("the watch is not replaced if Timeout is short")
	}
}

func TestABucketThatIsCreatedAgain(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	bucket.put("a.md", "one")
	stale := func(error, time.Duration) error { t.Error("Stale is called"); return nil }
	store := node.store(jetstream.Options{Stale: stale})
	before := snapshot(t, store)
	must.Do(t, bucket.js.DeleteKeyValue(t.Context(), bucket.Bucket()))
	must.Fail(store.Snapshot(t.Context()))(t, "Snapshot of a deleted bucket", fs.ErrNotExist)
	bucket.create()
	bucket.put("a.md", "two")
	after := snapshot(t, store)
	same(t, after, map[string]string{"a.md": "two"})
	if version(t, before) == version(t, after) {
		t.Error("the version is the same")
	}
}

func TestAnUnreachableServer(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	bucket.put("a.md", "one")
	var ages []time.Duration
	strict := node.store(jetstream.Options{Timeout: 100 * time.Millisecond})
	lenient := node.store(jetstream.Options{Timeout: 100 * time.Millisecond, Stale: func(_ error, age time.Duration) error {
		ages = append(ages, age)
		return nil
	}})
	settle(t, strict)
	before := settle(t, lenient)
	ages = nil
	node.stop()
	if _, err := strict.Snapshot(t.Context()); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without Stale: %v", err)
	}
	for range 2 {
		must.Equal(t, "the last good snapshot", version(t, before),
			version(t, snapshot(t, lenient)))
	}
	if len(ages) != 2 || ages[0] <= 0 || ages[1] <= ages[0] {
		t.Errorf("ages: %v", ages)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lenient.WithContext(ctx).Open("a.md"); !errors.Is(err, context.Canceled) || len(ages) != 2 {
		t.Errorf("Open with a canceled context: %v", err)
	}

	node.start()
	must.Do(t, bucket.js.Conn().FlushTimeout(30*time.Second))
	bucket.put("a.md", "two")
	for { // until the connection of the store is back
		content, err := fs.ReadFile(strict, "a.md")
		if err == nil {
			must.Equal(t, "a.md after the failure", "two", string(content))
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestALargeBucketIsAnError(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	bucket.put("in/a.md", strings.Repeat("a", 1000))
	bucket.put("out/b.md", strings.Repeat("b", 5000))
	for size, ok := range map[int64]bool{1516: true, 1515: false} {
		store := node.store(jetstream.Options{Dir: "in", MaxSize: size})
		for range 2 {
			if _, err := store.Snapshot(t.Context()); ok != (err == nil) || !ok && !strings.Contains(err.Error(), "MaxSize") {
				t.Errorf("MaxSize %d: %v", size, err)
			}
		}
	}
	// Overwritten and deleted values do not count.
	store := node.store(jetstream.Options{Dir: "in", MaxSize: 1516})
	snapshot(t, store)
	for range 3 {
		bucket.put("in/a.md", strings.Repeat("a", 1000))
	}
	must.Do(t, bucket.Delete(t.Context(), "in/a.md"))
	bucket.put("in/c.md", strings.Repeat("c", 1000))
	same(t, snapshot(t, store), map[string]string{"c.md": strings.Repeat("c", 1000)})
}

func TestFeed(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	conn, kv := node.open()
	store := newStore(t, kv, jetstream.Options{Dir: "commands"})
	run := func(ctx context.Context) (touched chan []string, ended chan error) {
		touched, ended = make(chan []string), make(chan error, 1)
		go func() { ended <- store.Feed(ctx, func(paths ...string) { touched <- paths }) }()
		must.Len(t, "first touch", 0, <-touched)
		return touched, ended
	}
	ctx, cancel := context.WithCancel(t.Context())
	touched, ended := run(ctx)
	// The bucket keeps the last message of each key, so each touch precedes the next write.
	expect := func(want string) {
		t.Helper()
		must.Match(t, "touch of", []string{want}, <-touched)
	}
	bucket.put("commands/a.md", "A")
	expect("a.md")
	bucket.put("skills/review/SKILL.md", conformance.Skill)
	must.Do(t, bucket.Delete(t.Context(), "commands/a.md"))
	expect("a.md")
	bucket.put("commands/team/b.md", "B")
	expect("team/b.md")
	cancel()
	must.Is(t, "Feed with a canceled context", context.Canceled, <-ended)
	_, ended = run(t.Context())
	store.Close()
	must.Is(t, "Feed after Close", fs.ErrClosed, <-ended)
	store = newStore(t, kv, jetstream.Options{})
	_, ended = run(t.Context())
	conn.Close()
	if err := <-ended; err == nil {
		t.Error("Feed without a connection returns no error")
	}
}

func TestFeedAsksTheServerRegularly(t *testing.T) {
	node := startNode(t)
	node.create()
	set(t, &interval.Feed, time.Millisecond)
	store := node.store(jetstream.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	touches := 0
	err := store.Feed(ctx, func(paths ...string) {
		if touches++; len(paths) != 0 {
			t.Errorf("touch of %q without a change", paths)
		}
		if touches == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || touches != 3 {
		t.Errorf("Feed: %v after %d touches", err, touches)
	}
}

func TestACatalogWithAFeedMakesNoRequest(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	bucket.put("a.md", "A")
	conn, kv := node.open()
	store := newStore(t, kv, jetstream.Options{})
	catalog := must.Get(toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("team", store), toolshelf.WithFeed(time.Hour, store.Feed)))(t)
	defer catalog.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	list := func() int {
		t.Helper()
		return must.Get(catalog.List(ctx, toolshelf.Page{}))(t).Pagination.Total
	}
	list()
	for quiet := 0; quiet < 3; quiet++ { // until the feed is connected and the scans have ended
		before := conn.Stats().OutMsgs
		if list(); conn.Stats().OutMsgs != before {
			quiet = -1
		}
	}
	bucket.put("b.md", "B")
	for list() != 2 { // until the feed reports the change
	}
}

func TestClose(t *testing.T) {
	node := startNode(t)
	node.create().put("a.md", "A")
	store := node.store(jetstream.Options{Stale: func(error, time.Duration) error { t.Error("Stale is called"); return nil }})
	files := snapshot(t, store)
	store.Close()
	must.Fail(store.Snapshot(t.Context()))(t, "Snapshot after Close", fs.ErrClosed)
	same(t, files, map[string]string{"a.md": "A"})
	if _, err := jetstream.New(nil, jetstream.Options{Dir: "../a"}); err == nil {
		t.Error("New accepts a directory outside the bucket")
	}
}

func TestConcurrentReads(t *testing.T) {
	node := startNode(t)
	bucket := node.create()
	bucket.put("a.md", "0")
	store := node.store(jetstream.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := fs.ReadFile(store, "a.md"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 50 {
		bucket.put("a.md", fmt.Sprint(i))
	}
	wg.Wait()
}
