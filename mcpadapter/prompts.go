package mcpadapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// A Prompt is a command as the Model Context Protocol offers it to users: a text
// that arguments are filled into.
type Prompt struct {
	Name        string           `json:"name"` // the command's, without a namespace
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// A PromptArgument is one that a command expects. None is required: what is left
// out stays in the text as its author wrote it.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// A PromptText is a prompt with its arguments filled in.
type PromptText struct {
	Description string
	Text        string // what the user says
}

// Prompts returns a prompt for each command that the catalog lists, in its
// order. A missing folder of commands has none.
//
// The errors are the catalog's, but for the missing folder. The cost is that of
// Catalog.List and of Catalog.Get for each command, which is asked what
// arguments its text has.
func (a *Adapter) Prompts(ctx context.Context) (all []Prompt, err error) {
	defer a.hider.error(&err)
	for info, err := range a.catalog.All(ctx) {
		if err != nil {
			return all, noFolder(err)
		}
		if p, ok, err := a.Prompt(ctx, info.Name); err != nil {
			return nil, err
		} else if ok {
			all = append(all, p)
		}
	}
	return all, nil
}

// PromptsPage returns one page of Prompts and the cursor of the next, "" after
// the last: of the size of WithPageSize, but at most 100. A nil cursor is the
// first page; one that no list of commands made, "" included, is an *RPCError
// with CodeInvalidParams. A cursor stays good when commands come and go.
func (a *Adapter) PromptsPage(ctx context.Context, cursor *string) (prompts []Prompt, next string, err error) {
	defer a.hider.error(&err)
	page := toolshelf.Page{Size: min(a.config.pageSize, paging.MostPrompts)}
	if cursor != nil {
		if page.Cursor = *cursor; page.Cursor == "" {
			return nil, "", invalidCursor("")
		}
	}
	list, err := a.catalog.List(ctx, page)
	switch {
	case errors.Is(err, toolshelf.ErrInvalidCursor):
		return nil, "", invalidCursor(page.Cursor)
	case err != nil && noFolder(err) == nil && cursor != nil:
		return nil, "", invalidCursor(page.Cursor)
	case err != nil:
		return nil, "", noFolder(err)
	}
	for _, info := range list.Commands {
		p, ok, err := a.Prompt(ctx, info.Name)
		if err != nil {
			return nil, "", err
		}
		if ok {
			prompts = append(prompts, p)
		}
	}
	return prompts, list.Pagination.NextCursor, nil
}

// noFolder is err, unless it says that there is no folder of commands.
func noFolder(err error) error {
	if errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		return nil
	}
	return err
}

// Prompt returns the prompt of one command; false if there is none that can be
// read and is listed. The error is the context's.
func (a *Adapter) Prompt(ctx context.Context, name string) (Prompt, bool, error) {
	command, err := a.catalog.Get(ctx, name)
	switch {
	case err == nil:
		return a.newPrompt(command), !command.Dependency, nil
	case ctx.Err() != nil:
		return Prompt{}, false, ctx.Err()
	default:
		return Prompt{}, false, nil // it was removed since it was listed, or cannot be read
	}
}

func (a *Adapter) newPrompt(command toolshelf.Command) Prompt {
	p := Prompt{Name: command.Name, Description: command.Metadata.Description}
	for _, arg := range a.config.renderer.Arguments(command) {
		p.Arguments = append(p.Arguments, PromptArgument{Name: arg.Name, Description: cmp.Or(arg.Description, arg.Hint)})
	}
	return p
}

// GetPrompt returns the text of a prompt with these arguments, by name.
// Without arguments it is the text as Renderer.Render gives it; see
// WithRenderer. Nothing that the text asks for is executed or read.
//
// The error is an *RPCError with CodeInvalidParams for a prompt or an argument
// that there is not; the context's; or the catalog's, for a command that
// cannot be read.
func (a *Adapter) GetPrompt(ctx context.Context, name string, arguments map[string]string) (prompt PromptText, err error) {
	defer a.hider.error(&err)
	command, err := a.command(ctx, name)
	if err != nil {
		return PromptText{}, err
	}
	var known []string
	for _, arg := range a.config.renderer.Arguments(command) {
		known = append(known, arg.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if !slices.Contains(known, name) {
			takes := "it takes none"
			if known != nil {
				takes = "it takes " + strings.Join(known, ", ")
			}
			return PromptText{}, invalidParams("the prompt has no argument %s; %s", quote(name), takes)
		}
	}
	var rendering toolshelf.Rendering
	if len(arguments) == 0 {
		rendering, err = a.config.renderer.Render(command)
	} else {
		rendering, err = a.config.renderer.RenderNamed(command, arguments)
	}
	return PromptText{Description: command.Metadata.Description, Text: rendering.Text}, err
}

func (a *Adapter) command(ctx context.Context, name string) (toolshelf.Command, error) {
	command, err := a.catalog.Get(ctx, name)
	if errors.Is(err, toolshelf.ErrCommandNotFound) || errors.Is(err, toolshelf.ErrInvalidCommandName) || err == nil && command.Dependency {
		return command, invalidParams("Unknown prompt: %s; prompts/list has the names", quote(name))
	}
	return command, err
}

func (r request) listPrompts() (json.RawMessage, *RPCError) {
	cursor, rpcErr := r.params.cursor()
	if rpcErr != nil {
		return nil, rpcErr
	}
	prompts, next, err := r.adapter.PromptsPage(r.ctx, cursor)
	if err != nil {
		return nil, asRPCError(err)
	}
	if prompts == nil {
		prompts = []Prompt{}
	}
	list, err := encode(prompts)
	if err != nil {
		return nil, internalError(err)
	}
	b := []byte{'{'}
	if r.modern {
		b = append(r.adapter.config.modern(0, "private"), ',')
	}
	b = append(append(b, `"prompts":`...), list...)
	if next != "" {
		b = appendString(append(b, `,"nextCursor":`...), next)
	}
	return append(b, '}'), nil
}

func (r request) getPrompt() (json.RawMessage, *RPCError) {
	name, rpcErr := r.params.text("name")
	if rpcErr != nil {
		return nil, rpcErr
	}
	var given map[string]*string
	if r.params.has("arguments") && json.Unmarshal(r.params["arguments"], &given) != nil {
		return nil, invalidParams(`"arguments" is not an object of strings`)
	}
	arguments := make(map[string]string, len(given))
	for name, value := range given {
		if value != nil { // null is an argument that is left out, as for tools
			arguments[name] = *value
		}
	}
	prompt, err := r.adapter.GetPrompt(r.ctx, name, arguments)
	if err != nil {
		return nil, asRPCError(err)
	}
	b := r.begin(len(prompt.Text))
	if prompt.Description != "" {
		b = append(appendString(append(b, `"description":`...), prompt.Description), ',')
	}
	b = append(b, `"messages":[{"role":"user","content":{"type":"text","text":`...)
	return append(appendString(b, prompt.Text), `}}]}`...), nil
}
