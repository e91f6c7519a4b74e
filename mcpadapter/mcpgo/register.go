package mcpgo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// An Option sets how Register does its work.
type Option func(*binding)

// WithPromptCompletions sets what completes the arguments of prompts that are
// the server's own. A provider that the server got from
// server.WithPromptCompletionProvider cannot be found by Register, which
// replaces it. The default completes nothing.
func WithPromptCompletions(provider server.PromptCompletionProvider) Option {
	return func(b *binding) { b.others = provider }
}

// Register adds an adapter's tools, prompts and completions to a server, and
// declares them among its capabilities: tools as server.WithToolCapabilities
// said or with list_changed, prompts with list_changed, completions. It reads
// the catalog's commands once; what the package documentation says of missing
// folders holds from then on.
//
// Call it once, when the server is made: before it serves, and after all of its
// options were applied. Several adapters can be registered with one server; the
// completions are those of the last one.
//
// The error is that the server or the adapter is nil, or what the SDK has
// against a tool; then nothing was registered.
//
// Changes are followed until the catalog is closed. Until then the catalog holds
// on to the server.
func Register(s *server.MCPServer, a *mcpadapter.Adapter, opts ...Option) error {
	if s == nil || a == nil {
		return errors.New("mcpgo: Register: the server or the adapter is nil")
	}
	b := &binding{server: s, adapter: a, others: &server.DefaultPromptCompletionProvider{}}
	for _, opt := range opts {
		if opt != nil {
			opt(b)
		}
	}
	if err := b.addTools(); err != nil {
		return fmt.Errorf("mcpgo: Register: %w", err)
	}
	ctx := context.Background()
	b.syncPrompts(ctx)
	// An option is a function of the server, and can be applied to one that is
	// made.
	server.WithPromptCapabilities(true)(s)
	server.WithCompletions()(s)
	server.WithPromptCompletionProvider(b)(s)
	if s.GetHooks() == nil {
		server.WithHooks(&server.Hooks{})(s)
	}
	b.addHooks(s.GetHooks())
	a.OnPromptsChange(func([]string) { b.syncPrompts(ctx) })
	return nil
}

// addHooks adds what is to be done before requests. Hooks may be shared by
// several servers.
func (b *binding) addHooks(hooks *server.Hooks) {
	concerned := func(ctx context.Context) bool { return server.ServerFromContext(ctx) == b.server }
	hooks.AddBeforeCallTool(func(ctx context.Context, _ any, req *mcp.CallToolRequest) {
		if concerned(ctx) {
			b.rename(ctx, req)
		}
	})
	hooks.AddBeforeListPrompts(func(ctx context.Context, _ any, _ *mcp.ListPromptsRequest) {
		if concerned(ctx) {
			b.syncPrompts(ctx)
		}
	})
	hooks.AddBeforeGetPrompt(func(ctx context.Context, _ any, req *mcp.GetPromptRequest) {
		if concerned(ctx) {
			b.syncPrompt(ctx, req)
		}
	})
}
