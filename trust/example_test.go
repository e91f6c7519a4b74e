package trust_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/trust"
)

// A store remembers the digest that the user approves. Changed content is refused again, and the
// store has the approved text for a comparison.
func Example() {
	config, err := os.MkdirTemp("", "config") // a program uses os.UserConfigDir
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(config)
	store, err := trust.Open(filepath.Join(config, "toolshelf", "trust"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	// A program gets the refused entries from Catalog.Pending.
	refused := toolshelf.Pending{
		Item: toolshelf.Item{Kind: "command", Name: "deploy", Layer: "/project/.claude/commands",
			Digest: "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"},
		New: map[string]string{"deploy.md": "foo"},
	}
	fmt.Println(store.Allowed(ctx, refused.Item))
	if err := store.Approve(ctx, refused); err != nil {
		log.Fatal(err)
	}
	fmt.Println(store.Allowed(ctx, refused.Item))

	changed := refused.Item
	changed.Digest = "sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"
	fmt.Println(store.Allowed(ctx, changed), store.Approved(ctx, changed))
	// Output:
	// false
	// true
	// false map[deploy.md:foo]
}

// project makes a project with a command, and a trust file beside the project.
func project() (dir, file string) {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	commands := filepath.Join(dir, "project", "commands")
	if err := os.MkdirAll(commands, 0o700); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(commands, "deploy.md"), []byte("Deploy $1.\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	return dir, filepath.Join(dir, "config", "trust") // a program uses os.UserConfigDir
}

// Trust on first use approves the items without a decision, and no changed item.
func ExampleStore_ApproveFirst() {
	dir, file := project()
	defer os.RemoveAll(dir)
	store, err := trust.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	root := filepath.Join(dir, "project")
	catalog, err := toolshelf.New(toolshelf.WithRoot(root), toolshelf.WithGate(store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	ctx := context.Background()
	for _, text := range []string{"Deploy $1.\n", "Deploy everything.\n"} {
		command := filepath.Join(root, "commands", "deploy.md")
		if err := os.WriteFile(command, []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
		pending, err := catalog.Pending(ctx)
		if err != nil {
			log.Fatal(err)
		}
		known := slices.DeleteFunc(slices.Clone(pending), func(p toolshelf.Pending) bool { return p.Digest == "" })
		if err := store.ApproveFirst(ctx, known...); err != nil {
			log.Fatal(err)
		}
		for _, p := range pending {
			fmt.Println(p.Kind, p.Name, store.Allowed(ctx, p.Item))
		}
	}
	// Output:
	// command deploy true
	// command deploy false
}

// A second catalog, with a store without a file, has each entry of the project in Pending, also the
// approved entries.
func ExampleStore_Revoke() {
	dir, file := project()
	defer os.RemoveAll(dir)
	store, err := trust.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	nothing, err := trust.Open(file + "-without-a-file")
	if err != nil {
		log.Fatal(err)
	}
	all, err := toolshelf.New(toolshelf.WithRoot(filepath.Join(dir, "project")), toolshelf.WithGate(nothing))
	if err != nil {
		log.Fatal(err)
	}
	defer all.Close()
	ctx := context.Background()
	entries, err := all.Pending(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Approve(ctx, entries...); err != nil {
		log.Fatal(err)
	}
	for _, p := range entries {
		if p.Kind != toolshelf.KindCommand || p.Name != "deploy" {
			continue
		}
		fmt.Println(store.Allowed(ctx, p.Item))
		if err := store.Revoke(ctx, p.Item); err != nil {
			log.Fatal(err)
		}
		fmt.Println(store.Allowed(ctx, p.Item))
	}
	// Output:
	// true
	// false
}
