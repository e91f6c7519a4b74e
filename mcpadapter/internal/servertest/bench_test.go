package servertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func BenchmarkToolsList(b *testing.B) {
	for _, way := range bindings[1:] {
		b.Run(way.name, func(b *testing.B) { benchmarkToolsList(b, way.paged, way.alone) })
	}
}

// benchmarkToolsList compares a page of 50 tools of a binding with a session and with a
// server of the SDK that has the same tools without the binding.
func benchmarkToolsList(b *testing.B, binding, alone connect) {
	for _, n := range []int{50, 3, 500} {
		a := largeTools(b, n)
		once := func(connect connect) func() {
			client := connect(b, hello, a)
			return func() { succeed(b, client, "tools/list", `{}`) }
		}
		run := map[string]func(){
			"binding": once(binding), "session": once(session), "SDK-alone": once(alone),
		}
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			catalogtest.Compare(b, []string{"binding", "session", "SDK-alone"}, run)
			b.ReportMetric(float64(catalogtest.CostOf(run["binding"]).Allocations), "allocs/binding")
		})
	}
}

// largeTools returns an adapter with n tools as large as the library's tools.
func largeTools(b *testing.B, n int) *mcpadapter.Adapter {
	b.Helper()
	c := catalog(b, catalogtest.Memory(b, project))
	own := adapter(b, c).Tools()
	tools := make([]mcpadapter.Tool, n)
	for i := range tools {
		tools[i] = own[i%len(own)]
		tools[i].Name = fmt.Sprintf("%s_%03d", tools[i].Name, i)
	}
	return adapter(b, c, mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools...))
}

func BenchmarkCallGetCommand(b *testing.B) {
	for _, way := range bindings {
		b.Run(way.name, func(b *testing.B) { benchmarkGetCommand(b, way.connect) })
	}
}

// benchmarkGetCommand compares get_command for a cached command with Catalog.Get.
func benchmarkGetCommand(b *testing.B, connect connect) {
	body := "---\ndescription: Review a change\n---\n" + strings.Repeat("Look at each line, and say \"why\" of it.\n", 80)
	dir := catalogtest.Disk(b, map[string]string{"commands/review.md": body})
	c := catalog(b, afero.NewOsFs(), toolshelf.WithRoot(dir))
	get := func() {
		must.Get(c.Get(b.Context(), "review"))(b)
	}
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		get() // the catalog does not yet cache a file that was just written
	}
	client := connect(b, hello, adapter(b, c))
	call := func() {
		succeed(b, client, "tools/call", `{"name":"get_command","arguments":{"command_name":"review"}}`)
	}
	catalogtest.Compare(b, []string{"call", "Get"}, map[string]func(){"call": call, "Get": get})
	b.ReportMetric(float64(catalogtest.CostOf(call).Allocations), "allocs/call")
}

func succeed(b *testing.B, client caller, method, params string) {
	if _, code := client(b, method, json.RawMessage(params)); code != 0 {
		b.Fatalf("%s: code %d", method, code)
	}
}
