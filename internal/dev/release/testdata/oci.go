package main

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/oci"
)

func main() {
	store, err := oci.New(oci.Layout(fstest.MapFS{}), "v1", oci.Options{})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(catalog.Close())
}

// Output: <nil>
