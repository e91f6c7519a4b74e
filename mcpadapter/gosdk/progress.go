package gosdk

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/progress"
)

// withProgress returns a context for the call of a tool that reports its progress to the
// client, or ctx if the request has no progress token. The context of the request makes the
// SDK send the reports in the stream of the request.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if !progress.IsToken(token) {
		return ctx
	}
	return mcpadapter.ContextWithProgress(ctx, func(p mcpadapter.ProgressNotification) {
		// If the client is gone, the SDK cancels ctx.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(p.Progress), Message: p.Message})
	})
}
