package gosdk_test

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestToolsReportTheirProgress(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			adaptertest.TestProgress(t, func(t testing.TB, a *mcpadapter.Adapter, report func(adaptertest.Report)) func(context.Context, string, any) error {
				c := connect(t, serverOf(t, nil, a), revision, &mcp.ClientOptions{
					ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
						p := req.Params
						report(adaptertest.Report{Token: p.ProgressToken, Progress: p.Progress, Total: p.Total, Message: p.Message})
					},
				})
				return func(ctx context.Context, tool string, token any) error {
					params := &mcp.CallToolParams{Name: tool}
					if token != nil {
						params.SetProgressToken(token)
					}
					_, err := c.CallTool(ctx, params)
					return err
				}
			})
		})
	}
}
