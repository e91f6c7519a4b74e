package oci_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/internal/hostiletest"
	"github.com/toolshelf-go/toolshelf/stores/oci"
)

// many returns n headers of a type, with the names that a function returns.
func many(n int, typ byte, name func(i int) string) []tar.Header {
	headers := make([]tar.Header, n)
	for i := range headers {
		headers[i] = tar.Header{Name: name(i), Typeflag: typ, Linkname: "x"}
	}
	return headers
}

func TestHostileArchivesStayWithinMaxSize(t *testing.T) {
	const maxSize = 1 << 20
	tests := map[string]struct {
		headers []tar.Header
		ok      bool
	}{
		"names of a megabyte":          {many(20, tar.TypeSymlink, func(i int) string { return strings.Repeat("a/", 500_000) + fmt.Sprint(i) }), false},
		"names of 4,000 bytes":         {many(200, tar.TypeSymlink, func(i int) string { return strings.Repeat(fmt.Sprintf("%0199d/", i), 20) + "a" }), false},
		"99 directories for each file": {many(100, tar.TypeSymlink, func(i int) string { return fmt.Sprint(i) + strings.Repeat("/a", 99) }), false},
		"1,000 directories for a file": {many(10, tar.TypeSymlink, func(i int) string { return fmt.Sprint(i) + strings.Repeat("/a", 1000) }), true},
		"entries that are omitted":     {many(20_000, tar.TypeDir, func(i int) string { return fmt.Sprint(i) }), false},
		"targets of a megabyte":        {[]tar.Header{{Name: "a", Typeflag: tar.TypeSymlink, Linkname: strings.Repeat("a/", 500_000)}}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLayout(t)
			l.tag(l.image(l.push(v1.MediaTypeImageLayerGzip, compress(t, archive(t, test.headers...)), nil)), "hostile")
			store := newStore(t, oci.Layout(os.DirFS(l.dir)), "hostile", oci.Options{MaxSize: maxSize})
			before := catalogtest.Heap()
			_, err := store.Snapshot(t.Context())
			if test.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "MaxSize") {
				t.Errorf("Snapshot: %v", err)
			}
			if kept := catalogtest.Heap() - before; kept > 2*maxSize {
				t.Errorf("the store keeps %d bytes, want at most %d", kept, 2*maxSize)
			}
			runtime.KeepAlive(store)
		})
	}
}

// The test takes minutes if each whiteout looks at each file.
func TestManyWhiteouts(t *testing.T) {
	l := newLayout(t)
	file := func(i int) string { return fmt.Sprintf("dir%d/file%d", i%100, i) }
	files := l.push(v1.MediaTypeImageLayerGzip, compress(t, archive(t, many(50_000, 0, file)...)), nil)
	hidden := many(50_000, 0, func(i int) string { return strings.Replace(file(i), "/", "/.wh.", 1) })
	l.tag(l.image(files, l.push(v1.MediaTypeImageLayerGzip, compress(t, archive(t, hidden[1:]...)), nil)), "whiteouts")
	must.Match(t, "files", map[string]string{"dir0/file0": "x"}, contents(t, snapshot(t, l.store("whiteouts"))))
}

// A single manifest is a target without layers.
type single struct {
	oras.ReadOnlyTarget
	raw []byte
}

func (s single) Resolve(context.Context, string) (v1.Descriptor, error) {
	return content.NewDescriptorFromBytes(v1.MediaTypeImageManifest, s.raw), nil
}

func (s single) Fetch(context.Context, v1.Descriptor) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.raw)), nil
}

func TestAManifestOfManyLayersIsAnError(t *testing.T) {
	for _, layer := range []string{"{}", "null"} {
		raw := []byte(`{"layers":[` + strings.Repeat(layer+",", 800_000) + layer + `]}`)
		store := newStore(t, single{raw: raw}, "latest", oci.Options{})
		got := catalogtest.CostOf(func() {
			if _, err := store.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "push fewer layers") {
				t.Errorf("Snapshot: %v", err)
			}
		}).Bytes
		if want := 4*len(raw) + 1<<20; got > want {
			t.Errorf("%d bytes are allocated, want at most %d", got, want)
		}
	}
}

// An opening filesystem records the names that are opened.
type opening struct {
	fs.FS
	names []string
}

func (o *opening) Open(name string) (fs.File, error) {
	o.names = append(o.names, name)
	return o.FS.Open(name)
}

// The size of the manifests does not matter until a manifest is used.
func TestALayoutIsResolvedWithItsIndex(t *testing.T) {
	l := newLayout(t)
	for _, tag := range []string{"one", "two"} {
		l.orasPush(tag, map[string]string{"a.md": tag}, "a.md")
	}
	files := &opening{FS: os.DirFS(l.dir)}
	desc := must.Get(oci.Layout(files).Resolve(t.Context(), "one"))(t)
	if got, want := strings.Join(files.names, " "), "oci-layout index.json"; got != want {
		t.Errorf("opened %s, want %s", got, want)
	}
	for _, reference := range []string{"one", desc.Digest.String(), desc.Digest.String()[:10]} {
		_, err := newStore(t, oci.Layout(files), reference, oci.Options{}).Snapshot(t.Context())
		if exists := len(reference) != 10; exists != (err == nil) || !exists && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Snapshot of %s: %v", reference, err)
		}
	}
}

// A canceling target ends a context while the content of a layer is read.
type canceling struct {
	oras.ReadOnlyTarget
	cancel      context.CancelFunc
	left, after int64 // bytes that are read before and after the end
}

func (c *canceling) Fetch(ctx context.Context, desc v1.Descriptor) (io.ReadCloser, error) {
	r, err := c.ReadOnlyTarget.Fetch(ctx, desc)
	if desc.MediaType != v1.MediaTypeImageLayerGzip {
		return r, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(r, c), r}, err
}

func (c *canceling) Write(p []byte) (int, error) {
	if c.left -= int64(len(p)); c.left <= 0 {
		c.cancel()
		c.after -= c.left
		c.left = 0
	}
	return len(p), nil
}

func TestASnapshotEndsWithTheContext(t *testing.T) {
	l := newLayout(t)
	large := archive(t, tar.Header{Name: "a.md", Linkname: strings.Repeat("x", 64<<20)})
	for name, layer := range map[string][]byte{"plain": large, "gzip": compress(t, large)} {
		desc := l.push(v1.MediaTypeImageLayerGzip, layer, nil)
		l.tag(l.image(desc), name)
		for part, left := range map[string]int64{"at the beginning of the layer": 1, "at the end of the layer": desc.Size} {
			ctx, cancel := context.WithCancel(t.Context())
			target := &canceling{oci.Layout(os.DirFS(l.dir)), cancel, left, 0}
			store := newStore(t, target, name, oci.Options{})
			got := catalogtest.CostOf(func() {
				must.Fail(store.Snapshot(ctx))(t, name, context.Canceled)
			}).Bytes
			if target.after > 64<<10 {
				t.Errorf("%s, %s: %d bytes are read after the end of the context", name, part, target.after)
			}
			if left == desc.Size && name == "gzip" && got > 16<<20 {
				t.Errorf("%s, %s: %d bytes are allocated", name, part, got)
			}
		}
	}
}

// The layer is in memory before the unpacking begins.
func TestUnpackingEndsWithTheContext(t *testing.T) {
	for name, raw := range map[string][]byte{
		"a large file":    archive(t, tar.Header{Name: "a.md", Linkname: strings.Repeat("x", 16<<20)}),
		"many whiteouts":  archive(t, many(20_000, 0, func(i int) string { return fmt.Sprintf(".wh.%d", i) })...),
		"an omitted name": archive(t, tar.Header{Name: "../a.md", Linkname: strings.Repeat("x", 16<<20)}),
	} {
		for form, layer := range map[string][]byte{"plain": raw, "gzip": compress(t, raw)} {
			all := &hostiletest.Context{Context: t.Context(), Last: 1 << 30}
			if err := oci.Unpack(all, layer); err != nil {
				t.Fatalf("%s, %s: %v", name, form, err)
			}
			if all.Asked < len(raw)>>16 {
				t.Errorf("%s, %s: the context is asked %d times, want once in 64 KiB", name, form, all.Asked)
			}
			for _, last := range []int{0, all.Asked / 3, all.Asked / 2, all.Asked - 1} {
				ctx := &hostiletest.Context{Context: t.Context(), Last: last}
				if err := oci.Unpack(ctx, layer); !errors.Is(err, context.Canceled) || ctx.Asked > last+2 {
					t.Errorf("%s, %s: the context ends after %d questions: %v, %d questions", name, form, last, err, ctx.Asked)
				}
			}
		}
	}
}
