package oci

import (
	"context"
	"io/fs"

	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
)

// Layout returns the artifacts of an image layout, such as os.DirFS("layout"). The result
// reads index.json in each Resolve, so a [Store] sees the tags that other processes set.
// The stores of oras-go read index.json only once.
func Layout(fsys fs.FS) oras.ReadOnlyTarget {
	return layout{oci.NewStorageFromFS(fsys), fsys}
}

type layout struct {
	*oci.ReadOnlyStorage
	fsys fs.FS
}

// Resolve implements content.Resolver.
func (l layout) Resolve(ctx context.Context, reference string) (v1.Descriptor, error) {
	store, err := oci.NewFromFS(ctx, l.fsys)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return store.Resolve(ctx, reference)
}
