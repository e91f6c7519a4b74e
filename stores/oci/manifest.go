package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

const maxManifest = 4 << 20 // bytes, the limit of most registries

// A manifest is an image manifest or an image index, of OCI or of Docker.
type manifest struct {
	Manifests   []v1.Descriptor   `json:"manifests"`
	Layers      []v1.Descriptor   `json:"layers"`
	Annotations map[string]string `json:"annotations"`
}

// files returns the files of the artifact, or last if the manifest is the same.
func (s *source) files(ctx context.Context, last *tree.FS) (*tree.FS, error) {
	top, err := s.target.Resolve(ctx, s.reference)
	if errors.Is(err, errdef.ErrNotFound) {
		return nil, fmt.Errorf("%w: push the artifact", fs.ErrNotExist)
	}
	if err != nil || last != nil && last.Version() == top.Digest.String() {
		return last, err
	}
	m, err := s.manifest(ctx, top)
	if err == nil && len(m.Manifests) > 0 {
		// Builders add manifests of attestations, for an unknown platform.
		i := slices.IndexFunc(m.Manifests, func(desc v1.Descriptor) bool { return desc.Platform == nil || desc.Platform.OS != "unknown" })
		m, err = s.manifest(ctx, m.Manifests[max(i, 0)])
	}
	if err != nil {
		return nil, err
	}
	layers := slices.DeleteFunc(m.Layers, func(desc v1.Descriptor) bool { return title(desc) == "" && !isArchive(desc) })
	contents, err := s.fetch(ctx, layers)
	if err != nil {
		return nil, err
	}
	created, _ := time.Parse(time.RFC3339, m.Annotations[v1.AnnotationCreated]) // zero if unknown
	all := artifact{files: map[string]tree.File{}, left: s.opts.MaxSize}
	for _, desc := range layers {
		if isArchive(desc) {
			err = all.unpack(contents[desc.Digest])
		} else {
			err = all.add(all.files, title(desc), newFile(contents[desc.Digest], created))
		}
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", desc.Digest, err)
		}
	}
	s.layers = contents
	return tree.New(top.Digest.String(), all.files).Below(s.opts.Dir)
}

func (s *source) manifest(ctx context.Context, desc v1.Descriptor) (m manifest, err error) {
	if desc.Size > maxManifest {
		return m, fmt.Errorf("manifest of %d bytes: the limit is %d", desc.Size, maxManifest)
	}
	raw, err := content.FetchAll(ctx, s.target, desc)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	return m, err
}

// fetch returns the layers. The layers of the last snapshot are not fetched again.
func (s *source) fetch(ctx context.Context, layers []v1.Descriptor) (map[digest.Digest][]byte, error) {
	size := int64(0)
	for _, desc := range layers {
		if size += desc.Size; desc.Size < 0 || size > s.opts.MaxSize {
			return nil, errTooLarge
		}
	}
	var mu sync.Mutex
	contents := map[digest.Digest][]byte{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, desc := range layers {
		group.Go(func() (err error) {
			raw, ok := s.layers[desc.Digest]
			if !ok {
				if raw, err = content.FetchAll(ctx, s.target, desc); err != nil {
					return fmt.Errorf("layer %s: %w", desc.Digest, err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			contents[desc.Digest] = raw
			return nil
		})
	}
	return contents, group.Wait()
}
