package main

import (
	"context"
	"fmt"

	"github.com/toolshelf-go/toolshelf/stores/wellknown"
)

func main() {
	_, err := wellknown.Open(context.Background(), "https://example.com", wellknown.Options{Offline: true})
	fmt.Println(err)
}

// Output: wellknown: the cache has no index of the origin; open the store without Offline once
