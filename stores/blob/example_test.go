package blob_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"gocloud.dev/blob/memblob"

	"github.com/toolshelf-go/toolshelf/stores/blob"
)

func Example() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil) // or s3blob.OpenBucket, with Options.Versions: s3.Versions
	defer bucket.Close()
	bucket.WriteAll(ctx, "team/commands/deploy.md", []byte("---\ndescription: Deploy the service\n---\nRun the tests first.\n"), nil)

	store, err := blob.New(bucket, blob.Options{
		Dir:     "team/commands",
		Timeout: 10 * time.Second,
		Stale: func(err error, age time.Duration) error {
			log.Printf("the bucket does not answer; serving the commands of %v ago: %v", age, err)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	cat, err := toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer cat.Close()
	list, err := cat.List(ctx, toolshelf.Page{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range list.Commands {
		fmt.Println(c.Name+":", c.Description)
	}
	// Output: deploy: Deploy the service
}

func ExampleStore_Snapshot() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	store, err := blob.New(bucket, blob.Options{})
	if err != nil {
		log.Fatal(err)
	}
	bucket.WriteAll(ctx, "deploy.md", []byte("Run the tests first."), nil)
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	bucket.WriteAll(ctx, "review.md", []byte("Read the diff."), nil)

	before, _ := fs.Glob(snapshot, "*.md")
	now, _ := fs.Glob(store, "*.md")
	fmt.Println(before, now)
	// Output: [deploy.md] [deploy.md review.md]
}

func ExampleStore_Sub() {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	bucket.WriteAll(context.Background(), "skills/pdf/SKILL.md", []byte("---\nname: pdf\ndescription: Read PDF files\n---\n"), nil)
	store, err := blob.New(bucket, blob.Options{})
	if err != nil {
		log.Fatal(err)
	}
	commands, _ := fs.Sub(store, "commands")
	skills, _ := fs.Sub(store, "skills")
	cat, err := toolshelf.New(toolshelf.WithCommandsFS("bucket", commands), toolshelf.WithSkillsFS("bucket", skills))
	if err != nil {
		log.Fatal(err)
	}
	defer cat.Close()
	list, err := cat.ListSkills(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(list[0].Name)
	// Output: pdf
}
