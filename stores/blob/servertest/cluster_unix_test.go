//go:build unix

package servertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// events is the name and the subject of the stream with the changes of a bucket. The message of a
// change is the key of the object.
const events = "events"

// patience limits the wait for a cluster and for a feed.
const patience = time.Minute

// A cluster is three NATS servers. Each server has a copy of the stream with the events.
type cluster struct {
	nodes []*server.Server
	urls  string // of all servers, separated by commas
	conn  *nats.Conn
}

// newCluster starts the servers and creates the stream. The other servers connect to the first, and
// learn of each other there.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := new(cluster)
	var routes, urls []string
	for i := range 3 {
		node := must.Get(server.NewServer(&server.Options{
			ServerName: fmt.Sprintf("node-%d", i), Host: "127.0.0.1", Port: server.RANDOM_PORT,
			NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
			Cluster: server.ClusterOpts{Name: "fleet", Host: "127.0.0.1", Port: server.RANDOM_PORT},
			// JetStream refuses a cluster whose server has no route. For the text "" of the first
			// server, RoutesFromStr returns one empty route.
			Routes: server.RoutesFromStr(strings.Join(routes, ",")),
		}))(t)
		t.Cleanup(func() {
			node.Shutdown()
			node.WaitForShutdown()
		})
		node.Start()
		if !node.ReadyForConnections(patience) {
			t.Fatalf("the NATS server %s does not start", node.Name())
		}
		c.nodes = append(c.nodes, node)
		routes = append(routes, "nats://"+node.ClusterAddr().String())
		urls = append(urls, node.ClientURL())
	}
	c.urls = strings.Join(urls, ",")
	c.conn = must.Get(nats.Connect(c.urls, nats.MaxReconnects(-1)))(t)
	t.Cleanup(c.conn.Close)
	c.createStream(t)
	return c
}

// createStream tries again until the servers have elected a leader. Servers without a leader do not
// answer.
func (c *cluster) createStream(t *testing.T) {
	t.Helper()
	js := must.Get(jetstream.New(c.conn))(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	config := jetstream.StreamConfig{
		Name: events, Subjects: []string{events}, Replicas: len(c.nodes), MaxMsgs: 10_000,
	}
	for {
		attempt, cancel := context.WithTimeout(ctx, time.Second)
		_, err := js.CreateStream(attempt, config)
		cancel()
		if err == nil {
			return
		}
		must.Do(t, ctx.Err())
		time.Sleep(50 * time.Millisecond)
	}
}

// publish reports a change of an object, and does not wait for the stream.
func (c *cluster) publish(key string) error { return c.conn.Publish(events, []byte(key)) }

// stopLeader stops the leader of the stream and returns its name, or "". The other servers elect a
// new leader.
func (c *cluster) stopLeader() string {
	for _, node := range c.nodes {
		if node.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, events) {
			node.Shutdown()
			return node.Name()
		}
	}
	return ""
}

// newFeed returns a feed for toolshelf.WithFeed. The feed reports the key of each event. Events can
// be lost or late while the servers elect a leader. Therefore the feed also reports a possible
// change at each heartbeat, as long as the servers answer. If the feed is silent, each call checks
// the bucket.
func newFeed(
	urls string, heartbeat time.Duration,
) func(ctx context.Context, touch func(paths ...string)) error {
	return func(ctx context.Context, touch func(paths ...string)) error {
		conn, err := nats.Connect(urls, nats.MaxReconnects(-1))
		if err != nil {
			return err
		}
		defer conn.Close()
		js, err := jetstream.New(conn)
		if err != nil {
			return err
		}
		stream, err := js.Stream(ctx, events)
		if err != nil {
			return err
		}
		consumer, err := stream.OrderedConsumer(ctx,
			jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy})
		if err != nil {
			return err
		}
		consuming, err := consumer.Consume(func(event jetstream.Msg) { touch(string(event.Data())) })
		if err != nil {
			return err
		}
		defer consuming.Stop()
		touch() // connected
		beat := time.NewTicker(heartbeat)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				if _, err := stream.Info(ctx); err == nil {
					touch()
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

func TestFeedReportsEventsAndHeartbeats(t *testing.T) {
	cluster := newCluster(t)
	for _, heartbeat := range []time.Duration{time.Millisecond, time.Hour} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		touched, ended := make(chan []string), make(chan error, 1)
		go func() {
			ended <- newFeed(cluster.urls, heartbeat)(ctx, func(paths ...string) {
				select {
				case touched <- paths:
				case <-ctx.Done():
				}
			})
			close(touched)
		}()
		<-touched // connected
		var want []string
		if heartbeat == time.Hour {
			want = []string{"a.md"}
			must.Do(t, cluster.publish("a.md"))
		}
		if paths, ok := <-touched; !ok || !slices.Equal(paths, want) {
			t.Errorf("heartbeat %v: touch of %q %v, want %q", heartbeat, paths, ok, want)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("heartbeat %v: %v", heartbeat, err)
		}
	}
}
