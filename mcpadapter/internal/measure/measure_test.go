package measure_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/measure"
)

func newCatalog(t *testing.T, fsys afero.Fs) *toolshelf.Catalog {
	t.Helper()
	if err := afero.WriteFile(fsys, "commands/review.md", []byte("Review."), 0o644); err != nil {
		t.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { catalog.Close() })
	return catalog
}

func TestScansAreMultiplesOfOneList(t *testing.T) {
	fsys := &measure.ScanFs{Fs: afero.NewMemMapFs()}
	catalog := newCatalog(t, fsys)
	list := func() {
		if _, err := catalog.List(context.Background(), toolshelf.Page{}); err != nil {
			t.Fatal(err)
		}
	}
	for want, request := range []func(){func() {}, list, func() { list(); list() }} {
		if got := fsys.Scans(list, request); got != float64(want) {
			t.Errorf("got %g scans, want %d", got, want)
		}
	}
}

func TestSubscriptionsCountsTheCatalogsWithSubscribers(t *testing.T) {
	before := measure.Subscriptions(t)
	stop := newCatalog(t, afero.NewMemMapFs()).OnChange(func(toolshelf.Change) {})
	if got := measure.Subscriptions(t) - before; got != 1 {
		t.Errorf("got %d subscriptions, want 1", got)
	}
	stop()
	measure.Collect(t, "ended: the subscription", func() bool { return measure.Subscriptions(t) == before })
}

func TestCollectRunsTheGarbageCollector(t *testing.T) {
	var freed atomic.Bool
	runtime.AddCleanup(new([1024]int), func(int) { freed.Store(true) }, 0)
	measure.Collect(t, "freed", freed.Load)
}
