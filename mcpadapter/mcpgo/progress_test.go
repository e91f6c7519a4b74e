package mcpgo_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestToolsReportTheirProgress(t *testing.T) {
	adaptertest.TestProgress(t, func(t testing.TB, a *mcpadapter.Adapter, report func(adaptertest.Report)) func(context.Context, string, any) error {
		c := connect(t, serverOf(t, a))
		c.OnNotification(func(n mcp.JSONRPCNotification) {
			if n.Method != "notifications/progress" {
				return
			}
			p := n.Params.AdditionalFields
			total, _ := p["total"].(float64)
			report(adaptertest.Report{Token: p["progressToken"], Progress: float64(p["progress"].(int)), Total: total, Message: p["message"].(string)})
		})
		return func(ctx context.Context, tool string, token any) error {
			var req mcp.CallToolRequest
			req.Params.Name = tool
			if token != nil {
				req.Params.Meta = &mcp.Meta{ProgressToken: token}
			}
			_, err := c.CallTool(ctx, req)
			return err
		}
	})
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
