package main

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// newFeed returns a feed for toolshelf.WithFeed. The feed reports the key of each event. Events can
// be lost or late while the servers elect a leader. Therefore the feed also reports a possible
// change at each heartbeat, as long as the servers answer. If the feed is silent, each call checks
// the bucket.
func newFeed(urls string, heartbeat time.Duration) func(ctx context.Context, touch func(paths ...string)) error {
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
		consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy})
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
