package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// events is the name and the subject of the stream with the changes of the bucket. The message of a
// change is the key of the object.
const events = "events"

// A cluster is three NATS servers. Each server has a copy of the stream with the events.
type cluster struct {
	dir   string
	nodes []*server.Server
	urls  string // of all servers, separated by commas
	conn  *nats.Conn
}

// startCluster starts the servers and creates the stream.
func startCluster(ctx context.Context) (*cluster, error) {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir}
	if err = c.serve(3); err == nil {
		err = c.createStream(ctx)
	}
	if err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// serve starts the servers. The other servers connect to the first, and learn of each other there.
func (c *cluster) serve(nodes int) error {
	var routes, urls []string
	for i := range nodes {
		name := fmt.Sprintf("node-%d", i)
		node, err := server.NewServer(&server.Options{
			ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: filepath.Join(c.dir, name),
			Cluster: server.ClusterOpts{Name: "fleet", Host: "127.0.0.1", Port: server.RANDOM_PORT},
			Routes:  server.RoutesFromStr(strings.Join(routes, ",")),
		})
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, node)
		node.Start()
		if !node.ReadyForConnections(30 * time.Second) {
			return fmt.Errorf("the NATS server %s does not start", name)
		}
		routes, urls = append(routes, "nats://"+node.ClusterAddr().String()), append(urls, node.ClientURL())
	}
	c.urls = strings.Join(urls, ",")
	var err error
	c.conn, err = nats.Connect(c.urls, nats.MaxReconnects(-1))
	return err
}

// createStream tries again until the servers have elected a leader.
func (c *cluster) createStream(ctx context.Context) error {
	js, err := jetstream.New(c.conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		attempt, cancel := context.WithTimeout(ctx, time.Second) // servers without a leader do not answer
		_, err := js.CreateStream(attempt, jetstream.StreamConfig{Name: events, Subjects: []string{events}, Replicas: len(c.nodes), MaxMsgs: 10_000})
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the stream of events: %w", errors.Join(err, ctx.Err()))
		}
	}
}

// publish reports a change of an object, and does not wait for the stream.
func (c *cluster) publish(key string) error { return c.conn.Publish(events, []byte(key)) }

// stopLeader stops the leader of the stream and returns its name. The other servers elect a new
// leader.
func (c *cluster) stopLeader() string {
	for _, node := range c.nodes {
		if node.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, events) {
			node.Shutdown()
			return node.Name()
		}
	}
	return "no server"
}

func (c *cluster) stop() {
	if c.conn != nil {
		c.conn.Close()
	}
	for _, node := range c.nodes {
		node.Shutdown()
		node.WaitForShutdown()
	}
	os.RemoveAll(c.dir)
}
