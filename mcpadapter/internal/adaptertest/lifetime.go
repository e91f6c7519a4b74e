package adaptertest

import (
	"bytes"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// Subscriptions returns the number of goroutines that follow the changes of catalogs.
func Subscriptions(t testing.TB) int {
	t.Helper()
	var stacks bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
		t.Fatal(err)
	}
	return strings.Count(stacks.String(), "created by github.com/toolshelf-go/toolshelf/internal/changes.(*Hub).Subscribe")
}

// Collect runs the garbage collector until done reports true. After 20 seconds, the
// test fails with the event as message.
func Collect(t testing.TB, event string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s: not %s", event)
		}
		runtime.GC()
		runtime.Gosched()
	}
}
