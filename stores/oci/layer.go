package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content/file"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
)

const maxRead = 64 << 10 // bytes between two checks of the context

var errTooLarge = errors.New("the artifact is too large: increase Options.MaxSize")

func title(desc v1.Descriptor) string { return desc.Annotations[v1.AnnotationTitle] }

// isArchive reports whether a layer is a directory that oras pushed, or a layer of an image.
func isArchive(desc v1.Descriptor) bool {
	return desc.Annotations[file.AnnotationUnpack] == "true" || title(desc) == "" && strings.Contains(desc.MediaType, "tar")
}

// A bounded reader ends with the context, and fails after left bytes.
type bounded struct {
	io.Reader
	ctx  context.Context
	left *int64
}

func (r *bounded) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	n, err := r.Reader.Read(p[:min(len(p), maxRead)])
	if *r.left -= int64(n); *r.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// An artifact is the files of the layers so far.
type artifact struct {
	files *filetree.Builder
	left  int64 // bytes that the next archives may unpack
}

// unpack adds the files of an archive, and deletes the files of earlier layers that the
// archive hides or replaces.
func (a *artifact) unpack(ctx context.Context, raw []byte) error {
	r := io.Reader(bytes.NewReader(raw))
	if bytes.HasPrefix(raw, []byte("\x1f\x8b")) {
		var err error
		if r, err = gzip.NewReader(r); err != nil {
			return err
		}
	}
	added := a.files.Next()
	for archive := tar.NewReader(&bounded{r, ctx, &a.left}); ; {
		h, err := archive.Next()
		if err == io.EOF {
			a.files.Merge(added)
			return nil
		}
		if errors.Is(err, tar.ErrHeader) {
			return fmt.Errorf("%w: push archives without compression or with gzip", err)
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(h.Name, "./")
		dir, base := path.Split(name)
		if hidden, ok := strings.CutPrefix(base, ".wh."); ok {
			if base == ".wh..wh..opq" {
				hidden = ""
			}
			a.files.RemoveAll(path.Clean(dir + hidden))
			continue
		}
		var f *filetree.File
		switch h.Typeflag {
		case tar.TypeReg:
			f, err = read(ctx, added, archive, h.Size)
		case tar.TypeDir:
			a.files.Remove(path.Clean(name)) // a directory replaces a file
		case tar.TypeSymlink:
			f, err = read(ctx, added, strings.NewReader(h.Linkname), int64(len(h.Linkname)))
		default: // a hard link, or not a file
			f = added.File(strings.TrimPrefix(h.Linkname, "./"))
		}
		if err == nil && f != nil {
			next := *f
			next.ModTime = h.ModTime
			if h.Typeflag == tar.TypeSymlink {
				next.Link = h.Linkname
			}
			err = added.Put(name, next)
		}
		if err != nil {
			return err
		}
	}
}

// read returns a file with a content of size bytes.
func read(ctx context.Context, files *filetree.Builder, r io.Reader, size int64) (*filetree.File, error) {
	if err := files.Use(size); err != nil {
		return nil, err
	}
	hash := digest.Canonical.Digester()
	data, err := io.ReadAll(io.TeeReader(&bounded{r, ctx, &size}, hash.Hash()))
	return newFile(data, hash.Digest()), err
}

func newFile(data []byte, version digest.Digest) *filetree.File {
	return &filetree.File{
		Size: int64(len(data)), Mode: 0o444, Version: version.String(),
		Content: func(context.Context) (io.ReaderAt, error) { return bytes.NewReader(data), nil },
	}
}
