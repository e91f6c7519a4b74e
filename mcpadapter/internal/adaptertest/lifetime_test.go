package adaptertest

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestSubscriptionsCountsCatalogsWithSubscribers(t *testing.T) {
	before := Subscriptions(t)
	stop := catalog(t, memory(t, project)).OnChange(func(toolshelf.Change) {})
	if got := Subscriptions(t) - before; got != 1 {
		t.Errorf("got %d subscriptions, want 1", got)
	}
	stop()
	Collect(t, "ended: the subscription", func() bool { return Subscriptions(t) == before })
}

func TestCollectRunsTheGarbageCollector(t *testing.T) {
	var freed atomic.Bool
	runtime.AddCleanup(new([1024]int), func(int) { freed.Store(true) }, 0)
	Collect(t, "freed", freed.Load)
}
