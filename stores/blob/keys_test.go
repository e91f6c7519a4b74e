package blob_test

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/driver"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/internal/hostiletest"
)

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
		before := hostiletest.Used()
		files := must.Get(store.Snapshot(t.Context()))(t)
		if _, err := fs.ReadDir(files, "."); err != nil { // sorts all directories
			t.Fatal(err)
		}
		want := int64(1000*elements*512 + 1<<20)
		if elements > 100 { // omitted
			want = 1 << 20
		}
		if kept := hostiletest.Used() - before; kept > want {
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
