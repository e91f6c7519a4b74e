package oci

import (
	"context"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
)

// Unpack unpacks a layer.
func Unpack(ctx context.Context, layer []byte) error {
	a := artifact{files: filetree.NewBuilder(1<<30, errTooLarge), left: 1 << 30}
	return a.unpack(ctx, layer)
}
