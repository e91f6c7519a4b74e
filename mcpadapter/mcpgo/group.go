package mcpgo

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A group consists of the bindings of one server. The SDK has one handler for each prompt,
// resource and template, and one provider of completions, so the group chooses the binding
// that answers: the last binding that has the item.
type group struct {
	server *server.MCPServer

	prompts   registry[mcpadapter.Prompt]
	resources registry[mcpadapter.Resource]

	mu       sync.Mutex
	bindings []*binding // in the order of Register
}

// groups are the groups of all servers. The handlers of a server hold the group of the server,
// and groups holds neither.
var groups struct {
	mu  sync.Mutex
	all map[weak.Pointer[server.MCPServer]]weak.Pointer[group]
}

// groupOf returns the group of a server.
func groupOf(s *server.MCPServer) *group {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	key := weak.Make(s)
	if g := groups.all[key].Value(); g != nil {
		return g
	}
	g := &group{server: s}
	g.prompts.key = func(p mcpadapter.Prompt) string { return p.Name }
	g.resources.key = func(r mcpadapter.Resource) string { return r.URI }
	if groups.all == nil {
		groups.all = make(map[weak.Pointer[server.MCPServer]]weak.Pointer[group])
	}
	groups.all[key] = weak.Make(g)
	runtime.AddCleanup(s, func(key weak.Pointer[server.MCPServer]) {
		groups.mu.Lock()
		defer groups.mu.Unlock()
		delete(groups.all, key)
	}, key)
	return g
}

// add adds a binding to the group.
func (g *group) add(b *binding) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bindings = append(g.bindings, b)
}

// all returns the bindings in the order of Register.
func (g *group) all() []*binding {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.bindings)
}

// answer returns the result of the last binding that has an item. A failure of a binding that
// has the item is the result, so that no other item answers in its place. If no binding has the
// item, the error of a binding that cannot tell precedes the error of a binding without the item.
func answer[T any](ctx context.Context, g *group, ask func(*binding) (T, error), has func(*binding) bool, lacks func(error) bool) (T, error) {
	var none error
	for _, b := range slices.Backward(g.all()) {
		result, err := ask(b)
		if err == nil || ctx.Err() != nil || !lacks(err) && has(b) {
			return result, err
		}
		if none == nil || lacks(none) && !lacks(err) {
			none = err
		}
	}
	return *new(T), none
}

// lacksPrompt reports whether an error states that an adapter does not have a prompt.
func lacksPrompt(err error) bool {
	return errors.Is(err, toolshelf.ErrCommandNotFound) || errors.Is(err, toolshelf.ErrInvalidCommandName) || errors.Is(err, toolshelf.ErrDirectoryNotFound)
}

// getPrompt returns the text of a command.
func (g *group) getPrompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	prompt, err := answer(ctx, g, func(b *binding) (mcpadapter.PromptText, error) {
		return b.adapter.GetPrompt(ctx, req.Params.Name, req.Params.Arguments)
	}, func(b *binding) bool { return g.prompts.has(b.prompts, req.Params.Name) }, lacksPrompt)
	if err != nil {
		return nil, handlerError(err)
	}
	return mcp.NewGetPromptResult(prompt.Description, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(prompt.Text))}), nil
}

// readResource returns a file of a skill.
func (g *group) readResource(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	c, err := answer(ctx, g, func(b *binding) (mcpadapter.ResourceContents, error) {
		if !b.adapter.ServesSkills() {
			return mcpadapter.ResourceContents{}, errNoSkills
		}
		return b.session.ReadResource(ctx, req.Params.URI)
	}, func(b *binding) bool { return b.hasSkill(req.Params.URI) }, func(err error) bool {
		var refused *mcpadapter.RPCError
		return errors.Is(err, errNoSkills) || errors.As(err, &refused) && refused.Code == mcpadapter.CodeInvalidParams
	})
	if err != nil {
		return nil, handlerError(err)
	}
	return contents(c), nil
}

// hasSkill reports whether the skill of a file is registered.
func (b *binding) hasSkill(uri string) bool {
	for i := range uri {
		if uri[i] == '/' && b.group.resources.has(b.resources, uri[:i+1]+"SKILL.md") {
			return true
		}
	}
	return false
}

var errNoSkills = errors.New("no skill is served; the directory of skills is missing")

// CompletePromptArgument completes an argument of a command or of a tool of an adapter.
func (g *group) CompletePromptArgument(ctx context.Context, name string, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	c, err := answer(ctx, g, func(b *binding) (mcpadapter.Completion, error) {
		return b.adapter.Complete(ctx, name, argument.Name, argument.Value)
	}, func(b *binding) bool { return g.prompts.has(b.prompts, name) }, lacksPrompt)
	if err == nil {
		return &mcp.Completion{Values: c.Values, Total: c.Total, HasMore: c.HasMore}, nil
	}
	if _, own := g.server.ListPrompts()[name]; own && !g.prompts.registers(name) {
		all := g.all()
		return all[len(all)-1].fallback.CompletePromptArgument(ctx, name, argument, known)
	}
	return nil, err
}
