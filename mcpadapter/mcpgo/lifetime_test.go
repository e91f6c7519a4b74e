package mcpgo_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

func TestServersShareOneSubscription(t *testing.T) {
	adaptertest.Collect(t, "ended: the subscriptions of earlier tests", func() bool { return adaptertest.Subscriptions(t) == 0 })
	a := adapterOf(t, memory(t, map[string]string{"commands/commit.md": "x\n"}), mcpadapter.WithTools("list_commands", "get_command"))
	servers := make([]*server.MCPServer, 1000)
	for i := range servers {
		servers[i] = serverOf(t, a)
	}
	must.Equal(t, "subscriptions of the servers", 1, adaptertest.Subscriptions(t))
	runtime.KeepAlive(servers)
}

func TestDroppedServersAreFreed(t *testing.T) {
	a := adapterOf(t, memory(t, map[string]string{"commands/commit.md": "x\n"}), mcpadapter.WithTools("list_commands", "get_command"))
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hooks := &server.Hooks{} // shared hooks, as for metrics
	var freed atomic.Int32
	const servers = 1000
	for i := range servers {
		s := server.NewMCPServer("test", "1", server.WithHooks(hooks))
		var err error
		if i%2 == 0 {
			err = mcpgo.Register(s, a)
		} else {
			err = mcpgo.RegisterUntil(ctx, s, a)
		}
		must.Do(t, err)
		runtime.AddCleanup(s, func(int) { freed.Add(1) }, i)
	}
	adaptertest.Collect(t, "freed: every server", func() bool { return freed.Load() == servers })
	adaptertest.Collect(t, "ended: all subscriptions", func() bool { return adaptertest.Subscriptions(t) == 0 })
	must.Equal(t, "result", 0, len(hooks.OnBeforeListPrompts)+len(hooks.OnBeforeGetPrompt)+len(hooks.OnBeforeCallTool))
	goleak.VerifyNone(t, before)
	runtime.KeepAlive(a)
}

func TestServersOfSingleRequestsAreFreed(t *testing.T) {
	a := adapterOf(t, memory(t, map[string]string{"commands/commit.md": "x\n"}), mcpadapter.WithTools("list_commands", "get_command"))
	before := goleak.IgnoreCurrent()
	var freed atomic.Int32
	const requests = 50
	for i := range requests {
		s := serverOf(t, a)
		runtime.AddCleanup(s, func(int) { freed.Add(1) }, i)
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		server.NewStreamableHTTPServer(s, server.WithStateLess(true)).ServeHTTP(w, r)
		must.Equal(t, "w.Code", http.StatusOK, w.Code)
		must.Contain(t, "String", w.Body.String(), `"commit"`)
	}
	adaptertest.Collect(t, "freed: every server", func() bool { return freed.Load() == requests })
	adaptertest.Collect(t, "ended: all subscriptions", func() bool { return adaptertest.Subscriptions(t) == 0 })
	goleak.VerifyNone(t, before)
}

func TestHooksOfTheServerStay(t *testing.T) {
	a := adapterOf(t, memory(t, map[string]string{"commands/commit.md": "x\n"}))
	shared := &server.Hooks{}
	var asked atomic.Int32
	count := func(context.Context, any, *mcp.ListPromptsRequest) { asked.Add(1) }
	shared.AddBeforeListPrompts(count)
	first, second := serverOf(t, a, server.WithHooks(shared)), serverOf(t, a, server.WithHooks(shared))
	first.GetHooks().AddBeforeListPrompts(count)
	for _, s := range []*server.MCPServer{first, second} {
		must.Len(t, "prompts", 1, prompts(t, s))
	}
	must.Equal(t, "the hooks were called", 3, asked.Load())
}

func TestRegisterUntilEndsWithItsContext(t *testing.T) {
	adaptertest.Collect(t, "ended: the subscriptions of earlier tests", func() bool { return adaptertest.Subscriptions(t) == 0 })
	fsys := memory(t, map[string]string{"commands/commit.md": "x\n"})
	ctx, cancel := context.WithCancel(ctx)
	s := server.NewMCPServer("test", "1")
	must.Do(t, mcpgo.RegisterUntil(ctx, s, adapterOf(t, fsys)))
	must.Equal(t, "adaptertest.Subscriptions(t)", 1, adaptertest.Subscriptions(t))
	cancel()
	for deadline := time.Now().Add(10 * time.Second); adaptertest.Subscriptions(t) != 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the subscription outlives the context")
		}
	}
	write(t, fsys, "commands/review.md", "x\n")
	must.Len(t, "the server no longer serves", 2, prompts(t, s))
}

// TestASlowClientReceivesFewerReports has a client that handles a notification an hour long.
func TestASlowClientReceivesFewerReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, serverOf(t, adaptertest.SlowProject(t)))
		var received atomic.Int32
		c.OnNotification(func(mcp.JSONRPCNotification) {
			received.Add(1)
			time.Sleep(time.Hour)
		})
		start := time.Now()
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Meta = "directory_tree", &mcp.Meta{ProgressToken: 1}
		if _, err := c.CallTool(t.Context(), req); err != nil || time.Since(start) > time.Minute {
			t.Errorf("the call takes %v, %v", time.Since(start), err)
		}
		time.Sleep(10 * time.Hour)
		if n := received.Load(); n != 2 { // the first, and one that waits in the SDK
			t.Errorf("the client receives %d reports", n)
		}
	})
}
