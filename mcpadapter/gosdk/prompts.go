package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

const (
	listPrompts = "prompts/list"
	getPrompt   = "prompts/get"
)

// announcer is the name of the prompt that makes the SDK declare prompts and
// announce changes. No command has this name.
const announcer = ""

// announce makes the server announce that its list of prompts has changed.
func announce(s *mcp.Server) { s.AddPrompt(&mcp.Prompt{Name: announcer}, refuse) }

// refuse is the announcer's handler, for middleware that lets a request by to
// it.
func refuse(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Unknown prompt; prompts/list has the names"}
}

// listPrompts answers with one page: of commands first, then of the server's own
// prompts, which begin on the last page of commands if there is room. The catalog is
// asked once, however many prompts the server has.
func (b *binding) listPrompts(ctx context.Context, s server, req *mcp.ListPromptsRequest) (*mcp.ListPromptsResult, error) {
	own, cacheable, err := s.prompts(ctx, req)
	if err != nil {
		return nil, err
	}
	id, err := identify("prompts", own)
	if err != nil {
		return nil, protocolError(err)
	}
	var cursor *string // among the commands
	first, afterCommands := 0, false
	if req.Params != nil && req.Params.Cursor != "" {
		if first, afterCommands = id.Offset(req.Params.Cursor, len(own)); !afterCommands {
			cursor = &req.Params.Cursor
		}
	}
	commands, err := b.adapter.ListPrompts(ctx, cursor)
	if err != nil {
		return nil, protocolError(err)
	}
	page := &mcp.ListPromptsResult{Cacheable: cacheable, Prompts: []*mcp.Prompt{}}
	if !afterCommands {
		for _, p := range commands.Prompts {
			page.Prompts = append(page.Prompts, newPrompt(p))
		}
		if commands.NextCursor != "" {
			page.NextCursor = commands.NextCursor
			return page, nil
		}
	}
	for i := first; i < len(own); i++ {
		if commands.Contains(own[i].Name) {
			continue
		}
		if len(page.Prompts) == min(b.size, paging.MaxPrompts) {
			page.NextCursor = id.Cursor(i)
			break
		}
		page.Prompts = append(page.Prompts, own[i])
	}
	return page, nil
}

func newPrompt(p mcpadapter.Prompt) *mcp.Prompt {
	prompt := &mcp.Prompt{Name: p.Name, Description: p.Description}
	for _, arg := range p.Arguments {
		prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: arg.Name, Description: arg.Description})
	}
	return prompt
}

// getPrompt answers with a command's text, or hands on the request for a
// prompt of the server's own.
func (b *binding) getPrompt(ctx context.Context, s server, req *mcp.GetPromptRequest) (mcp.Result, error) {
	prompt, err := b.adapter.GetPrompt(ctx, req.Params.Name, req.Params.Arguments)
	if err == nil {
		res, err := newPromptResult(req.Params.Meta)
		if err != nil {
			return nil, protocolError(err)
		}
		res.Description = prompt.Description
		res.Messages = []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: prompt.Text}}}
		return res, nil
	}
	if commandFailed(err) || ctx.Err() != nil {
		return nil, protocolError(err)
	}
	own, _, lookup := s.prompts(ctx, &mcp.ListPromptsRequest{Session: req.Session, Extra: req.Extra})
	if lookup != nil {
		return nil, lookup
	}
	if slices.ContainsFunc(own, func(p *mcp.Prompt) bool { return p.Name == req.Params.Name }) {
		return s.forward(ctx, getPrompt)
	}
	return nil, protocolError(err)
}

// commandFailed reports whether an error of GetPrompt shows that a command has the
// name. Otherwise the server's own prompt may have the name: no command has, or the
// commands cannot be read.
func commandFailed(err error) bool {
	var refused *mcpadapter.RPCError
	unknown := errors.Is(err, toolshelf.ErrCommandNotFound) || errors.Is(err, toolshelf.ErrInvalidCommandName)
	return errors.As(err, &refused) && !unknown || errors.Is(err, toolshelf.ErrSizeLimitExceeded)
}

// newPromptResult returns a result that says, from 2026-07-28 on, that it is
// complete. The SDK sees to that only for prompts of its own set, and lets
// others set it by decoding alone.
func newPromptResult(request mcp.Meta) (*mcp.GetPromptResult, error) {
	res := new(mcp.GetPromptResult)
	if version, _ := request[mcp.MetaKeyProtocolVersion].(string); version < "2026-07-28" {
		return res, nil
	}
	return res, json.Unmarshal([]byte(`{"resultType":"complete"}`), res)
}

// prompts returns the server's own prompts, and how long the list may be kept.
func (s server) prompts(ctx context.Context, req *mcp.ListPromptsRequest) ([]*mcp.Prompt, mcp.Cacheable, error) {
	var cacheable mcp.Cacheable
	prompts, err := allPages(func(cursor string) ([]*mcp.Prompt, string, error) {
		request := *req
		request.Params = &mcp.ListPromptsParams{Cursor: cursor}
		if req.Params != nil {
			request.Params.Meta = req.Params.Meta
		}
		res, err := s.next(ctx, listPrompts, &request)
		if err != nil {
			return nil, "", err
		}
		page, ok := res.(*mcp.ListPromptsResult)
		if !ok {
			return nil, "", fmt.Errorf("a middleware answered %s with a %T", listPrompts, res)
		}
		cacheable = page.Cacheable
		return page.Prompts, page.NextCursor, nil
	})
	own := slices.DeleteFunc(slices.Clone(prompts), func(p *mcp.Prompt) bool { return p.Name == announcer })
	return own, cacheable, err
}
