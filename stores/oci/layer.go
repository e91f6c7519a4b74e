package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content/file"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

var errTooLarge = errors.New("the artifact is too large: increase Options.MaxSize")

func title(desc v1.Descriptor) string { return desc.Annotations[v1.AnnotationTitle] }

// isArchive reports whether a layer is a directory that oras pushed, or a layer of an image.
func isArchive(desc v1.Descriptor) bool {
	return desc.Annotations[file.AnnotationUnpack] == "true" || title(desc) == "" && strings.Contains(desc.MediaType, "tar")
}

// An artifact is the files of the layers so far.
type artifact struct {
	files map[string]tree.File
	left  int64 // bytes that the next files may have in memory
}

func (a *artifact) add(files map[string]tree.File, name string, f tree.File) error {
	if a.left -= f.Size + 256; a.left < 0 {
		return errTooLarge
	}
	files[strings.TrimPrefix(name, "./")] = f
	return nil
}

// unpack adds the files of an archive, and deletes the files of earlier layers that the
// archive hides.
func (a *artifact) unpack(raw []byte) error {
	r := io.Reader(bytes.NewReader(raw))
	if bytes.HasPrefix(raw, []byte("\x1f\x8b")) {
		var err error
		if r, err = gzip.NewReader(r); err != nil {
			return err
		}
	}
	added := map[string]tree.File{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if err == io.EOF {
			maps.Copy(a.files, added)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: push archives without compression or with gzip", err)
		}
		dir, base := path.Split(strings.TrimPrefix(h.Name, "./"))
		if hidden, ok := strings.CutPrefix(base, ".wh."); ok {
			prefix := dir + hidden + "/"
			if base == ".wh..wh..opq" {
				prefix = dir
			}
			maps.DeleteFunc(a.files, func(name string, _ tree.File) bool { return strings.HasPrefix(name+"/", prefix) })
			continue
		}
		var f tree.File
		ok := true
		switch h.Typeflag {
		case tar.TypeReg:
			if h.Size > a.left {
				return errTooLarge
			}
			data, err := io.ReadAll(archive)
			if err != nil {
				return err
			}
			f = newFile(data, h.ModTime)
		case tar.TypeSymlink:
			f = newFile([]byte(h.Linkname), h.ModTime)
			f.Link = h.Linkname
		default: // a hard link, or not a file
			f, ok = added[strings.TrimPrefix(h.Linkname, "./")]
		}
		if ok {
			if err := a.add(added, h.Name, f); err != nil {
				return err
			}
		}
	}
}

func newFile(data []byte, modified time.Time) tree.File {
	return tree.File{
		Size: int64(len(data)), Mode: 0o444, ModTime: modified, Version: digest.FromBytes(data).String(),
		Content: func() (io.ReaderAt, error) { return bytes.NewReader(data), nil },
	}
}
