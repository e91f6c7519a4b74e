package main

import (
	"context"
	"fmt"
	"log"

	"github.com/spf13/afero"
	"github.com/toolshelf-go/toolshelf"
)

func main() {
	files := afero.NewMemMapFs()
	if err := afero.WriteFile(files, "/commands/deploy.md", []byte("Deploy to $1."), 0o644); err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(files), toolshelf.WithRoot("/"))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "deploy")
	if err != nil {
		log.Fatal(err)
	}
	text, err := command.Render("production")
	fmt.Println(text, err)
}

// Output: Deploy to production. <nil>
