package servertest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/jetstream"
	"github.com/toolshelf-go/toolshelf/stores/jetstream/internal/interval"
)

// backup copies the directory of the server, and returns a function that restores the copy.
func (n *node) backup() (restore func()) {
	n.t.Helper()
	saved := n.t.TempDir()
	copyTo := func(dst, src string) {
		n.stop()
		if err := os.RemoveAll(dst); err != nil {
			n.t.Fatal(err)
		}
		if err := os.CopyFS(dst, os.DirFS(src)); err != nil {
			n.t.Fatal(err)
		}
		n.start()
	}
	copyTo(saved, n.opts.StoreDir)
	return func() { copyTo(n.opts.StoreDir, saved) }
}

// A resuming bucket is a bucket of a client that resumes its first watch at a later revision, after
// the server has lost the consumer. A client needs 10 to 20 seconds for this.
type resuming struct {
	natsjs.KeyValue
	t       *testing.T
	updates chan natsjs.KeyValueEntry
}

func (r *resuming) Updates() <-chan natsjs.KeyValueEntry { return r.updates }
func (r *resuming) Stop() error                          { return nil }

func (r *resuming) WatchAll(ctx context.Context, opts ...natsjs.WatchOpt) (natsjs.KeyWatcher, error) {
	watch, err := r.KeyValue.WatchAll(ctx, opts...)
	if r.updates != nil || err != nil {
		return watch, err
	}
	r.updates = make(chan natsjs.KeyValueEntry, 100)
	for change := range watch.Updates() {
		r.updates <- change
		if change == nil {
			break
		}
	}
	return r, watch.Stop()
}

// resume delivers the messages from a revision.
func (r *resuming) resume(revision uint64) {
	r.t.Helper()
	watch, err := r.KeyValue.WatchAll(r.t.Context(), natsjs.ResumeFromRevision(revision))
	if err != nil {
		r.t.Fatal(err)
	}
	for change := range watch.Updates() {
		if change == nil {
			return
		}
		r.updates <- change
	}
}

// The server is restored from a backup that is older than the snapshot of the store. The stream
// keeps the time of its creation, and new messages have the revisions of the lost messages.
func TestAStreamThatGoesBack(t *testing.T) {
	backup := map[string]string{"a.md": "A", "b.md": "B", "c.md": "C"}
	tests := map[string]struct {
		after  []string // keys that are written after the backup was restored
		resume bool     // the client resumes the watch
	}{
		"without new messages":                  {},
		"to an earlier revision":                {after: []string{"new.md"}},
		"to the same revision":                  {after: []string{"b.md", "new.md", "other.md"}},
		"to a later revision":                   {after: []string{"b.md", "new.md", "other.md", "a.md", "last.md"}},
		"to an earlier revision with the watch": {after: []string{"new.md"}, resume: true},
		"to the same revision with the watch":   {after: []string{"b.md", "c.md", "a.md"}, resume: true},
		"to a later revision with the watch":    {after: []string{"b.md", "new.md", "other.md", "c.md"}, resume: true},
		"with the same keys":                    {after: []string{"b.md", "lost.md", "a.md", "lost.md"}, resume: true},
		"with the last key again":               {after: []string{"b.md", "c.md", "c.md", "a.md"}, resume: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.resume {
				set(t, &interval.MaxQuiet, 0)
			}
			node := startNode(t)
			bucket := node.create()
			want := maps.Clone(backup)
			for _, key := range []string{"a.md", "b.md", "c.md"} {
				bucket.put(key, want[key])
			}
			restore := node.backup()
			conn, kv := node.open()
			client := &resuming{KeyValue: kv, t: t}
			if !test.resume {
				client.updates = make(chan natsjs.KeyValueEntry) // every watch is a watch of the client
			}
			store := newStore(t, client, jetstream.Options{})
			flush(t, bucket.js.Conn())
			bucket.put("b.md", "lost")
			bucket.put("lost.md", "lost")
			bucket.put("a.md", "lost")
			before := snapshot(t, store)
			restore()
			flush(t, bucket.js.Conn(), conn)
			for i, key := range test.after {
				want[key] = fmt.Sprint(i)
				bucket.put(key, want[key])
			}
			if test.resume {
				client.resume(7)
			}
			after := snapshot(t, store)
			same(t, after, want)
			if version(t, before) == version(t, after) {
				t.Error("the version is the same")
			}
		})
	}
}

// The messages since the last snapshot are lost in part, and no new message has a lost key.
func TestAStreamThatGoesBackAfterTheSnapshot(t *testing.T) {
	set(t, &interval.MaxQuiet, 0)
	node := startNode(t)
	bucket := node.create()
	for _, key := range []string{"a.md", "b.md", "c.md"} {
		bucket.put(key, "old")
	}
	conn, kv := node.open()
	client := &resuming{KeyValue: kv, t: t}
	store := newStore(t, client, jetstream.Options{})
	snapshot(t, store)
	bucket.put("d.md", "kept")
	restore := node.backup()
	flush(t, bucket.js.Conn(), conn)
	bucket.put("b.md", "lost")
	client.resume(4)
	restore()
	flush(t, bucket.js.Conn(), conn)
	bucket.put("d.md", "new")
	bucket.put("a.md", "new")
	client.resume(6)
	same(t, snapshot(t, store), map[string]string{"a.md": "new", "b.md": "old", "c.md": "old", "d.md": "new"})
}

// flush waits until the connections are back.
func flush(t *testing.T, conns ...*nats.Conn) {
	t.Helper()
	for _, conn := range conns {
		must.Do(t, conn.FlushTimeout(30*time.Second))
	}
}

// After a while without a snapshot, the store verifies its copy and does not copy the bucket again.
func TestAVerifiedCopyIsNotCopiedAgain(t *testing.T) {
	set(t, &interval.MaxQuiet, 0)
	node := startNode(t)
	bucket := node.create()
	want := map[string]string{}
	write := func(key, value string) {
		bucket.put(key, value)
		want[key] = value
	}
	for i := range 100 {
		write(fmt.Sprintf("large%d.md", i), strings.Repeat("x", 10_000))
	}
	for i := range 10 {
		write(fmt.Sprintf("small%d.md", i), "x")
	}
	conn, kv := node.open()
	store := newStore(t, kv, jetstream.Options{})
	snapshot(t, store)
	received := conn.Stats().InBytes
	for i, key := range []string{"a.md", "a.md", "b.md", "small1.md", "a.md"} {
		write(key, fmt.Sprint(i))
		same(t, snapshot(t, store), want)
	}
	must.Do(t, bucket.Delete(t.Context(), "b.md"))
	delete(want, "b.md")
	same(t, snapshot(t, store), want)
	if got := conn.Stats().InBytes - received; got > 100_000 {
		t.Errorf("%d bytes are received, want less than a copy", got)
	}
}

// A message with a time to live leaves the earlier messages of its key.
func TestAnEarlierMessageReturns(t *testing.T) {
	node := startNode(t)
	_, js := node.connect()
	kv := must.Get(js.CreateKeyValue(t.Context(), natsjs.KeyValueConfig{Bucket: bucket, History: 3, LimitMarkerTTL: time.Second}))(t)
	bucket := &writer{t, kv, js}
	store := node.store(jetstream.Options{})
	quiet := node.store(jetstream.Options{})
	bucket.put("deleted.md", "old")
	must.Do(t, bucket.Delete(t.Context(), "deleted.md"))
	bucket.put("value.md", "old")
	bucket.put("other.md", "one")
	for _, key := range []string{"deleted.md", "value.md"} {
		must.Get(js.Publish(t.Context(), "$KV.team."+key, []byte("new"), natsjs.WithMsgTTL(time.Second)))(t)
	}
	for _, s := range []*jetstream.Store{store, quiet} {
		same(t, snapshot(t, s), map[string]string{"deleted.md": "new", "value.md": "new", "other.md": "one"})
	}
	for values := uint64(6); values != 4; { // until the messages have expired
		values = must.Get(bucket.Status(t.Context()))(t).Values()
	}
	same(t, snapshot(t, store), map[string]string{"value.md": "old", "other.md": "one"})
	bucket.put("other.md", "two")
	for _, s := range []*jetstream.Store{store, quiet} {
		same(t, snapshot(t, s), map[string]string{"value.md": "old", "other.md": "two"})
	}
}
