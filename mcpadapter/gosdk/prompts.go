package gosdk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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

// refuse is the handler of the announcer's prompt. Only middleware of the program can
// forward a request to this handler.
func refuse(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Unknown prompt; prompts/list returns the names"}
}

// listPrompts returns one page. The commands come first. The server's own prompts begin
// on the last page of the commands if the page has room. listPrompts lists the catalog
// once, regardless of the number of the server's own prompts.
func (b *binding) listPrompts(ctx context.Context, s server, req *mcp.ListPromptsRequest) (*mcp.ListPromptsResult, error) {
	own, cacheable, err := s.prompts(ctx, req)
	if err != nil {
		return nil, err
	}
	var cursor *string
	if req.Params != nil && req.Params.Cursor != "" {
		cursor = &req.Params.Cursor
	}
	var commands mcpadapter.PromptList
	prompts, next, err := join(ctx, "prompts", paging.PromptSize(b.adapter), own, cursor, func(cursor *string) (all []*mcp.Prompt, next string, err error) {
		if commands, err = b.adapter.ListPrompts(ctx, cursor); err != nil {
			return nil, "", err
		}
		for _, p := range commands.Prompts {
			all = append(all, newPrompt(p))
		}
		return all, commands.NextCursor, nil
	}, func(p *mcp.Prompt) bool { return commands.Contains(p.Name) })
	if err != nil {
		return nil, protocolError(err)
	}
	return &mcp.ListPromptsResult{Cacheable: cacheable, Prompts: prompts, NextCursor: next}, nil
}

func newPrompt(p mcpadapter.Prompt) *mcp.Prompt {
	prompt := &mcp.Prompt{Name: p.Name, Description: p.Description}
	for _, arg := range p.Arguments {
		prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: arg.Name, Description: arg.Description, Required: arg.Required})
	}
	return prompt
}

// getPrompt returns the text of a command, or forwards the request for one of the
// server's own prompts.
func (b *binding) getPrompt(ctx context.Context, s server, req *mcp.GetPromptRequest) (mcp.Result, error) {
	prompt, err := b.adapter.GetPrompt(ctx, req.Params.Name, req.Params.Arguments)
	if err == nil {
		res, err := newResultOf[mcp.GetPromptResult](req.Params.Meta)
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

// commandFailed reports whether an error of GetPrompt comes from an existing command. If
// not, no command has the name, or the commands cannot be read. The name may then be the
// name of one of the server's own prompts.
func commandFailed(err error) bool {
	var refused *mcpadapter.RPCError
	unknown := errors.Is(err, toolshelf.ErrCommandNotFound) || errors.Is(err, toolshelf.ErrInvalidCommandName)
	return errors.As(err, &refused) && !unknown || errors.Is(err, toolshelf.ErrSizeLimitExceeded)
}

// newResultOf returns a result with the result type "complete" if the request is modern. The SDK
// sets the type only for items of its own set. The field is unexported, so newResultOf decodes JSON.
func newResultOf[R any](request mcp.Meta) (*R, error) {
	res := new(R)
	if !isModern(request) {
		return res, nil
	}
	return res, json.Unmarshal([]byte(`{"resultType":"complete"}`), res)
}

// isModern reports whether a request is of revision 2026-07-28 or later.
func isModern(request mcp.Meta) bool {
	version, _ := request[mcp.MetaKeyProtocolVersion].(string)
	return version >= "2026-07-28"
}

// prompts returns the server's own prompts and the cache hints of the list.
func (s server) prompts(ctx context.Context, req *mcp.ListPromptsRequest) ([]*mcp.Prompt, mcp.Cacheable, error) {
	params := cmp.Or(req.Params, &mcp.ListPromptsParams{})
	prompts, cacheable, err := rowsBelow(ctx, s, listPrompts, req, func(cursor string) *mcp.ListPromptsParams {
		return &mcp.ListPromptsParams{Meta: params.Meta, Cursor: cursor}
	}, func(page *mcp.ListPromptsResult) ([]*mcp.Prompt, string, mcp.Cacheable) {
		return page.Prompts, page.NextCursor, page.Cacheable
	})
	own := slices.DeleteFunc(slices.Clone(prompts), func(p *mcp.Prompt) bool { return p.Name == announcer })
	return own, cacheable, err
}
