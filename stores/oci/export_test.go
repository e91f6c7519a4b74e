package oci

import (
	"context"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

// Unpack unpacks a layer.
func Unpack(ctx context.Context, layer []byte) error {
	a := artifact{files: tree.NewBuilder(1<<30, errTooLarge), left: 1 << 30}
	return a.unpack(ctx, layer)
}
