package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-billy/v5/util"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/git"
)

func main() {
	files := memfs.New()
	repo, err := gogit.Init(filesystem.NewStorage(memfs.New(), cache.NewObjectLRUDefault()), files)
	if err != nil {
		log.Fatal(err)
	}
	if err := util.WriteFile(files, "deploy.md", []byte("Deploy to $1."), 0o644); err != nil {
		log.Fatal(err)
	}
	worktree, err := repo.Worktree()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := worktree.Add("deploy.md"); err != nil {
		log.Fatal(err)
	}
	author := &object.Signature{Name: "A", Email: "a@example.com", When: time.Unix(0, 0)}
	if _, err := worktree.Commit("Add a command", &gogit.CommitOptions{Author: author}); err != nil {
		log.Fatal(err)
	}
	store, err := git.New(repo, "HEAD", git.Options{})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "deploy")
	fmt.Println(command.Content, err)
}

// Output: Deploy to $1. <nil>
