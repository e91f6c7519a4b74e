package main

import (
	"fmt"

	"github.com/toolshelf-go/toolshelf/agentmd"
)

func main() {
	document := agentmd.Parse([]byte("---\ndescription: Deploy\n---\nDeploy to $1.\n"))
	fmt.Printf("%q %d\n", document.Body, len(document.Diagnostics))
}

// Output: "Deploy to $1.\n" 0
