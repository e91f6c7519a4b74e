package gosdk_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/internal/must"
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

// TestASlowClientReceivesFewerReports has a client that reads nothing during the call.
func TestASlowClientReceivesFewerReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, serverOf(t, nil, adaptertest.SlowProject(t)))
		id := must.Get(jsonrpc.MakeID("call"))(t)
		params := json.RawMessage(`{"name":"directory_tree","_meta":{"progressToken":1}}`)
		must.Do(t, w.conn.Write(ctx, &jsonrpc.Request{ID: id, Method: "tools/call", Params: params}))
		time.Sleep(time.Hour)
		for reports := 0; ; reports++ {
			message := must.Get(w.conn.Read(ctx))(t)
			if r, ok := message.(*jsonrpc.Response); ok {
				if reports != 2 || r.Error != nil { // the SDK's connection of the client reads one message ahead
					t.Errorf("%d reports before the response %v", reports, r.Error)
				}
				return
			}
		}
	})
}
