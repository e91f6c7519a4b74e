package main

import (
	"context"
	"fmt"
	"log"

	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/jetstream"
)

// bucket is a bucket whose server does not answer.
type bucket struct{ natsjs.KeyValue }

func (bucket) Status(context.Context) (natsjs.KeyValueStatus, error) {
	return nil, context.DeadlineExceeded
}

func main() {
	store, err := jetstream.New(bucket{}, jetstream.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	catalog, err := toolshelf.New(toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(catalog.Close())
}

// Output: <nil>
