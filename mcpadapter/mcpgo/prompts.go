package mcpgo

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A binding keeps a server's prompts equal to the commands of a catalog, and its resources
// equal to the skills.
type binding struct {
	server  *server.MCPServer
	adapter *mcpadapter.Adapter
	group   *group
	// fallback completes the arguments of the server's own prompts.
	fallback server.PromptCompletionProvider

	prompts   *source[mcpadapter.Prompt]
	resources *source[mcpadapter.Resource]
	session   *mcpadapter.Session // reads resources; the SDK has no skills/list, so no client holds an entry
}

// syncPrompts registers new and changed prompts, and removes the prompts without a
// command. If the catalog cannot be read, the prompts stay. A call whose context
// ends does not wait for another call.
func (b *binding) syncPrompts(ctx context.Context) {
	read := func() ([]mcpadapter.Prompt, error) { return b.adapter.Prompts(ctx) }
	b.group.prompts.sync(b.prompts, read, func(added []mcpadapter.Prompt, removed []string) {
		var prompts []server.ServerPrompt
		for _, p := range added {
			prompts = append(prompts, server.ServerPrompt{Prompt: newPrompt(p), Handler: b.group.getPrompt})
		}
		if removed != nil {
			b.server.DeletePrompts(removed...)
		}
		if prompts != nil {
			b.server.AddPrompts(prompts...)
		}
	})
}

// syncPrompt updates the server's prompts before prompts/get if either a command or a
// registered prompt, but not both, has the requested name. If the request contains the
// file name of a command, syncPrompt replaces the file name by the registered name.
func (b *binding) syncPrompt(ctx context.Context, req *mcp.GetPromptRequest) {
	p, exists, err := b.adapter.Prompt(ctx, req.Params.Name)
	if err != nil {
		return
	}
	name := req.Params.Name
	if exists {
		name = p.Name
	}
	if exists != b.group.prompts.has(b.prompts, name) {
		b.syncPrompts(ctx)
	}
	if name == req.Params.Name {
		return
	}
	if _, own := b.server.ListPrompts()[req.Params.Name]; !own {
		req.Params.Name = name
	}
}

func newPrompt(p mcpadapter.Prompt) mcp.Prompt {
	prompt := mcp.Prompt{Name: p.Name, Description: p.Description}
	for _, arg := range p.Arguments {
		prompt.Arguments = append(prompt.Arguments, mcp.PromptArgument{Name: arg.Name, Description: arg.Description, Required: arg.Required})
	}
	return prompt
}
