package gosdk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/follow"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// Register adds an adapter's tools, prompts and completions to a server. Register reads no file.
// Each request checks the directories; the package documentation describes the results for missing
// directories.
//
// Call Register once for each adapter, before the server runs. Add middleware that must see all
// tools and prompts after the call of Register. A server may have several adapters.
//
// Register returns an error if the server or the adapter is nil, or if the SDK rejects a tool. The
// server then has none of the adapter's tools.
//
// The server announces changes until the catalog is closed. Neither the catalog nor the adapter
// keeps the server alive, and all servers of an adapter share one subscription to the catalog. A
// program may therefore make a server for each HTTP request and drop the server afterwards: the
// garbage collector frees everything that Register has added. To end the announcements earlier,
// use [RegisterUntil].
func Register(s *mcp.Server, a *mcpadapter.Adapter) error {
	return register(context.Background(), "gosdk: Register", s, a)
}

// RegisterUntil is [Register] for a server that announces changes only until ctx
// ends. Afterwards the server still answers requests, with prompts as fresh as
// before. An ended ctx is no error.
func RegisterUntil(ctx context.Context, s *mcp.Server, a *mcpadapter.Adapter) error {
	return register(ctx, "gosdk: RegisterUntil", s, a)
}

func register(ctx context.Context, op string, s *mcp.Server, a *mcpadapter.Adapter) error {
	if s == nil || a == nil {
		return errors.New(op + ": the server or the adapter is nil")
	}
	if err := addTools(s, a); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	b := &binding{adapter: a, size: a.PageSize()}
	if err := addSkillMethods(s); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if a.ServesPrompts() {
		announce(s)
		follow.Prompts(ctx, a, s, announce)
	}
	if a.ServesSkills() {
		announceSkills(s, nil)
	}
	s.AddReceivingMiddleware(b.middleware)
	follow.Skills(ctx, a, s, announceSkills)
	return nil
}

// A binding answers requests instead of the SDK.
type binding struct {
	adapter *mcpadapter.Adapter
	size    int // of a page
	tools   atomic.Pointer[toolList]
	clients clients
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
			if b.adapter.ServesPrompts() {
				return result(b.listPrompts(ctx, server, r))
			}
		case *mcp.GetPromptRequest:
			if b.adapter.ServesPrompts() {
				return b.getPrompt(ctx, server, r)
			}
		case *mcp.CompleteRequest:
			if b.adapter.ServesPrompts() {
				return b.complete(ctx, server, r)
			}
		case *mcp.ListResourcesRequest:
			if b.adapter.ServesSkills() {
				return result(b.listResources(ctx, server, r))
			}
		case *mcp.ListResourceTemplatesRequest:
			if b.adapter.ServesSkills() {
				return result(b.listTemplates(ctx, server, r))
			}
		case *mcp.ReadResourceRequest:
			if b.adapter.ServesSkills() {
				return b.readResource(ctx, server, r)
			}
		case *skillRequest:
			if b.adapter.ServesSkills() {
				return b.skills(ctx, server, method, r)
			}
		}
		res, err := next(ctx, method, req)
		switch r := res.(type) {
		case *mcp.InitializeResult:
			b.declare(r.Capabilities)
		case *mcp.DiscoverResult:
			b.declare(r.Capabilities)
			r.Cacheable = private(r.Cacheable)
		}
		return res, err
	}
}

// declare adds tools, completions and skills to the declared capabilities. The SDK
// declares prompts and resources, because the announcers are a prompt and a resource.
func (b *binding) declare(c *mcp.ServerCapabilities) {
	if c == nil {
		return
	}
	if c.Tools == nil {
		c.Tools = &mcp.ToolCapabilities{ListChanged: true}
	}
	if c.Completions == nil && b.adapter.ServesPrompts() {
		c.Completions = &mcp.CompletionCapabilities{}
	}
	if b.adapter.ServesSkills() {
		if c.Resources == nil { // the directory of skills is new
			c.Resources = &mcp.ResourceCapabilities{ListChanged: true}
		}
		c.AddExtension(mcpadapter.SkillsExtension, map[string]any{"directoryRead": true})
	}
}

// result avoids a Result interface with a nil pointer.
func result[R mcp.Result](r R, err error) (mcp.Result, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// private returns the cache hints of a list. Without hints of the program, the SDK lets
// proxies share a list between users.
func private(c mcp.Cacheable) mcp.Cacheable {
	if c.TTLMs == 0 {
		c.CacheScope = "private"
	}
	return c
}

// A server is the handler below the binding's middleware: the SDK's handler with the
// middleware added earlier.
type server struct {
	next mcp.MethodHandler
	req  mcp.Request
}

// forward passes the current request to the SDK.
func (s server) forward(ctx context.Context, method string) (mcp.Result, error) {
	return s.next(ctx, method, s.req)
}

// protocolError converts an error to a *jsonrpc.Error. The SDK sends errors of all other
// types with the code 0.
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

// rowsBelow returns all rows of a list of the server below the binding, and the cache hints of the
// list. The program that uses the SDK chooses the page size of the list.
func rowsBelow[P mcp.Params, R mcp.Result, T any](
	ctx context.Context, s server, method string, req *mcp.ServerRequest[P], params func(cursor string) P,
	read func(page R) (rows []T, next string, cacheable mcp.Cacheable),
) (all []T, cacheable mcp.Cacheable, err error) {
	for cursor := ""; ; {
		request := *req
		request.Params = params(cursor)
		res, err := s.next(ctx, method, &request)
		if err != nil {
			return nil, cacheable, err
		}
		page, ok := res.(R)
		if !ok {
			return nil, cacheable, fmt.Errorf("middleware returned a %T for %s", res, method)
		}
		rows, next, hints := read(page)
		if cacheable = private(hints); all == nil {
			all = rows
		} else {
			all = append(all, rows...)
		}
		if next == "" || next == cursor {
			return all, cacheable, nil
		}
		cursor = next
	}
}
