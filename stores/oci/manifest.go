package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

const (
	maxManifest = 4 << 20 // bytes, the limit of most registries
	maxFetches  = 8
)

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
		m, err = s.manifest(ctx, choose(m.Manifests))
	}
	if err != nil {
		return nil, err
	}
	created, _ := time.Parse(time.RFC3339, m.Annotations[v1.AnnotationCreated]) // zero if unknown
	unpacked, err := s.unpackAll(ctx, m.Layers, created)
	if err != nil {
		return nil, err
	}
	all, layers := map[string]tree.File{}, map[layerKey][]entry{}
	for i, desc := range m.Layers {
		merge(all, unpacked[i])
		layers[keyOf(desc)] = unpacked[i]
	}
	files := all
	if s.opts.Dir != "." {
		files = map[string]tree.File{}
		for name, f := range all {
			if below, ok := strings.CutPrefix(name, s.opts.Dir+"/"); ok {
				files[below] = f
			}
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("directory %q: %w", s.opts.Dir, fs.ErrNotExist)
		}
	}
	s.layers = layers
	return tree.New(top.Digest.String(), files), nil
}

// choose returns the manifest of an index. Builders add manifests of attestations, for an
// unknown platform.
func choose(manifests []v1.Descriptor) v1.Descriptor {
	for _, desc := range manifests {
		if desc.Platform == nil || desc.Platform.OS != "unknown" {
			return desc
		}
	}
	return manifests[0]
}

func (s *source) manifest(ctx context.Context, desc v1.Descriptor) (m manifest, err error) {
	if desc.Size > maxManifest {
		return m, fmt.Errorf("manifest of %d bytes: the limit is %d", desc.Size, maxManifest)
	}
	raw, err := content.FetchAll(ctx, s.target, desc)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(raw, &m)
}

// unpackAll returns the entries of each layer.
func (s *source) unpackAll(ctx context.Context, layers []v1.Descriptor, created time.Time) ([][]entry, error) {
	size := int64(0)
	for _, desc := range layers {
		if size += desc.Size; desc.Size < 0 || size > s.opts.MaxSize {
			return nil, errTooLarge
		}
	}
	unpacked := make([][]entry, len(layers))
	left := new(budget)
	left.left.Store(s.opts.MaxSize)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxFetches)
	for i, desc := range layers {
		group.Go(func() (err error) {
			key := keyOf(desc)
			known, ok := s.layers[key]
			switch {
			case ok:
				unpacked[i], err = known, left.take(known...)
			case key.title != "" || key.archive:
				var raw []byte
				if raw, err = content.FetchAll(ctx, s.target, desc); err == nil {
					unpacked[i], err = unpack(key, raw, created, left)
				}
			}
			if err != nil {
				return fmt.Errorf("layer %s: %w", desc.Digest, err)
			}
			return nil
		})
	}
	return unpacked, group.Wait()
}
