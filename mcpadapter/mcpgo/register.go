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
// and replaces it. The default provider, and nil, complete nothing.
func WithPromptCompletions(provider server.PromptCompletionProvider) Option {
	return func(b *binding) {
		if b.fallback = provider; provider == nil {
			b.fallback = &server.DefaultPromptCompletionProvider{}
		}
	}
}

// Register adds an adapter's tools, prompts and completions to a server, and declares the
// capabilities of the server: tools; prompts with list_changed and completions, if the adapter
// serves prompts; and resources, if the adapter serves skills. Register reads the catalog's
// commands and skills once.
//
// Call Register once for each adapter, after applying all options of the server and before the
// server runs. If several adapters have the same name, the adapter of the last call answers. Add
// later hooks to the result of the server's GetHooks, not to the argument of server.WithHooks.
//
// Register returns an error, and leaves the server unchanged, if the server or the adapter is nil
// or the SDK rejects a tool.
//
// The server follows changes until the catalog is closed; [RegisterUntil] ends earlier. A program
// may make a server for each HTTP request and drop the server afterwards.
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
	b := &binding{server: s, adapter: a, group: groupOf(s), session: a.NewSession(), fallback: &server.DefaultPromptCompletionProvider{}}
	for _, opt := range opts {
		if opt != nil {
			opt(b)
		}
	}
	if err := b.addTools(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	b.prompts, b.resources = b.group.prompts.add(), b.group.resources.add()
	b.group.add(b)
	b.syncPrompts(context.Background())
	b.addSkills(context.Background())
	// An option is a function of the server, and applies to a finished server too.
	server.WithHooks(b.hooks(s.GetHooks()))(s)
	if a.ServesPrompts() {
		server.WithPromptCapabilities(true)(s)
		server.WithCompletions()(s)
		server.WithPromptCompletionProvider(b.group)(s)
		follow.Prompts(ctx, a, b, func(b *binding) { b.syncPrompts(context.Background()) })
	}
	if a.ServesSkills() {
		follow.Skills(ctx, a, b, func(b *binding, _ []string) { b.syncResources(context.Background()) })
	}
	return nil
}

// handlerError returns an error for a handler of the SDK, without the code, because the SDK
// sends -32603 for all errors.
func handlerError(err error) error {
	var rpcErr *mcpadapter.RPCError
	if errors.As(err, &rpcErr) {
		return errors.New(rpcErr.Message)
	}
	return err
}

// hooks returns a copy of a server's hooks with the hooks of the binding. Hooks in a
// shared server.Hooks would remain after the program drops the server.
func (b *binding) hooks(given *server.Hooks) *server.Hooks {
	var hooks server.Hooks
	if given != nil {
		hooks = *given
	}
	// A program may pass the hooks of this server to another server.
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
	hooks.OnBeforeListResources = append(slices.Clip(hooks.OnBeforeListResources), func(ctx context.Context, _ any, _ *mcp.ListResourcesRequest) {
		if isOwn(ctx) && b.adapter.ServesSkills() {
			b.syncResources(ctx)
		}
	})
	hooks.OnBeforeGetPrompt = append(slices.Clip(hooks.OnBeforeGetPrompt), func(ctx context.Context, _ any, req *mcp.GetPromptRequest) {
		if isOwn(ctx) {
			b.syncPrompt(ctx, req)
		}
	})
	return &hooks
}
