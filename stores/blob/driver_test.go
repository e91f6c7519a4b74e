package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/gcerrors"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
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
		return must.Get(fileblob.OpenBucket(t.TempDir(), nil))(t)
	},
}

func onDrivers(t *testing.T, opts blob.Options, test func(*testing.T, *gocloud.Bucket, *blob.Store)) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			bucket := open(t)
			defer bucket.Close()
			test(t, bucket, must.Get(blob.New(bucket, opts))(t))
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
		for _, fsys := range []fs.FS{s, must.Get(s.Snapshot(t.Context()))(t)} {
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
		must.Fail(fs.ReadFile(view, "deploy.md"))(t, "error", blob.ErrChanged)
		must.Equal(t, "deploy.md", "Deploy again.",
			string(must.Get(fs.ReadFile(s, "deploy.md"))(t)))
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
		must.Len(t, "entries", 0, must.Get(fs.ReadDir(s, "."))(t))
	})
}

// A crowded bucket has a million keys.
type crowded struct {
	driver.Bucket
	key   func(i int) string
	pages int // the requested pages
}

func (b *crowded) ListPaged(_ context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	const keys, page = 1_000_000, 1000
	first := b.pages * page
	b.pages++
	list := &driver.ListPage{Objects: make([]*driver.ListObject, page)}
	for i := range list.Objects {
		list.Objects[i] = &driver.ListObject{Key: b.key(first + i), Size: 100, AsFunc: func(any) bool { return false }}
	}
	if first+page < keys {
		list.NextPageToken = []byte("next")
	}
	return list, nil
}

func (b *crowded) Close() error { return nil }

// A listing ends at the limits, so a crowded bucket takes bounded memory.
func TestAListingEndsAtItsLimits(t *testing.T) {
	tests := map[string]struct {
		key   func(i int) string
		opts  blob.Options
		want  string // of the error
		pages int
	}{
		"the number of keys":         {func(i int) string { return fmt.Sprintf("c%07d.md", i) }, blob.Options{}, "200000 keys", 201},
		"keys with 99 directories":   {func(i int) string { return fmt.Sprintf("%04d", i) + strings.Repeat("/a", 99) }, blob.Options{MaxKeys: 10_000}, "MaxKeys", 1},
		"keys with long directories": {func(i int) string { return fmt.Sprintf("%0980d/c.md", i) }, blob.Options{MaxKeys: 10_000}, "MaxKeys", 11},
		"keys with 512 elements":     {func(i int) string { return fmt.Sprintf("%04d", i) + strings.Repeat("/a", 511) }, blob.Options{MaxKeys: 10_000}, "10000 keys", 11},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			keys := &crowded{key: test.key}
			bucket := gocloud.NewBucket(keys)
			defer bucket.Close()
			store := must.Get(blob.New(bucket, test.opts))(t)
			if _, err := store.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v; want an error with %q", err, test.want)
			}
			if keys.pages > test.pages {
				t.Errorf("%d pages of keys, want at most %d", keys.pages, test.pages)
			}
		})
	}
}

// The files and directories of a snapshot take at most the memory that the documentation states.
func TestTheMemoryOfASnapshotIsBounded(t *testing.T) {
	for _, elements := range []int{1, 2, 10, 100, 512} {
		keys := &few{crowded{key: func(i int) string { return fmt.Sprintf("%04d", i) + strings.Repeat("/a", elements-1) }}}
		bucket := gocloud.NewBucket(keys)
		defer bucket.Close()
		store := must.Get(blob.New(bucket, blob.Options{}))(t)
		before := catalogtest.Heap()
		files := must.Get(store.Snapshot(t.Context()))(t)
		if _, err := fs.ReadDir(files, "."); err != nil { // sorts all directories
			t.Fatal(err)
		}
		want := int64(1000*elements*512 + 1<<20)
		if elements > 100 { // omitted
			want = 1 << 20
		}
		if kept := catalogtest.Heap() - before; kept > want {
			t.Errorf("keys of %d elements keep %d bytes, want at most %d", elements, kept, want)
		}
		runtime.KeepAlive(files)
	}
}

// A few bucket has the first page of a crowded bucket.
type few struct{ crowded }

func (b *few) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	list, err := b.crowded.ListPaged(ctx, opts)
	list.NextPageToken = nil
	return list, err
}

// A hanging is a driver whose requests wait for the end of their context while hangs is set.
type hanging struct {
	driver.Bucket
	objects    map[string]string
	hangs      atomic.Bool
	list, read atomic.Int64 // requests
}

func (b *hanging) wait(ctx context.Context) error {
	if !b.hangs.Load() {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (b *hanging) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	b.list.Add(1)
	page := new(driver.ListPage)
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if strings.HasPrefix(key, opts.Prefix) {
			page.Objects = append(page.Objects, &driver.ListObject{Key: key, Size: int64(len(b.objects[key])), AsFunc: none})
		}
	}
	return page, b.wait(ctx)
}

func (b *hanging) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	b.read.Add(1)
	return &driver.Attributes{Size: int64(len(b.objects[key])), AsFunc: none}, b.wait(ctx)
}

func (b *hanging) NewRangeReader(ctx context.Context, key string, offset, length int64, opts *driver.ReaderOptions) (driver.Reader, error) {
	b.read.Add(1)
	text := b.objects[key]
	r := strings.NewReader(text[offset:])
	if length >= 0 {
		r = strings.NewReader(text[offset : offset+length])
	}
	return &content{r, int64(len(text)), func() error { return b.wait(ctx) }}, nil
}

func (*hanging) ErrorCode(error) gcerrors.ErrorCode { return gcerrors.Unknown }
func (*hanging) Close() error                       { return nil }

func none(any) bool { return false }

// A content hangs after the header of the response.
type content struct {
	*strings.Reader
	size int64
	wait func() error
}

func (c *content) Read(p []byte) (int, error) {
	if err := c.wait(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

func (c *content) Attributes() *driver.ReaderAttributes {
	return &driver.ReaderAttributes{Size: c.size}
}
func (*content) As(any) bool  { return false }
func (*content) Close() error { return nil }

// With Options.Timeout and Options.Stale, a catalog serves the last good snapshot of a bucket
// that hangs, although the contexts of the calls do not end.
func TestABucketThatHangs(t *testing.T) {
	versions := blob.Versions{Of: func(func(any) bool) string { return "1" }}
	type call struct{ name, result string }
	for _, test := range []struct {
		name  string
		stale func(error, time.Duration) error
		calls []call // during the outage, with the listings and the requests for files
	}{
		{"without Stale", nil, []call{{"List", "error after 5s, 1+0 requests"}, {"List", "error after 5s, 1+0 requests"}}},
		{"with Stale", func(error, time.Duration) error { return nil }, []call{
			{"List", "ok after 5s, 1+0 requests"}, {"List", "ok after 0s, 0+0 requests"}, {"Get", "ok after 0s, 0+0 requests"},
			{"a second", "ok after 1s, 0+0 requests"}, {"Get", "ok after 10s, 1+1 requests"}, {"Get", "ok after 0s, 0+0 requests"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &hanging{objects: map[string]string{"commands/deploy.md": "Deploy."}}
				bucket := gocloud.NewBucket(b)
				defer bucket.Close()
				s := must.Get(blob.New(bucket, blob.Options{Versions: versions, Timeout: 5 * time.Second, Stale: test.stale}))(t)
				commands := must.Get(s.Sub("commands"))(t)
				cat := must.Get(toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("bucket", commands)))(t)
				defer cat.Close()
				do := map[string]func() error{
					"List":     func() error { _, err := cat.List(t.Context(), toolshelf.Page{}); return err },
					"Get":      func() error { _, err := cat.Get(t.Context(), "deploy"); return err },
					"a second": func() error { time.Sleep(time.Second); return nil },
				}
				for _, name := range []string{"List", "Get"} {
					must.Do(t, do[name]())
				}
				b.hangs.Store(true)
				for i, call := range test.calls {
					lists, reads, begin, result := b.list.Load(), b.read.Load(), time.Now(), "ok"
					if err := do[call.name](); err != nil {
						result = "error"
						if !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 5s") {
							t.Errorf("call %d, %s: %v", i, call.name, err)
						}
					}
					result += fmt.Sprintf(" after %v, %d+%d requests", time.Since(begin), b.list.Load()-lists, b.read.Load()-reads)
					must.Equal(t, i, call.result, result)
				}
				b.hangs.Store(false)
				b.objects["commands/review.md"] = "Review."
				time.Sleep(time.Second)
				must.Equal(t, "after the outage", 2,
					must.Get(cat.List(t.Context(), toolshelf.Page{}))(t).Pagination.Total)
			})
		})
	}
}

func TestTheTimeoutLimitsEachRequestForAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &hanging{objects: map[string]string{"deploy.md": "Deploy."}}
		bucket := gocloud.NewBucket(b)
		defer bucket.Close()
		s := must.Get(blob.New(bucket, blob.Options{Timeout: 5 * time.Second}))(t)
		view := must.Get(s.Snapshot(t.Context()))(t)
		b.hangs.Store(true)
		begin := time.Now()
		if _, err := fs.ReadFile(view, "deploy.md"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 5*time.Second {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}
	})
}
