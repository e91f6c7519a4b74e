package mcpadapter

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

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
		return all, a.ignoreMissing(ctx, err)
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
	case argument == "agent_name" && a.config.permits(getAgent):
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
	return names, a.ignoreMissing(ctx, err)
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

func (r request) complete() (json.RawMessage, *RPCError) {
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
	completion, err := r.adapter.Complete(r.ctx, *ref.Name, *argument.Name, *argument.Value)
	if err != nil {
		return nil, asRPCError(err)
	}
	encoded, err := escape.Marshal(completion)
	if err != nil {
		return nil, internalError(err)
	}
	return append(append(append(r.begin(len(encoded)), `"completion":`...), encoded...), '}'), nil
}
