// Package adaptertest measures the cost of requests, of servers and of slow calls, in the tests of an
// adapter and of its bindings.
package adaptertest

import (
	"bytes"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// Subscriptions returns the number of goroutines that follow the changes of catalogs.
func Subscriptions(t testing.TB) int {
	t.Helper()
	var stacks bytes.Buffer
	must.Do(t, pprof.Lookup("goroutine").WriteTo(&stacks, 2))
	return strings.Count(stacks.String(), "created by github.com/toolshelf-go/toolshelf/internal/changes.(*Hub).Subscribe")
}

// Collect runs the garbage collector until done reports true. After [catalogtest.Patience],
// the test fails with the event as message.
func Collect(t testing.TB, event string, done func() bool) {
	t.Helper()
	catalogtest.Eventually(t, func() string {
		if runtime.GC(); !done() {
			return "not " + event
		}
		return ""
	})
}
