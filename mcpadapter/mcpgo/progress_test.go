package mcpgo_test

import (
	"context"
	"testing"

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
