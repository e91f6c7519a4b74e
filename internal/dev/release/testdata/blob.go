package main

import (
	"context"
	"fmt"
	"log"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/azure"
	"github.com/toolshelf-go/toolshelf/stores/blob/gcs"
	"github.com/toolshelf-go/toolshelf/stores/blob/s3"
	"gocloud.dev/blob/memblob"
)

var _ = []any{azure.Versions, gcs.Versions, s3.Versions}

func main() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	if err := bucket.WriteAll(ctx, "deploy.md", []byte("Deploy to $1."), nil); err != nil {
		log.Fatal(err)
	}
	store, err := blob.New(bucket, blob.Options{})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	command, err := catalog.Get(ctx, "deploy")
	fmt.Println(command.Content, err)
}

// Output: Deploy to $1. <nil>
