package mcpgo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/follow"
)

// An Option configures Register.
type Option func(*binding)

// WithPromptCompletions sets the provider that completes arguments of the server's own
// prompts. Register cannot read the provider of server.WithPromptCompletionProvider
// and replaces it. The default provider completes nothing.
func WithPromptCompletions(provider server.PromptCompletionProvider) Option {
	return func(b *binding) { b.fallback = provider }
}

// Register adds an adapter's tools, prompts and completions to a server, and
// declares them among the server's capabilities: tools as
// server.WithToolCapabilities says or with list_changed, prompts with list_changed,
// and completions. Register reads the catalog's commands once. From then on, the
// package documentation describes missing directories.
//
// Call Register once, when the server is made: before the server serves, and after
// applying all of the server's options. A server may have several adapters; the
// last adapter's completions apply.
//
// Register gives the server its own copy of its hooks, because several servers may
// share a server.Hooks. Add later hooks to the result of the server's GetHooks, not
// to the value that was given to server.WithHooks.
//
// Register returns an error if the server or the adapter is nil, or if the SDK
// rejects a tool. Nothing is registered then.
//
// The server follows changes until the catalog is closed. Neither the catalog nor
// the adapter keeps the server alive, and all servers of an adapter share one
// subscription to the catalog. A program may therefore make a server for each HTTP
// request and drop the server afterwards: the garbage collector frees everything
// that Register has added. [RegisterUntil] stops following changes earlier.
func Register(s *server.MCPServer, a *mcpadapter.Adapter, opts ...Option) error {
	return register(context.Background(), "mcpgo: Register", s, a, opts)
}

// RegisterUntil is [Register] for a server that follows changes only until ctx
// ends. Afterwards the server still answers requests, with prompts as fresh as
// before. An ended ctx is no error.
func RegisterUntil(ctx context.Context, s *server.MCPServer, a *mcpadapter.Adapter, opts ...Option) error {
	return register(ctx, "mcpgo: RegisterUntil", s, a, opts)
}

func register(ctx context.Context, op string, s *server.MCPServer, a *mcpadapter.Adapter, opts []Option) error {
	if s == nil || a == nil {
		return errors.New(op + ": the server or the adapter is nil")
	}
	b := &binding{server: s, adapter: a, fallback: &server.DefaultPromptCompletionProvider{}}
	for _, opt := range opts {
		if opt != nil {
			opt(b)
		}
	}
	if err := b.addTools(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	b.syncPrompts(context.Background())
	// An option is a function of the server, and applies to a finished server too.
	server.WithPromptCapabilities(true)(s)
	server.WithCompletions()(s)
	server.WithPromptCompletionProvider(b)(s)
	server.WithHooks(b.hooks(s.GetHooks()))(s)
	follow.Prompts(ctx, a, b, func(b *binding) { b.syncPrompts(context.Background()) })
	return nil
}

// hooks returns a copy of a server's hooks with the hooks of the binding. Hooks in a
// shared server.Hooks would remain after the program drops the server.
func (b *binding) hooks(given *server.Hooks) *server.Hooks {
	var hooks server.Hooks
	if given != nil {
		hooks = *given
	}
	// A server may be given the hooks of another server, copied with these.
	isOwn := func(ctx context.Context) bool { return server.ServerFromContext(ctx) == b.server }
	hooks.OnBeforeCallTool = append(slices.Clip(hooks.OnBeforeCallTool), func(ctx context.Context, _ any, req *mcp.CallToolRequest) {
		if isOwn(ctx) {
			b.rename(ctx, req)
		}
	})
	hooks.OnBeforeListPrompts = append(slices.Clip(hooks.OnBeforeListPrompts), func(ctx context.Context, _ any, _ *mcp.ListPromptsRequest) {
		if isOwn(ctx) {
			b.syncPrompts(ctx)
		}
	})
	hooks.OnBeforeGetPrompt = append(slices.Clip(hooks.OnBeforeGetPrompt), func(ctx context.Context, _ any, req *mcp.GetPromptRequest) {
		if isOwn(ctx) {
			b.syncPrompt(ctx, req)
		}
	})
	return &hooks
}
