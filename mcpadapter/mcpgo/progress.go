package mcpgo

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/progress"
)

// withProgress returns a context for the call of a tool that reports its progress to the
// client, or ctx if the request has no progress token.
func (b *binding) withProgress(ctx context.Context, req mcp.CallToolRequest) context.Context {
	session := server.ClientSessionFromContext(ctx)
	if session == nil || req.Params.Meta == nil || !progress.IsToken(req.Params.Meta.ProgressToken) {
		return ctx
	}
	return mcpadapter.ContextWithProgress(ctx, func(p mcpadapter.ProgressNotification) {
		if len(session.NotificationChannel()) > 0 { // a slow client: the SDK still has to send a notification
			return
		}
		// The only errors are a full channel and a session that is not initialized.
		_ = b.server.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": req.Params.Meta.ProgressToken,
			"progress":      p.Progress,
			"message":       p.Message,
		})
	})
}
