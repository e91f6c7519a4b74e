package jetstream_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/jetstream"
)

func Example() {
	ctx := context.Background()
	conn, err := nats.Connect("nats://nats.example.com:4222")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	js, err := natsjs.New(conn)
	if err != nil {
		log.Fatal(err)
	}
	bucket, err := js.KeyValue(ctx, "team")
	if err != nil {
		log.Fatal(err)
	}
	store, err := jetstream.New(bucket, jetstream.Options{Dir: "commands"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	catalog, err := toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("team", store),
		toolshelf.WithFeed(time.Minute, store.Feed))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	command, err := catalog.Get(ctx, "deploy")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(command.Content)
}
