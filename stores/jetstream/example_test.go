package jetstream_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/jetstream"
)

func ExampleNew() {
	ctx := context.Background()
	kv, stop := exampleBucket(ctx)
	defer stop()
	store, err := jetstream.New(kv, jetstream.Options{Dir: "commands"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	catalog, err := toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()

	if _, err := kv.PutString(ctx, "commands/deploy.md", "Deploy to $1."); err != nil {
		log.Fatal(err)
	}
	command, err := catalog.Get(ctx, "deploy")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(command.Content)
	// Output: Deploy to $1.
}

func ExampleStore_Feed() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	kv, stop := exampleBucket(ctx)
	defer stop()
	store, err := jetstream.New(kv, jetstream.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	err = store.Feed(ctx, func(paths ...string) {
		if len(paths) > 0 {
			fmt.Println("changed:", paths)
			cancel()
			return
		}
		fmt.Println("connected")
		if _, err := kv.PutString(ctx, "commands/deploy.md", "Deploy to $1."); err != nil {
			log.Fatal(err)
		}
	})
	fmt.Println(err)
	// Output:
	// connected
	// changed: [commands/deploy.md]
	// context canceled
}

// exampleBucket starts a server with a bucket.
func exampleBucket(ctx context.Context) (kv natsjs.KeyValue, stop func()) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	node, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		log.Fatal(err)
	}
	node.Start()
	conn, err := nats.Connect("", nats.InProcessServer(node))
	if err != nil {
		log.Fatal(err)
	}
	js, err := natsjs.New(conn)
	if err != nil {
		log.Fatal(err)
	}
	if kv, err = js.CreateKeyValue(ctx, natsjs.KeyValueConfig{Bucket: "team"}); err != nil {
		log.Fatal(err)
	}
	return kv, func() {
		conn.Close()
		node.Shutdown()
		node.WaitForShutdown()
		os.RemoveAll(dir)
	}
}
