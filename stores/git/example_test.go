package git_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/git"
)

func ExampleNew() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	commit(dir, "commands/deploy.md", "Deploy to $1.")

	repo, err := gogit.PlainOpen(dir)
	if err != nil {
		log.Fatal(err)
	}
	store, err := git.New(repo, "refs/heads/master", git.Options{Dir: "commands"})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()

	commit(dir, "commands/rollback.md", "Undo the last deployment.")
	list, err := catalog.List(context.Background(), toolshelf.Page{})
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range list.Commands {
		fmt.Println(command.Name, "-", command.Description)
	}
	// Output:
	// deploy - Deploy to $1.
	// rollback - Undo the last deployment.
}

// A clone of a remote. If the remote does not answer, the catalog uses the last good
// snapshot for an hour.
func ExampleOptions() {
	open := func(repo *gogit.Repository) (fs.FS, error) {
		return git.New(repo, "refs/remotes/origin/main", git.Options{
			Dir:     "skills",
			Fetch:   &gogit.FetchOptions{RemoteName: "origin", Depth: 1},
			Timeout: 5 * time.Second,
			Stale: func(err error, age time.Duration) error {
				log.Printf("skills are %s old: %v", age.Round(time.Second), err)
				if age > time.Hour {
					return err
				}
				return nil
			},
		})
	}
	_ = open
}

// A snapshot has the files of one commit, also after later commits.
func ExampleStore_Snapshot() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	commit(dir, "a.md", "one")
	repo, err := gogit.PlainOpen(dir)
	if err != nil {
		log.Fatal(err)
	}
	store, err := git.New(repo, "HEAD", git.Options{})
	if err != nil {
		log.Fatal(err)
	}
	before, err := store.Snapshot(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	commit(dir, "a.md", "two")
	for _, fsys := range []fs.FS{before, store} {
		content, err := fs.ReadFile(fsys, "a.md")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(content))
	}
	// Output:
	// one
	// two
}

// commit writes a file to the repository in dir, and commits the file.
func commit(dir, name, content string) {
	repo, err := gogit.PlainOpen(dir)
	if err != nil {
		repo, err = gogit.PlainInit(dir, false)
	}
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		log.Fatal(err)
	}
	worktree, err := repo.Worktree()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := worktree.Add(name); err != nil {
		log.Fatal(err)
	}
	author := &object.Signature{Name: "A", Email: "a@example.com"}
	if _, err := worktree.Commit("Change "+name, &gogit.CommitOptions{Author: author}); err != nil {
		log.Fatal(err)
	}
}
