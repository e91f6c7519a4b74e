package blob_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/driver"

	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// A crowded bucket has a million keys.
type crowded struct {
	driver.Bucket
	pages int // the requested pages
}

func (b *crowded) ListPaged(_ context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	const keys, page = 1_000_000, 1000
	first := b.pages * page
	b.pages++
	list := &driver.ListPage{Objects: make([]*driver.ListObject, page)}
	for i := range list.Objects {
		list.Objects[i] = &driver.ListObject{Key: fmt.Sprintf("c%07d.md", first+i), Size: 100, AsFunc: func(any) bool { return false }}
	}
	if first+page < keys {
		list.NextPageToken = []byte("next")
	}
	return list, nil
}

func (b *crowded) Close() error { return nil }

// A listing ends at the maximum number of keys, so a crowded bucket takes bounded memory.
func TestAListingEndsAtTheMaximumNumberOfKeys(t *testing.T) {
	keys := new(crowded)
	bucket := gocloud.NewBucket(keys)
	defer bucket.Close()
	store, err := blob.New(bucket, blob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "200000 keys") {
		t.Errorf("error %v; want an error that names the maximum", err)
	}
	if keys.pages > 201 {
		t.Errorf("%d pages of keys, want at most 201", keys.pages)
	}
}
