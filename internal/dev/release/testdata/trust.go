package main

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/trust"
)

func main() {
	store, err := trust.Open(filepath.Join("approvals", "trust.json"))
	if err != nil {
		log.Fatal(err)
	}
	project := fstest.MapFS{"deploy.md": {Data: []byte("Deploy to $1.")}}
	catalog, err := toolshelf.New(toolshelf.WithCommandsFS("project", project), toolshelf.WithGate(store, "project"))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	ctx := context.Background()
	pending, err := catalog.Pending(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Approve(ctx, pending...); err != nil {
		log.Fatal(err)
	}
	command, err := catalog.Get(ctx, "deploy")
	fmt.Println(len(pending), command.Content, err)
}

// Output: 1 Deploy to $1. <nil>
