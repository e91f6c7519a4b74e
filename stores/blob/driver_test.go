package blob_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// The methods that the documentation of Store names.
var _ interface {
	fs.StatFS
	fs.ReadDirFS
	fs.SubFS
	toolshelf.SnapshotFS
	WithContext(ctx context.Context) fs.FS
} = (*blob.Store)(nil)

// drivers are buckets without functions for versions.
var drivers = map[string]func(*testing.T) *gocloud.Bucket{
	"memblob":                func(*testing.T) *gocloud.Bucket { return memblob.OpenBucket(nil) },
	"memblob without hashes": func(*testing.T) *gocloud.Bucket { return memblob.OpenBucket(&memblob.Options{NoMD5: true}) },
	"fileblob": func(t *testing.T) *gocloud.Bucket {
		b := must.Get(fileblob.OpenBucket(t.TempDir(), nil))(t)
		return b
	},
}

func onDrivers(t *testing.T, opts blob.Options, test func(*testing.T, *gocloud.Bucket, *blob.Store)) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			bucket := open(t)
			defer bucket.Close()
			s := must.Get(blob.New(bucket, opts))(t)
			test(t, bucket, s)
		})
	}
}

func write(t *testing.T, bucket *gocloud.Bucket, key, content string) {
	t.Helper()
	must.Do(t, bucket.WriteAll(t.Context(), key, []byte(content), nil))
}

func TestEachDriverIsAFilesystem(t *testing.T) {
	onDrivers(t, blob.Options{}, func(t *testing.T, bucket *gocloud.Bucket, s *blob.Store) {
		write(t, bucket, "commands/deploy.md", "Deploy.")
		write(t, bucket, "commands/frontend/component.md", "Build a component.")
		view := must.Get(s.Snapshot(t.Context()))(t)
		for _, fsys := range []fs.FS{s, view} {
			if err := fstest.TestFS(fsys, "commands/deploy.md", "commands/frontend/component.md"); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestEachDriverNoticesAChangeAfterTheListing(t *testing.T) {
	onDrivers(t, blob.Options{}, func(t *testing.T, bucket *gocloud.Bucket, s *blob.Store) {
		write(t, bucket, "deploy.md", "Deploy.")
		view := must.Get(s.Snapshot(t.Context()))(t)
		write(t, bucket, "deploy.md", "Deploy again.")
		if _, err := fs.ReadFile(view, "deploy.md"); !errors.Is(err, blob.ErrChanged) {
			t.Errorf("error %v; want ErrChanged", err)
		}
		if text, err := fs.ReadFile(s, "deploy.md"); err != nil || string(text) != "Deploy again." {
			t.Errorf("the store reads %q, %v", text, err)
		}
	})
}

// A closed bucket and a failed condition have the same code in gocloud.dev.
func TestAClosedBucketIsNoChange(t *testing.T) {
	for name, versions := range map[string]blob.Versions{
		"without versions": {},
		"with conditions":  {Of: func(func(any) bool) string { return "1" }, Match: func(func(any) bool, string) {}},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := memblob.OpenBucket(nil)
			var refused error
			s := must.Get(blob.New(bucket, blob.Options{Versions: versions, Stale: func(err error, _ time.Duration) error { refused = err; return err }}))(t)
			write(t, bucket, "deploy.md", "Deploy.")
			view := must.Get(s.Snapshot(t.Context()))(t)
			must.Do(t, bucket.Close())
			_, listed := s.Snapshot(t.Context())
			_, opened := s.Open("deploy.md")
			_, read := fs.ReadFile(view, "deploy.md")
			for call, err := range map[string]error{"Snapshot": listed, "Stale": refused, "Open": opened, "Read": read} {
				if err == nil || errors.Is(err, blob.ErrChanged) || !strings.Contains(err.Error(), "has been closed") {
					t.Errorf("%s: error %v; want that the bucket is closed", call, err)
				}
			}
		})
	}
}

func TestKeysThatAreNoFiles(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	s := must.Get(blob.New(bucket, blob.Options{Dir: "top"}))(t)
	for _, key := range []string{
		"top/deploy.md", "top/ü.md", "top/a-b.md", "top/a/b.md", "other.md", "topmost.md", // files; the last two are outside
		"top/", "top/empty/", "top/sub/dir/", "top/sub/dir/c.md", // directories
		"top//b.md", "top/a//b.md", "top/../x.md", "top/./x.md", "top/nul\x00.md", "top/double//", // no paths
		"top/both", "top/both/d.md", // a file with keys below
		"top/marked.md", "top/marked.md/", // a file, and a directory of the same name
	} {
		write(t, bucket, key, "content")
	}
	view := must.Get(s.Snapshot(t.Context()))(t)
	var files []string
	must.Do(t, fs.WalkDir(view, ".", func(name string, entry fs.DirEntry, err error) error {
		if entry.IsDir() {
			name += "/"
		}
		files = append(files, name)
		return err
	}))
	slices.Sort(files)
	if want := strings.Fields("./ a-b.md a/ a/b.md both/ both/d.md deploy.md marked.md sub/ sub/dir/ sub/dir/c.md ü.md"); !slices.Equal(files, want) {
		t.Errorf("files %q\nwant %q", files, want)
	}
	if err := fstest.TestFS(view, "deploy.md"); err != nil {
		t.Error(err)
	}
}

func TestTheNumberOfKeysIsLimited(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	s := must.Get(blob.New(bucket, blob.Options{MaxKeys: 3}))(t)
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		write(t, bucket, name, "content")
	}
	if _, err := s.Snapshot(t.Context()); err != nil {
		t.Error(err)
	}
	write(t, bucket, "d.md", "content")
	if _, err := s.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "Options.MaxKeys") {
		t.Errorf("error %v; want an error that names Options.MaxKeys", err)
	}
}

func TestInvalidDirectories(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	for dir, valid := range map[string]bool{"": true, ".": true, "a": true, "a/b/": true, "/a": false, "../a": false, "a\x00": false} {
		if _, err := blob.New(bucket, blob.Options{Dir: dir}); (err == nil) != valid {
			t.Errorf("New with the directory %q: error %v", dir, err)
		}
	}
}

func TestABucketWithoutKeysIsEmpty(t *testing.T) {
	onDrivers(t, blob.Options{Dir: "commands"}, func(t *testing.T, _ *gocloud.Bucket, s *blob.Store) {
		entries, err := fs.ReadDir(s, ".")
		if err != nil || len(entries) != 0 {
			t.Errorf("entries %v, error %v", entries, err)
		}
	})
}
