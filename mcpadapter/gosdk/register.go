package gosdk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// Register adds an adapter's tools, prompts and completions to a server. It
// reads no file; what the package documentation says of missing folders holds
// for each request.
//
// Call it once, when the server is made: before it is run, and before other
// middleware is added that is to see all tools and prompts. Several adapters
// can be registered with one server.
//
// The error is that the server or the adapter is nil, or what the SDK has
// against a tool; then the server is without the adapter's tools.
//
// Clients are told of changes until the catalog is closed. Until then the
// catalog holds on to the server.
func Register(s *mcp.Server, a *mcpadapter.Adapter) error {
	if s == nil || a == nil {
		return errors.New("gosdk: Register: the server or the adapter is nil")
	}
	if err := addTools(s, a); err != nil {
		return fmt.Errorf("gosdk: Register: %w", err)
	}
	announce := func() { s.AddPrompt(&mcp.Prompt{Name: announcer}, refuse) }
	announce()
	b := &binding{adapter: a, size: a.PageSize()}
	s.AddReceivingMiddleware(b.middleware)
	a.OnPromptsChange(func([]string) { announce() })
	return nil
}

// A binding answers the requests that the SDK would answer otherwise.
type binding struct {
	adapter *mcpadapter.Adapter
	size    int // of a page
	shelf   atomic.Pointer[shelf]
}

func (b *binding) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		server := server{next, req}
		switch r := req.(type) {
		case *mcp.ListToolsRequest:
			return result(b.listTools(ctx, server, r))
		case *mcp.CallToolRequest:
			return b.callTool(ctx, server, r)
		case *mcp.ListPromptsRequest:
			return result(b.listPrompts(ctx, server, r))
		case *mcp.GetPromptRequest:
			return b.getPrompt(ctx, server, r)
		case *mcp.CompleteRequest:
			return b.complete(ctx, server, r)
		}
		res, err := next(ctx, method, req)
		switch r := res.(type) {
		case *mcp.InitializeResult:
			declare(r.Capabilities)
		case *mcp.DiscoverResult:
			declare(r.Capabilities)
		}
		return res, err
	}
}

// declare adds to what the server says that it can do. Prompts are among it
// already, as there is one.
func declare(c *mcp.ServerCapabilities) {
	if c == nil {
		return
	}
	if c.Tools == nil {
		c.Tools = &mcp.ToolCapabilities{ListChanged: true}
	}
	if c.Completions == nil {
		c.Completions = &mcp.CompletionCapabilities{}
	}
}

// result keeps a nil pointer from becoming a Result that is not nil.
func result[R mcp.Result](r R, err error) (mcp.Result, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// A server is what is below the middleware: the SDK's own handling, with the
// other middleware that was added before.
type server struct {
	next mcp.MethodHandler
	req  mcp.Request
}

// pass hands on the request that is being served.
func (s server) pass(ctx context.Context, method string) (mcp.Result, error) {
	return s.next(ctx, method, s.req)
}

// protocolError is an error as the SDK sends it with its code; errors of other
// types would have the code 0.
func protocolError(err error) error {
	var e *mcpadapter.RPCError
	if errors.As(err, &e) {
		return &jsonrpc.Error{Code: int64(e.Code), Message: e.Message, Data: e.Data}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request was not finished: " + err.Error()}
}

func invalidCursor(cursor string) error {
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: paging.InvalidCursor(fmt.Sprintf("%.100q", cursor)),
	}
}

// everything returns what a list of the server has, which hands it out in
// pages of a size that its author chose.
func everything[T any](list func(cursor string) (items []T, next string, err error)) ([]T, error) {
	var all []T
	for cursor := ""; ; {
		items, next, err := list(cursor)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = items
		} else {
			all = append(all, items...)
		}
		if next == "" || next == cursor {
			return all, nil
		}
		cursor = next
	}
}
