package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content/file"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

var errTooLarge = errors.New("the artifact is too large: increase Options.MaxSize")

// A layerKey identifies the files of a layer.
type layerKey struct {
	digest  digest.Digest
	title   string
	archive bool
}

func keyOf(desc v1.Descriptor) layerKey {
	title := desc.Annotations[v1.AnnotationTitle]
	archive := desc.Annotations[file.AnnotationUnpack] == "true" || title == "" && strings.Contains(desc.MediaType, "tar")
	return layerKey{desc.Digest, title, archive}
}

// An entry is a file, or hides files of earlier layers.
type entry struct {
	name  string
	file  tree.File
	hides func(name string) bool // nil for a file
}

// merge adds the entries of a layer to the files of the earlier layers.
func merge(files map[string]tree.File, layer []entry) {
	for _, e := range layer {
		if e.hides != nil {
			maps.DeleteFunc(files, func(name string, _ tree.File) bool { return e.hides(name) })
		}
	}
	for _, e := range layer {
		if e.hides == nil {
			files[e.name] = e.file
		}
	}
}

// A budget is the number of bytes that the rest of an artifact may have in memory.
type budget struct{ left atomic.Int64 }

func (b *budget) take(entries ...entry) error {
	for _, e := range entries {
		if b.left.Add(-e.file.Size-256) < 0 {
			return errTooLarge
		}
	}
	return nil
}

// unpack returns the entries of a layer.
func unpack(key layerKey, raw []byte, created time.Time, left *budget) ([]entry, error) {
	if !key.archive {
		e := entry{name: strings.TrimPrefix(key.title, "./"), file: newFile(raw, created)}
		return []entry{e}, left.take(e)
	}
	r := io.Reader(bytes.NewReader(raw))
	switch {
	case bytes.HasPrefix(raw, []byte("\x1f\x8b")):
		var err error
		if r, err = gzip.NewReader(r); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(raw, []byte("\x28\xb5\x2f\xfd")):
		return nil, errors.New("unsupported compression zstd: push the artifact with gzip")
	}
	var entries []entry
	at := map[string]tree.File{} // for hard links
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		e := entry{name: strings.TrimPrefix(h.Name, "./")}
		dir, base := path.Split(e.name)
		hidden, hides := strings.CutPrefix(base, ".wh.")
		switch {
		case base == ".wh..wh..opq":
			e.hides = func(name string) bool { return strings.HasPrefix(name, dir) }
		case hides:
			e.hides = func(name string) bool { return name == dir+hidden || strings.HasPrefix(name, dir+hidden+"/") }
		case h.Typeflag == tar.TypeReg:
			if h.Size > left.left.Load() {
				return nil, errTooLarge
			}
			data, err := io.ReadAll(archive)
			if err != nil {
				return nil, err
			}
			e.file = newFile(data, h.ModTime)
		case h.Typeflag == tar.TypeSymlink && h.Linkname != "":
			e.file = newFile([]byte(h.Linkname), h.ModTime)
			e.file.Link = h.Linkname
		case h.Typeflag == tar.TypeLink:
			target, ok := at[strings.TrimPrefix(h.Linkname, "./")]
			if !ok {
				continue
			}
			e.file = target
		default:
			continue
		}
		if err := left.take(e); err != nil {
			return nil, err
		}
		at[e.name] = e.file
		entries = append(entries, e)
	}
}

func newFile(data []byte, modified time.Time) tree.File {
	return tree.File{
		Size: int64(len(data)), Mode: 0o444, ModTime: modified, Version: digest.FromBytes(data).String(),
		Content: func() (io.ReaderAt, error) { return bytes.NewReader(data), nil },
	}
}
