package oci_test

import (
	"archive/tar"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/internal/conformance"
	"github.com/toolshelf-go/toolshelf/stores/oci"
)

var _ conformance.Store = (*oci.Store)(nil)

var (
	snapshot = conformance.Snapshot
	version  = conformance.Version
	contents = conformance.Contents
)

func newStore(t *testing.T, target oras.ReadOnlyTarget, reference string, opts oci.Options) *oci.Store {
	t.Helper()
	return must.Get(oci.New(target, reference, opts))(t)
}

func (l *layout) store(reference string) *oci.Store {
	return newStore(l.t, oci.Layout(os.DirFS(l.dir)), reference, oci.Options{})
}

func TestLayersBecomeFiles(t *testing.T) {
	files := map[string]string{"commands/deploy.md": "Deploy.\n", "commands/team/roll.md": "Roll.\n", "skills/review/SKILL.md": conformance.Skill, "README.md": "Read."}
	l := newLayout(t)
	gz, docker := v1.MediaTypeImageLayerGzip, "application/vnd.docker.image.rootfs.diff.tar.gzip"
	tests := map[string]func(tag string){
		"files that oras pushed": func(tag string) {
			l.orasPush(tag, files, "commands/deploy.md", "commands/team/roll.md", "skills/review/SKILL.md", "README.md")
		},
		"directories that oras pushed": func(tag string) { l.orasPush(tag, files, "commands", "skills", "README.md") },
		"an image":                     func(tag string) { l.tag(l.image(l.push(gz, compress(t, archiveOf(t, files)), nil)), tag) },
		"an image with dots": func(tag string) {
			dotted := map[string]string{}
			for name, content := range files {
				dotted["./"+name] = content
			}
			l.tag(l.image(l.push(v1.MediaTypeImageLayer, archiveOf(t, dotted), nil)), tag)
		},
		"an image of Docker with an attestation": func(tag string) {
			l.tag(l.image(l.push(docker, compress(t, archiveOf(t, files)), nil), l.push("application/vnd.in-toto+json", []byte("{}"), nil)), tag)
		},
		"an index": func(tag string) {
			attestation := l.image(l.push("application/vnd.in-toto+json", []byte("{}"), nil))
			attestation.Platform = &v1.Platform{OS: "unknown", Architecture: "unknown"}
			image := l.image(l.push(gz, compress(t, archiveOf(t, files)), nil))
			image.Platform = &v1.Platform{OS: "linux", Architecture: "arm64"}
			l.tag(l.manifest(v1.MediaTypeImageIndex, v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex,
				Manifests: []v1.Descriptor{attestation, image}}), tag)
		},
	}
	for name, push := range tests {
		t.Run(name, func(t *testing.T) {
			tag := strings.ReplaceAll(name, " ", "-")
			push(tag)
			got := snapshot(t, l.store(tag))
			must.Match(t, "files", files, contents(t, got))
			must.Equal(t, "the version", digest.FromString(conformance.Skill).String(),
				version(t, must.Get(fs.Stat(got, "skills/review/SKILL.md"))(t)))
		})
	}
}

func TestLaterLayersReplaceAndDelete(t *testing.T) {
	l := newLayout(t)
	layer := func(files map[string]string) v1.Descriptor {
		return l.push(v1.MediaTypeImageLayer, archiveOf(t, files), nil)
	}
	first := layer(map[string]string{"a/1": "1", "a/2": "2", "b/1": "1", "c": "old", "d/e/f": "f", "d.md": "d"})
	second := layer(map[string]string{"a/.wh.1": "", "b/.wh..wh..opq": "", "b/2": "new", "c": "new", ".wh.d": ""})
	l.tag(l.image(first, second), "two")
	must.Match(t, "files", map[string]string{"a/2": "2", "b/2": "new", "c": "new", "d.md": "d"}, contents(t, l.store("two")))
	l.tag(l.image(first, layer(map[string]string{".wh..wh..opq": "", "z": "z"})), "opaque")
	must.Match(t, "files", map[string]string{"z": "z"}, contents(t, l.store("opaque")))
}

func TestAnEntryReplacesAnEntryOfAnotherType(t *testing.T) {
	l := newLayout(t)
	file := func(name string) tar.Header { return tar.Header{Name: name, Linkname: name} }
	image := func(headers ...tar.Header) v1.Descriptor {
		return l.push(v1.MediaTypeImageLayer, archive(t, headers...), nil)
	}
	titled := func(name string) v1.Descriptor {
		return l.push("text/plain", []byte(name), map[string]string{v1.AnnotationTitle: name})
	}
	dir := tar.Header{Name: "./a/", Typeflag: tar.TypeDir}
	link := tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "z"}
	tests := map[string]struct {
		layers []v1.Descriptor
		want   map[string]string
	}{
		"a file and a directory":            {[]v1.Descriptor{image(file("a/b"), file("z")), image(file("a"))}, map[string]string{"a": "a", "z": "z"}},
		"a link and a directory":            {[]v1.Descriptor{image(file("a/b"), file("z")), image(link)}, map[string]string{"a": "z", "z": "z"}},
		"a titled file and a directory":     {[]v1.Descriptor{image(file("a/b"), file("z")), titled("a")}, map[string]string{"a": "a", "z": "z"}},
		"an empty directory and a file":     {[]v1.Descriptor{image(file("a"), file("z")), image(dir)}, map[string]string{"z": "z"}},
		"an empty directory and a link":     {[]v1.Descriptor{image(link, file("z")), image(dir)}, map[string]string{"z": "z"}},
		"a directory with files and a file": {[]v1.Descriptor{image(file("a")), image(dir, file("a/b"))}, map[string]string{"a/b": "a/b"}},
		"a directory and a directory":       {[]v1.Descriptor{image(dir, file("a/b")), image(dir, file("a/c"))}, map[string]string{"a/b": "a/b", "a/c": "a/c"}},
		"a deleted directory over a file": {[]v1.Descriptor{image(file("a"), file("z")), image(file("a/b")), image(file("a/.wh.b"))},
			map[string]string{"z": "z"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tag := strings.ReplaceAll(name, " ", "-")
			l.tag(l.image(test.layers...), tag)
			must.Match(t, "files", test.want, contents(t, snapshot(t, l.store(tag))))
		})
	}
}

func TestEntriesOfArchives(t *testing.T) {
	l := newLayout(t)
	l.tag(l.image(l.push(v1.MediaTypeImageLayer, archive(t,
		tar.Header{Name: "dir/", Typeflag: tar.TypeDir},
		tar.Header{Name: "dir/a.md", Linkname: "A"},
		tar.Header{Name: "dir/hard.md", Typeflag: tar.TypeLink, Linkname: "dir/a.md"},
		tar.Header{Name: "soft.md", Typeflag: tar.TypeSymlink, Linkname: "dir/a.md"},
		tar.Header{Name: "fifo", Typeflag: tar.TypeFifo},
		tar.Header{Name: "lost", Typeflag: tar.TypeLink, Linkname: "missing"},
		tar.Header{Name: "../up.md", Linkname: "x"}, tar.Header{Name: "/abs.md", Linkname: "x"},
		tar.Header{Name: "dir//b.md", Linkname: "x"}, tar.Header{Name: "dir/../c.md", Linkname: "x"},
	), nil)), "entries")
	must.Match(t, "files", map[string]string{"dir/a.md": "A", "dir/hard.md": "A", "soft.md": "A"}, contents(t, snapshot(t, l.store("entries"))))
}

func TestACatalogReadsTheStore(t *testing.T) {
	l := newLayout(t)
	conformance.ACatalogReadsTheStore(t, func(files map[string]string) {
		l.orasPush("latest", files, "commands", "skills")
	}, func(dir string) fs.FS {
		return newStore(t, oci.Layout(os.DirFS(l.dir)), "latest", oci.Options{Dir: dir})
	})
}

func TestASnapshotDoesNotChange(t *testing.T) {
	l := newLayout(t)
	write := func(files map[string]string) { l.orasPush("latest", files, "a.md") }
	conformance.ASnapshotDoesNotChange(t, write, l.store("latest"))
}

func TestDamageIsAnError(t *testing.T) {
	l := newLayout(t)
	layer := l.push(v1.MediaTypeImageLayer, archiveOf(t, map[string]string{"a.md": "good"}), nil)
	image := l.image(layer)
	l.tag(image, "latest")
	l.damage(layer.Digest, string(archiveOf(t, map[string]string{"a.md": "evil"})))
	if _, err := l.store("latest").Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), layer.Digest.String()) {
		t.Errorf("a damaged layer: %v", err)
	}
	for name, raw := range map[string][]byte{"gzip": []byte("\x1f\x8bnot"), "zstd": []byte("\x28\xb5\x2f\xfd..."), "tar": []byte(strings.Repeat("x", 1024))} {
		l.tag(l.image(l.push(v1.MediaTypeImageLayerGzip, raw, nil)), name)
		if _, err := l.store(name).Snapshot(t.Context()); err == nil {
			t.Errorf("a layer that is no %s is accepted", name)
		}
	}
}

func TestALargeArtifactIsAnError(t *testing.T) {
	l := newLayout(t)
	bomb := compress(t, archiveOf(t, map[string]string{"a.md": strings.Repeat("x", 1<<20), "b.md": "b"}))
	l.tag(l.image(l.push(v1.MediaTypeImageLayerGzip, bomb, nil)), "bomb")
	l.orasPush("files", map[string]string{"a": strings.Repeat("a", 600), "b": strings.Repeat("b", 600)}, "a", "b")
	for reference, enough := range map[string]int64{"bomb": 1<<20 + 1 + 2*(512+4), "files": 1200 + 2*(512+1)} {
		for _, size := range []int64{enough, enough - 1, 1000} {
			_, err := newStore(t, oci.Layout(os.DirFS(l.dir)), reference, oci.Options{MaxSize: size}).Snapshot(t.Context())
			if size == enough && err != nil || size < enough && (err == nil || !strings.Contains(err.Error(), "MaxSize")) {
				t.Errorf("%s with MaxSize %d: %v", reference, size, err)
			}
		}
	}
}

func TestWhatDoesNotExist(t *testing.T) {
	l := newLayout(t)
	l.orasPush("latest", map[string]string{"a/b.md": "x"}, "a")
	for _, test := range []struct{ reference, dir string }{
		{"missing", ""}, {digest.FromString("x").String(), ""}, {"latest", "b"}, {"latest", "a/b.md"},
	} {
		opts := oci.Options{Dir: test.dir, Stale: func(error, time.Duration) error { t.Error("Stale is called"); return nil }}
		if _, err := newStore(t, oci.Layout(os.DirFS(l.dir)), test.reference, opts).Snapshot(t.Context()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Snapshot of %q, %q: %v, want fs.ErrNotExist", test.reference, test.dir, err)
		}
	}
	if _, err := oci.New(oci.Layout(os.DirFS(l.dir)), "latest", oci.Options{Dir: "/a"}); err == nil {
		t.Error("New accepts an absolute directory")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(l.store("latest").WithContext(ctx).Open("a"))(t, "Open with a canceled context", context.Canceled)
}
