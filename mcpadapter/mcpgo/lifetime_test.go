package mcpgo_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestHooksOfTheServerStay(t *testing.T) {
	a := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n"}))
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

// slowFs takes 400 ms to open each file.
type slowFs struct{ afero.Fs }

func (s slowFs) Open(name string) (afero.File, error) {
	time.Sleep(400 * time.Millisecond) // of the clock of synctest
	return s.Fs.Open(name)
}

// TestASlowClientReceivesFewerReports has a client that handles a notification an hour long.
func TestASlowClientReceivesFewerReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := adapterOf(t, slowFs{catalogtest.Memory(t, map[string]string{"a/b/c": "", "d/e/f": ""})})
		c := connect(t, serverOf(t, a))
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
