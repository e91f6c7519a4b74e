package azure_test

import (
	"context"
	"log"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/azure"
	gocloud "gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // for azblob://
)

// A program reads the commands of a container in Azure Blob Storage.
func Example() {
	ctx := context.Background()
	bucket, err := gocloud.OpenBucket(ctx, "azblob://team-shelf")
	if err != nil {
		log.Fatal(err)
	}
	defer bucket.Close()
	store, err := blob.New(bucket, blob.Options{Dir: "commands", Versions: azure.Versions})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
}
