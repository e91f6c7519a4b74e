package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A start registers an adapter at a new server, until ctx ends unless ctx is nil, and counts the
// server when the garbage collector has freed it. call connects a client.
type start func(
	t testing.TB, ctx context.Context, a *mcpadapter.Adapter, freed *atomic.Int32,
) (server any, call func() caller)

// small returns an adapter with one command.
func small(t testing.TB, c *toolshelf.Catalog) *mcpadapter.Adapter {
	t.Helper()
	return adapter(t, c, mcpadapter.WithTools("list_commands", "get_command"))
}

func smallCatalog(t testing.TB) (*toolshelf.Catalog, afero.Fs) {
	t.Helper()
	fsys := catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n"})
	return catalog(t, fsys), fsys
}

// eachServer runs a test for each binding to an SDK, after the subscriptions of other tests have
// ended.
func eachServer(t *testing.T, test func(t *testing.T, b binding)) {
	for _, b := range bindings[1:] {
		collect(t, "ended: the subscriptions of earlier tests", ended(t))
		t.Run(b.name, func(t *testing.T) { test(t, b) })
	}
}

func ended(t testing.TB) func() bool { return func() bool { return subscriptions(t) == 0 } }

func TestServersShareOneSubscription(t *testing.T) {
	eachServer(t, func(t *testing.T, b binding) {
		c, _ := smallCatalog(t)
		a := small(t, c)
		servers := make([]any, 1000)
		for i := range servers {
			servers[i], _ = b.start(t, nil, a, new(atomic.Int32))
		}
		must.Equal(t, "subscriptions of the servers", 1, subscriptions(t))
		runtime.KeepAlive(servers)
	})
}

func TestDroppedServersAreFreed(t *testing.T) {
	eachServer(t, func(t *testing.T, b binding) {
		c, _ := smallCatalog(t)
		a := small(t, c)
		before := goleak.IgnoreCurrent()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var freed atomic.Int32
		const servers = 1000
		for i := range servers {
			until := ctx
			if i%2 == 0 {
				until = nil
			}
			b.start(t, until, a, &freed)
		}
		collect(t, "freed: every server", func() bool { return freed.Load() == servers })
		collect(t, "ended: all subscriptions", ended(t))
		goleak.VerifyNone(t, before)
		runtime.KeepAlive(a)
	})
}

// A program may also make a new adapter for each server.
func TestDroppedAdaptersAreFreed(t *testing.T) {
	eachServer(t, func(t *testing.T, b binding) {
		c, _ := smallCatalog(t)
		var freed atomic.Int32
		const adapters = 100
		for i := range adapters {
			a := small(t, c)
			b.start(t, nil, a, new(atomic.Int32))
			runtime.AddCleanup(a, func(int) { freed.Add(1) }, i)
		}
		collect(t, "freed: every adapter", func() bool { return freed.Load() == adapters })
	})
}

func TestServersOfSingleRequestsAreFreed(t *testing.T) {
	eachServer(t, func(t *testing.T, b binding) {
		c, _ := smallCatalog(t)
		a := small(t, c)
		before := goleak.IgnoreCurrent()
		var made, freed atomic.Int32 // an SDK may ask for more than one server per request
		handler := b.handler(func() any {
			made.Add(1)
			s, _ := b.start(t, nil, a, &freed)
			return s
		})
		for range 50 {
			body := `{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{}}`
			r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			must.Equal(t, "status", http.StatusOK, w.Code)
			must.Contain(t, "body", w.Body.String(), `"commit"`)
		}
		collect(t, "freed: every server", func() bool { return freed.Load() == made.Load() })
		collect(t, "ended: all subscriptions", ended(t))
		goleak.VerifyNone(t, before)
	})
}

func TestRegisterUntilEndsWithItsContext(t *testing.T) {
	eachServer(t, func(t *testing.T, b binding) {
		c, fsys := smallCatalog(t)
		ctx, cancel := context.WithCancel(context.Background())
		_, call := b.start(t, ctx, small(t, c), new(atomic.Int32))
		must.Equal(t, "subscriptions", 1, subscriptions(t))
		cancel()
		catalogtest.Eventually(t, func() string {
			if subscriptions(t) > 0 {
				return "the subscription outlives the context"
			}
			return ""
		})
		must.Do(t, afero.WriteFile(fsys, "commands/review.md", []byte("x\n"), 0o644))
		list, _ := call()(t, "prompts/list", json.RawMessage(`{}`))
		must.Contain(t, "the list of the server", string(list), `"commit"`, `"review"`)
	})
}

// subscriptions returns the number of goroutines that follow the changes of catalogs.
func subscriptions(t testing.TB) int {
	t.Helper()
	var stacks bytes.Buffer
	must.Do(t, pprof.Lookup("goroutine").WriteTo(&stacks, 2))
	return strings.Count(stacks.String(), "created by github.com/toolshelf-go/toolshelf/internal/changes.(*Hub).Subscribe")
}

// collect runs the garbage collector until done reports true. After [catalogtest.Patience],
// the test fails with the event as message.
func collect(t testing.TB, event string, done func() bool) {
	t.Helper()
	catalogtest.Eventually(t, func() string {
		if runtime.GC(); !done() {
			return "not " + event
		}
		return ""
	})
}

func TestSubscriptionsCountsCatalogsWithSubscribers(t *testing.T) {
	before := subscriptions(t)
	stop := catalogtest.Open(t, toolshelf.WithFs(catalogtest.Memory(t, nil))).OnChange(func(toolshelf.Change) {})
	must.Equal(t, "subscriptions", 1, subscriptions(t)-before)
	stop()
	collect(t, "ended: the subscription", func() bool { return subscriptions(t) == before })
}

func TestCollectRunsTheGarbageCollector(t *testing.T) {
	var freed atomic.Bool
	runtime.AddCleanup(new([1024]int), func(int) { freed.Store(true) }, 0)
	collect(t, "freed", freed.Load)
}
