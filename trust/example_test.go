package trust_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/trust"
)

// A store remembers the digest that the user approves. Changed content is refused again, and the store
// has the approved text for a comparison.
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
