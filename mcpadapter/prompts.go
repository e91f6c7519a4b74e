package mcpadapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/template"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/publish"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// A Prompt is a command or a skill in the form of the Model Context Protocol: a text template
// with arguments.
type Prompt struct {
	Name        string           `json:"name"` // the name of the command or the skill, without a namespace
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// A PromptArgument is an argument of a prompt. Required is the wish of the author, for the
// form of a client: GetPrompt accepts a call without the argument, and the text keeps the
// placeholder.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"` // as in "argument-hint: <issue>"
}

// A PromptText is the text of a prompt after the arguments are filled in.
type PromptText struct {
	Description string
	Text        string // the message of the user
}

// Prompts returns a prompt for each command that the catalog lists, and then a prompt for each
// skill that a user may invoke, in the order of the catalog. A skill has precedence over a command
// of the same name, as in Catalog.Expand: the command is no prompt. Missing directories have no
// prompts. Prompts returns the other errors of Catalog.List and Catalog.ListSkills.
//
// The cost is the cost of List and ListSkills, and one read of the first 64 KiB of each new or
// changed file; a cache holds up to 16 MiB of arguments. If a file cannot be read, or if
// no file of the page can be read for half a second, a prompt has no arguments, and later
// lists do not wait for the file.
func (a *Adapter) Prompts(ctx context.Context) (all []Prompt, err error) {
	defer a.hider.error(&err)
	usage, err := a.bridge.ListUsage(ctx, math.MaxInt, "", a.config.rules())
	for _, u := range usage.Rows {
		all = append(all, newPrompt(u.Name, u.Description, u.Arguments))
	}
	return all, publish.IgnoreMissing(ctx, a.catalog, err)
}

func init() {
	paging.PromptSize = func(adapter any) int { return adapter.(*Adapter).config.promptSize }
}

// A PromptList is one page of prompts.
type PromptList struct {
	Prompts    []Prompt // the prompts of the page
	NextCursor string   // the cursor of the next page; "" on the last page

	usage bridge.UsageList
}

// Contains reports whether any page of the list had a prompt with this name at the time
// of the call of ListPrompts. Contains reads no file.
func (l PromptList) Contains(name string) bool { return l.usage.Contains(name) }

// ListPrompts returns one page of the prompts that Prompts returns. The page has at
// most 1,000 prompts, or the number of WithPageSize. A nil cursor requests the first page. A
// cursor stays valid if commands and skills are added or removed.
//
// ListPrompts returns an *RPCError with CodeInvalidParams for a cursor that does not come
// from a list of prompts or commands, including "". All other errors are those of Prompts.
//
// The cost is the cost of Prompts for the page. Unreadable files have the effect that
// Prompts documents.
func (a *Adapter) ListPrompts(ctx context.Context, cursor *string) (list PromptList, err error) {
	defer a.hider.error(&err)
	size, from := a.config.promptSize, ""
	if cursor != nil {
		if from = *cursor; from == "" {
			return PromptList{}, invalidCursor("")
		}
	}
	usage, err := a.bridge.ListUsage(ctx, size, from, a.config.rules())
	missing := errors.Is(err, toolshelf.ErrDirectoryNotFound)
	switch err = publish.IgnoreMissing(ctx, a.catalog, err); {
	case errors.Is(err, toolshelf.ErrInvalidCursor), err == nil && missing && cursor != nil:
		return PromptList{}, invalidCursor(from)
	case err != nil || missing:
		return PromptList{}, err
	}
	list = PromptList{NextCursor: usage.NextCursor, usage: usage}
	for _, u := range usage.Rows {
		list.Prompts = append(list.Prompts, newPrompt(u.Name, u.Description, u.Arguments))
	}
	return list, nil
}

// Prompt returns the prompt of one command or skill, as Prompts does. Prompt returns false
// if no prompt has the name, or if the file cannot be read. The only error is
// the context's error.
func (a *Adapter) Prompt(ctx context.Context, name string) (Prompt, bool, error) {
	command, err := a.command(ctx, name)
	switch {
	case err == nil:
		return a.promptOf(command), true, nil
	case ctx.Err() != nil:
		return Prompt{}, false, ctx.Err()
	default:
		return Prompt{}, false, nil // the file was removed or cannot be read
	}
}

func (a *Adapter) promptOf(command toolshelf.Command) Prompt {
	return newPrompt(command.Name, command.Metadata.Description, a.listedArguments(command))
}

// renderer returns the Renderer of WithRenderer, or the rules of the layer of a command.
func (a *Adapter) renderer(command toolshelf.Command) toolshelf.Renderer {
	if a.config.renderer != nil {
		return *a.config.renderer
	}
	return toolshelf.Renderer{Rules: command.Rules}
}

// listedArguments returns the arguments of a command in a list of prompts.
func (a *Adapter) listedArguments(command toolshelf.Command) []template.Parameter {
	head := command.Raw[:min(len(command.Raw), template.MaxListedText)]
	return template.Renderer(a.renderer(command)).Listed(command.Metadata.Path, head, len(head) == len(command.Raw))
}

func newPrompt(name, description string, arguments []template.Parameter) Prompt {
	p := Prompt{Name: name, Description: description}
	for _, arg := range arguments {
		p.Arguments = append(p.Arguments, PromptArgument{Name: arg.Name, Description: cmp.Or(arg.Description, arg.Hint), Required: arg.Required})
	}
	return p
}

// maxPromptArguments is the maximum number of arguments in one call of GetPrompt.
const maxPromptArguments = 1000

// GetPrompt fills the named arguments into the text of a prompt. Without arguments,
// GetPrompt returns the text of Renderer.Render (see WithRenderer). GetPrompt executes
// no command and reads no file that the text mentions.
//
// GetPrompt accepts the arguments of Renderer.Arguments and of the list of prompts. The
// two differ only for files of more than 64 KiB. The time is linear in the
// length of the file and of the arguments. GetPrompt returns when the context ends.
//
// GetPrompt returns an *RPCError with CodeInvalidParams for an unknown prompt, for unknown
// arguments and for more than 1,000 arguments. For an unknown prompt, the *RPCError wraps
// toolshelf.ErrCommandNotFound. GetPrompt also returns the error of the context and the errors of
// Catalog.Get, Catalog.GetSkill and Renderer.Render; for toolshelf.ErrInvalidArguments, an
// *RPCError with CodeInvalidParams that wraps the error.
func (a *Adapter) GetPrompt(ctx context.Context, name string, arguments map[string]string) (prompt PromptText, err error) {
	defer a.hider.error(&err)
	command, err := a.command(ctx, name)
	if err != nil {
		return PromptText{}, err
	}
	if len(arguments) > maxPromptArguments {
		return PromptText{}, invalidParams("%d arguments were given for the prompt %s; a prompt takes at most %d", len(arguments), escape.Quote(name), maxPromptArguments)
	}
	if len(arguments) == 0 {
		return a.promptText(ctx, command, nil)
	}
	expected, err := a.renderer(command).Arguments(ctx, command)
	if err != nil {
		return PromptText{}, err
	}
	known := make(map[string]bool, len(expected))
	for _, arg := range expected {
		known[arg.Name] = true
	}
	for _, arg := range a.listedArguments(command) {
		known[arg.Name] = true
	}
	var unknown []string
	for name := range arguments {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	if unknown != nil {
		var names []string
		for _, arg := range expected {
			names = append(names, arg.Name)
		}
		return PromptText{}, invalidParams("%s", schema.Unknown("the prompt", unknown, names))
	}
	return a.promptText(ctx, command, arguments)
}

func (a *Adapter) promptText(ctx context.Context, command toolshelf.Command, arguments map[string]string) (PromptText, error) {
	if arguments == nil {
		arguments = map[string]string{} // the errors of Render then ask for arguments by name
	}
	rendering, err := a.renderer(command).Render(ctx, command, toolshelf.Args{Named: arguments})
	var e *toolshelf.Error
	if errors.Is(err, toolshelf.ErrInvalidArguments) && errors.As(err, &e) {
		return PromptText{}, invalidParams("%s", e.Message).because(err)
	}
	return PromptText{Description: command.Metadata.Description, Text: rendering.Text}, err
}

// command returns the command of a prompt. The command of a skill has the text and the header of
// the SKILL.md.
func (a *Adapter) command(ctx context.Context, name string) (toolshelf.Command, error) {
	found, err := a.bridge.Invoked(ctx, name)
	if errors.Is(err, toolshelf.ErrCommandNotFound) {
		if err := publish.IgnoreMissing(ctx, a.catalog, err); errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			return toolshelf.Command{}, err
		}
		const text = "Unknown prompt: %s; prompts/list returns the names"
		return toolshelf.Command{}, invalidParams(text, escape.Quote(name)).because(err)
	}
	var ambiguous *toolshelf.Error
	if errors.Is(err, toolshelf.ErrAmbiguousName) && errors.As(err, &ambiguous) {
		return toolshelf.Command{}, invalidParams("%s", ambiguous.Message).because(err)
	}
	switch found := found.(type) {
	case toolshelf.Skill:
		return toolshelf.Command{Name: found.Name, Content: found.Content, Raw: found.Raw, Frontmatter: found.Frontmatter, Layer: found.Layer, Rules: found.Rules,
			Metadata: toolshelf.CommandMetadata{Path: found.Path, Description: found.Description}}, nil
	case toolshelf.Command:
		return found, nil
	}
	return toolshelf.Command{}, err
}

func (s *Session) listPrompts(r request) (json.RawMessage, error) {
	list, err := s.adapter.ListPrompts(r.ctx, r.cursor)
	if list.Prompts == nil {
		list.Prompts = []Prompt{}
	}
	return r.list("prompts", list.Prompts, list.NextCursor, 0, err)
}

func (s *Session) getPrompt(r request) (json.RawMessage, error) {
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
		if value != nil { // null omits the argument, as for tools
			arguments[name] = *value
		}
	}
	prompt, err := s.adapter.GetPrompt(r.ctx, name, arguments)
	if err != nil {
		return nil, err
	}
	b := r.begin(len(prompt.Text), uncacheable)
	if prompt.Description != "" {
		b = append(escape.AppendJSON(append(b, `"description":`...), prompt.Description), ',')
	}
	b = append(b, `"messages":[{"role":"user","content":{"type":"text","text":`...)
	return append(escape.AppendJSON(b, prompt.Text), `}}]}`...), nil
}

// A Completion lists values that complete the text that a user has typed.
type Completion struct {
	Values  []string `json:"values"` // at most 100, never null
	Total   int      `json:"total,omitempty"`
	HasMore bool     `json:"hasMore,omitempty"`
}

// maxValues is the protocol's limit for a Completion.
const maxValues = 100

// Complete returns the values of an argument that begin with the typed text, followed
// by the values that contain the text elsewhere. Letter case does not matter. The name
// is the name of a prompt or a tool.
//
// The values depend on the argument. If the description of the argument lists values, as in
// "[major|minor|patch]", Complete uses this list. The arguments command_name and command have the
// names of the listed commands. The arguments skill_name and skill have the names of the skills
// that can be loaded, and agent_name the names of the agents that can be loaded. WithTools permits
// the names with get_command, get_skill and get_agent. All other arguments have no values.
//
// Complete returns an *RPCError with CodeInvalidParams for an unknown prompt, tool or
// argument; the error of the context; or an error of the catalog.
//
// Complete scans the commands, the skills and the agents at most once.
func (a *Adapter) Complete(ctx context.Context, name, argument, typed string) (values Completion, err error) {
	defer a.hider.error(&err)
	list := sync.OnceValues(func() (bridge.Invocable, error) {
		all, err := a.bridge.Invocable(ctx)
		return all, publish.IgnoreMissing(ctx, a.catalog, err)
	})
	tool, isTool := a.Lookup(name)
	isPrompt := !isTool
	if isTool { // a prompt may have the same name
		all, _ := list()
		isPrompt = all.Contains(name)
		if err := ctx.Err(); err != nil {
			return Completion{}, err
		}
	}
	choices, err := a.argumentChoices(ctx, name, argument, tool, !isPrompt)
	if err != nil {
		return Completion{}, err
	}
	var all bridge.Invocable
	switch {
	case choices != nil: // the argument lists its values
	case argument == "command_name" || argument == "command":
		all, err = list()
		choices = all.CommandNames()
	case argument == "skill_name" || argument == "skill":
		all, err = list()
		choices = all.SkillNames()
	case argument == "agent_name" && a.config.permits("get_agent"):
		choices, err = a.agentNames(ctx)
	}
	if err != nil {
		return Completion{}, err
	}
	return complete(choices, typed), nil
}

// agentNames returns the names of the agents that can be loaded.
func (a *Adapter) agentNames(ctx context.Context) (names []string, err error) {
	agents, err := a.catalog.ListAgents(ctx)
	for _, agent := range agents {
		if agent.Loadable {
			names = append(names, agent.Name)
		}
	}
	return names, publish.IgnoreMissing(ctx, a.catalog, err)
}

// argumentChoices returns the values in the description of an argument, or an error if
// the argument does not exist. toolOnly means that no prompt has the name.
func (a *Adapter) argumentChoices(ctx context.Context, name, argument string, tool Tool, toolOnly bool) ([]string, error) {
	var known []string
	if !toolOnly {
		command, err := a.command(ctx, name)
		if err != nil && tool.Name == "" {
			return nil, err
		}
		if err == nil {
			arguments, err := a.renderer(command).Arguments(ctx, command)
			if err != nil {
				return nil, err
			}
			for _, arg := range arguments {
				if arg.Name == argument {
					return choicesOf(cmp.Or(arg.Description, arg.Hint)), nil
				}
				known = append(known, arg.Name)
			}
		}
	}
	var input struct {
		Properties map[string]struct{ Enum []json.RawMessage }
	}
	_ = json.Unmarshal(tool.InputSchema, &input) // an error means that an extra tool has an unusual schema, without choices
	if p, ok := input.Properties[argument]; ok {
		return textsOf(p.Enum), nil
	}
	known = slices.AppendSeq(known, maps.Keys(input.Properties))
	slices.Sort(known)
	return nil, invalidParams("%s", schema.Unknown(escape.Quote(name), []string{argument}, known))
}

// textsOf returns the distinct strings among the values of an enum, or nil without an
// enum.
func textsOf(enum []json.RawMessage) []string {
	if enum == nil {
		return nil
	}
	choices := []string{}
	for _, value := range enum {
		var choice *string
		if json.Unmarshal(value, &choice) == nil && choice != nil && !slices.Contains(choices, *choice) {
			choices = append(choices, *choice)
		}
	}
	return choices
}

// choicesOf parses a hint such as "[major|minor|patch]" or "<on|off>".
func choicesOf(hint string) []string {
	hint = strings.Trim(hint, "[]<>(){} ")
	if !strings.Contains(hint, "|") {
		return nil
	}
	var choices []string
	for choice := range strings.SplitSeq(hint, "|") {
		choice = strings.TrimSpace(choice)
		if choice == "" || strings.ContainsAny(choice, " \t\r\n[]<>(){}") {
			return nil // the hint is prose
		}
		choices = append(choices, choice)
	}
	return choices
}

func complete(choices []string, typed string) Completion {
	typed = strings.ToLower(typed)
	var prefixed, containing []string
	for _, choice := range choices {
		switch i := strings.Index(strings.ToLower(choice), typed); {
		case i == 0:
			prefixed = append(prefixed, choice)
		case i > 0:
			containing = append(containing, choice)
		}
	}
	values := append(prefixed, containing...)
	c := Completion{Values: values, Total: len(values), HasMore: len(values) > maxValues}
	if c.HasMore {
		c.Values = values[:maxValues]
	}
	if c.Values == nil {
		c.Values = []string{}
	}
	return c
}

func (s *Session) complete(r request) (json.RawMessage, error) {
	var (
		ref      struct{ Type, Name *string }
		argument struct{ Name, Value *string }
	)
	if json.Unmarshal(r.params["ref"], &ref) != nil || ref.Type == nil {
		return nil, invalidParams(`"ref" is missing or not an object; send {"type":"ref/prompt","name":"…"}`)
	}
	if *ref.Type != "ref/prompt" || ref.Name == nil {
		return nil, invalidParams(`"ref" does not refer to a prompt or a tool; send {"type":"ref/prompt","name":"…"}`)
	}
	if json.Unmarshal(r.params["argument"], &argument) != nil || argument.Name == nil || argument.Value == nil {
		return nil, invalidParams(`"argument" is missing or incomplete; send {"name":"…","value":"…"}`)
	}
	completion, err := s.adapter.Complete(r.ctx, *ref.Name, *argument.Name, *argument.Value)
	return r.list("completion", completion, "", uncacheable, err)
}
