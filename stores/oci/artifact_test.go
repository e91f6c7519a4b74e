package oci_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/file"
	"oras.land/oras-go/v2/content/oci"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A layout is an image layout on disk. The tests push artifacts.
type layout struct {
	t   *testing.T
	dir string
}

func newLayout(t *testing.T) *layout {
	l := &layout{t, t.TempDir()}
	l.open()
	return l
}

func (l *layout) open() *oci.Store {
	l.t.Helper()
	store, err := oci.New(l.dir)
	l.check(err)
	return store
}

func (l *layout) check(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// orasPush does the same as "oras push LAYOUT:TAG PATH…" in a directory with the files.
func (l *layout) orasPush(tag string, files map[string]string, paths ...string) {
	l.t.Helper()
	dir := l.t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		l.check(os.MkdirAll(filepath.Dir(path), 0o755))
		l.check(os.WriteFile(path, []byte(content), 0o644))
	}
	source, err := file.New(dir)
	l.check(err)
	defer source.Close()
	source.TarReproducible = true
	var layers []v1.Descriptor
	for _, path := range paths {
		layer, err := source.Add(l.t.Context(), path, "", path)
		l.check(err)
		layers = append(layers, layer)
	}
	manifest, err := oras.PackManifest(l.t.Context(), source, oras.PackManifestVersion1_1, "application/vnd.unknown.artifact.v1",
		oras.PackManifestOptions{Layers: layers})
	l.check(err)
	l.check(source.Tag(l.t.Context(), manifest, tag))
	_, err = oras.Copy(l.t.Context(), source, tag, l.open(), tag, oras.DefaultCopyOptions)
	l.check(err)
}

// push stores a blob and returns the descriptor.
func (l *layout) push(mediaType string, raw []byte, annotations map[string]string) v1.Descriptor {
	l.t.Helper()
	desc := content.NewDescriptorFromBytes(mediaType, raw)
	desc.Annotations = annotations
	store := l.open()
	if ok, err := store.Exists(l.t.Context(), desc); err != nil || !ok {
		l.check(err)
		l.check(store.Push(l.t.Context(), desc, bytes.NewReader(raw)))
	}
	return desc
}

// image pushes an image manifest with the layers.
func (l *layout) image(layers ...v1.Descriptor) v1.Descriptor {
	l.t.Helper()
	config := l.push(v1.MediaTypeImageConfig, []byte(`{"architecture":"amd64","os":"linux"}`), nil)
	return l.manifest(v1.MediaTypeImageManifest, v1.Manifest{Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: v1.MediaTypeImageManifest, Config: config, Layers: layers})
}

func (l *layout) manifest(mediaType string, value any) v1.Descriptor {
	l.t.Helper()
	raw, err := json.Marshal(value)
	l.check(err)
	return l.push(mediaType, raw, nil)
}

func (l *layout) tag(desc v1.Descriptor, tag string) {
	l.t.Helper()
	l.check(l.open().Tag(l.t.Context(), desc, tag))
}

// damage replaces the content of a blob.
func (l *layout) damage(d digest.Digest, content string) {
	l.t.Helper()
	blob := filepath.Join(l.dir, "blobs", d.Algorithm().String(), d.Encoded())
	l.check(os.Remove(blob))
	l.check(os.WriteFile(blob, []byte(content), 0o444))
}

// archive returns a tar archive of the headers. A header without a type is a file with the
// content Linkname.
func archive(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		var data string
		if h.Typeflag == 0 {
			h.Typeflag, h.Size, data, h.Linkname = tar.TypeReg, int64(len(h.Linkname)), h.Linkname, ""
		}
		h.Mode, h.ModTime = 0o644, time.Unix(1_700_000_000, 0)
		must.Do(t, w.WriteHeader(&h))
		must.Get(w.Write([]byte(data)))(t)
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// archiveOf returns a tar archive of files.
func archiveOf(t *testing.T, files map[string]string) []byte {
	var headers []tar.Header
	for name, content := range files {
		headers = append(headers, tar.Header{Name: name, Linkname: content})
	}
	slices.SortFunc(headers, func(a, b tar.Header) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return archive(t, headers...)
}

func compress(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(w.Write(raw))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}
