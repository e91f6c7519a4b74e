package adaptertest

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestSubscriptionsCountsCatalogsWithSubscribers(t *testing.T) {
	before := Subscriptions(t)
	stop := catalogtest.Open(t, toolshelf.WithFs(catalogtest.Memory(t, nil))).OnChange(func(toolshelf.Change) {})
	must.Equal(t, "Subscriptions(t) - before", 1, Subscriptions(t)-before)
	stop()
	Collect(t, "ended: the subscription", func() bool { return Subscriptions(t) == before })
}

func TestCollectRunsTheGarbageCollector(t *testing.T) {
	var freed atomic.Bool
	runtime.AddCleanup(new([1024]int), func(int) { freed.Store(true) }, 0)
	Collect(t, "freed", freed.Load)
}
