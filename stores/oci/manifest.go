package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
)

const (
	maxManifest = 4 << 20 // bytes, the limit of most registries
	maxFields   = 1 << 17 // of a manifest; a layer has four or more in a hundred bytes
)

// A manifest is an image manifest or an image index, of OCI or of Docker.
type manifest struct {
	Manifests   []v1.Descriptor   `json:"manifests"`
	Layers      []v1.Descriptor   `json:"layers"`
	Annotations map[string]string `json:"annotations"`
}

// files returns the files of the artifact, or last if the manifest is the same.
func (s *source) files(ctx context.Context, last *filetree.FS) (*filetree.FS, error) {
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
	all := artifact{files: filetree.NewBuilder(s.opts.MaxSize, errTooLarge), left: 4*min(s.opts.MaxSize, 1<<60) + 1<<20}
	for _, desc := range layers {
		raw := contents[desc.Digest]
		if isArchive(desc) {
			err = all.unpack(ctx, raw)
		} else {
			f := newFile(raw, desc.Digest)
			f.ModTime, f.Kept = created, f.Size
			name := strings.TrimPrefix(title(desc), "./")
			if name != "." {
				all.files.RemoveAll(name) // a file replaces a directory
			}
			err = all.files.Put(name, *f)
		}
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", desc.Digest, err)
		}
	}
	s.layers = contents
	return all.files.FS(top.Digest.String()).Below(s.opts.Dir)
}

func (s *source) manifest(ctx context.Context, desc v1.Descriptor) (m manifest, err error) {
	if desc.Size > maxManifest {
		return m, fmt.Errorf("manifest of %d bytes: the limit is %d", desc.Size, maxManifest)
	}
	raw, err := s.fetchAll(ctx, desc)
	if bytes.Count(raw, []byte(",")) > maxFields {
		err = fmt.Errorf("manifest of more than %d fields: push fewer layers", maxFields)
	}
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	return m, err
}

func (s *source) fetchAll(ctx context.Context, desc v1.Descriptor) ([]byte, error) {
	r, err := s.target.Fetch(ctx, desc)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	left := int64(math.MaxInt64) // ReadAll checks the size
	return content.ReadAll(&bounded{r, ctx, &left}, desc)
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
				if raw, err = s.fetchAll(ctx, desc); err != nil {
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
