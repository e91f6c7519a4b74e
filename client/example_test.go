package client_test

import (
	"fmt"
	"log"

	"github.com/toolshelf-go/toolshelf/client"
)

// The row of a client has its places, and its rules for arguments.
func ExampleLookup() {
	c, err := client.Lookup("claude")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Title)
	for _, place := range c.Commands {
		fmt.Println(place.Path())
	}
	_, err = client.Lookup("cluade")
	fmt.Println(err)
	// Output:
	// Claude Code
	// .claude/commands
	// ~/.claude/commands
	// unknown client "cluade"; did you mean "claude"?
}
