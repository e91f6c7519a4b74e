package servertest

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

const bucket = "team"

// A node is a NATS server in this process, with JetStream on disk.
type node struct {
	t    *testing.T
	opts server.Options
	*server.Server
}

func startNode(t *testing.T) *node {
	t.Helper()
	n := &node{t: t, opts: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}}
	n.start()
	t.Cleanup(n.stop)
	return n
}

func (n *node) start() {
	n.t.Helper()
	opts := n.opts
	started, err := server.NewServer(&opts)
	if err != nil {
		n.t.Fatal(err)
	}
	started.Start()
	if !started.ReadyForConnections(30 * time.Second) {
		n.t.Fatal("the server does not start")
	}
	n.Server = started
	n.opts.Port = opts.Port // the same port after stop and start
}

func (n *node) stop() {
	n.Shutdown()
	n.WaitForShutdown()
}

// connect returns a connection of its own, as another process has.
func (n *node) connect() (*nats.Conn, jetstream.JetStream) {
	n.t.Helper()
	conn, err := nats.Connect(n.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		n.t.Fatal(err)
	}
	return conn, js
}

// A writer is a client that changes the bucket.
type writer struct {
	t *testing.T
	jetstream.KeyValue
	js jetstream.JetStream
}

func (n *node) create() *writer {
	n.t.Helper()
	_, js := n.connect()
	w := &writer{t: n.t, js: js}
	w.create()
	return w
}

func (w *writer) create() {
	w.t.Helper()
	kv, err := w.js.CreateKeyValue(w.t.Context(), jetstream.KeyValueConfig{Bucket: bucket})
	if err != nil {
		w.t.Fatal(err)
	}
	w.KeyValue = kv
}

func (w *writer) put(key, value string) uint64 {
	w.t.Helper()
	revision, err := w.PutString(w.t.Context(), key, value)
	if err != nil {
		w.t.Fatalf("%s: %v", key, err)
	}
	return revision
}

// replace puts the files, and deletes all other keys.
func (w *writer) replace(files map[string]string) {
	w.t.Helper()
	keys, err := w.Keys(w.t.Context())
	if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		w.t.Fatal(err)
	}
	for key, content := range files {
		w.put(key, content)
	}
	for _, key := range keys {
		if _, ok := files[key]; !ok {
			must.Do(w.t, w.Delete(w.t.Context(), key))
		}
	}
}

func (w *writer) stream() jetstream.Stream {
	w.t.Helper()
	stream, err := w.js.Stream(w.t.Context(), "KV_"+bucket)
	if err != nil {
		w.t.Fatal(err)
	}
	return stream
}

// set sets an interval of the stores during a test.
func set(t *testing.T, interval *time.Duration, d time.Duration) {
	previous := *interval
	*interval = d
	t.Cleanup(func() { *interval = previous })
}

// open returns the bucket over a connection of its own.
func (n *node) open() (*nats.Conn, jetstream.KeyValue) {
	n.t.Helper()
	conn, js := n.connect()
	kv, err := js.KeyValue(n.t.Context(), bucket)
	if err != nil {
		n.t.Fatal(err)
	}
	return conn, kv
}
