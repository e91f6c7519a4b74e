package gcs_test

import (
	"context"
	"log"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/gcs"
	gocloud "gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob" // for gs://
)

// A program reads the commands of a bucket in Google Cloud Storage.
func Example() {
	ctx := context.Background()
	bucket, err := gocloud.OpenBucket(ctx, "gs://team-shelf")
	if err != nil {
		log.Fatal(err)
	}
	defer bucket.Close()
	store, err := blob.New(bucket, blob.Options{Dir: "commands", Versions: gcs.Versions})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
}
