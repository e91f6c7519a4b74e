package s3_test

import (
	"context"
	"log"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/toolshelf-go/toolshelf"
	"gocloud.dev/blob/s3blob"

	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/s3"
)

func Example() {
	ctx := context.Background()
	client := awss3.NewFromConfig(aws.Config{Region: "eu-central-1"}) // usually config.LoadDefaultConfig(ctx)
	bucket, err := s3blob.OpenBucket(ctx, client, "team-shelf", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bucket.Close()
	store, err := blob.New(bucket, blob.Options{Dir: "commands", Versions: s3.Versions})
	if err != nil {
		log.Fatal(err)
	}
	cat, err := toolshelf.New(toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer cat.Close()
}
