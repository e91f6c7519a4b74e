package mcpadapter

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A Completion is what could stand for a value that a user has begun to type.
type Completion struct {
	Values  []string `json:"values"` // at most 100, never null
	Total   int      `json:"total,omitempty"`
	HasMore bool     `json:"hasMore,omitempty"`
}

// maxValues is the protocol's limit.
const maxValues = 100

// Complete returns the values that begin with what was typed, in any letter
// case, and after them those that hold it. The name is that of a prompt or a
// tool.
//
// For an argument that takes the name of a command (command_name or command)
// or of a skill (skill_name or skill) those are the names in the catalog; for
// one whose description lists its values, such as "[major|minor|patch]",
// those; for others there are none.
//
// The error is an *RPCError with CodeInvalidParams for a prompt or tool, or an
// argument of it, that there is not; the context's; or the catalog's.
//
// Complete looks through the commands at most once.
func (a *Adapter) Complete(ctx context.Context, name, argument, typed string) (values Completion, err error) {
	defer a.hider.error(&err)
	tool, isTool := a.Lookup(name)
	var commands []string
	var listErr error
	if isTool { // which may have a command of its name
		commands, listErr = a.commandNames(ctx)
		if err := ctx.Err(); err != nil {
			return Completion{}, err
		}
	}
	choices, err := a.argumentChoices(ctx, name, argument, tool, isTool && !slices.Contains(commands, name))
	if err != nil {
		return Completion{}, err
	}
	switch {
	case choices != nil: // the argument lists its values
	case argument == "command_name" || argument == "command":
		if !isTool {
			commands, listErr = a.commandNames(ctx)
		}
		if listErr != nil {
			return Completion{}, listErr
		}
		choices = commands
	case argument == "skill_name" || argument == "skill":
		skills, err := a.catalog.ListSkills(ctx)
		if err = ignoreMissing(err); err != nil {
			return Completion{}, err
		}
		for _, s := range skills {
			choices = append(choices, s.Name)
		}
	}
	return complete(choices, typed), nil
}

// commandNames returns the names of the listed commands.
func (a *Adapter) commandNames(ctx context.Context) ([]string, error) {
	var names []string
	for info, err := range a.catalog.All(ctx) {
		if err != nil {
			return nil, ignoreMissing(err)
		}
		names = append(names, info.Name)
	}
	return names, nil
}

// argumentChoices returns the values that an argument's description lists. The
// error says that the argument does not exist. If toolOnly, no command has the name.
func (a *Adapter) argumentChoices(ctx context.Context, name, argument string, tool Tool, toolOnly bool) ([]string, error) {
	var known []string
	if !toolOnly {
		command, err := a.command(ctx, name)
		if err != nil && tool.Name == "" {
			return nil, err
		}
		if err == nil {
			arguments, err := a.config.renderer.ArgumentsContext(ctx, command)
			if err != nil {
				return nil, err
			}
			for _, p := range newPrompt("", "", arguments).Arguments {
				if p.Name == argument {
					return choicesOf(p.Description), nil
				}
				known = append(known, p.Name)
			}
		}
	}
	var schema struct {
		Properties map[string]struct{ Enum []json.RawMessage }
	}
	_ = json.Unmarshal(tool.InputSchema, &schema) // an extra tool's enum may be of something else
	if p, ok := schema.Properties[argument]; ok {
		return textsOf(p.Enum), nil
	}
	known = slices.AppendSeq(known, maps.Keys(schema.Properties))
	slices.Sort(known)
	return nil, unknownArguments(quote(name), []string{argument}, known)
}

// textsOf returns the different strings among the values of an enum; nil for no
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

// choicesOf reads a hint such as "[major|minor|patch]" or "<on|off>".
func choicesOf(hint string) []string {
	hint = strings.Trim(hint, "[]<>(){} ")
	if !strings.Contains(hint, "|") {
		return nil
	}
	var choices []string
	for choice := range strings.SplitSeq(hint, "|") {
		choice = strings.TrimSpace(choice)
		if choice == "" || strings.ContainsAny(choice, " \t\r\n[]<>(){}") {
			return nil // it is prose
		}
		choices = append(choices, choice)
	}
	return choices
}

func complete(choices []string, typed string) Completion {
	typed = strings.ToLower(typed)
	var begin, hold []string
	for _, choice := range choices {
		switch i := strings.Index(strings.ToLower(choice), typed); {
		case i == 0:
			begin = append(begin, choice)
		case i > 0:
			hold = append(hold, choice)
		}
	}
	values := append(begin, hold...)
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
		return nil, invalidParams(`"ref" is missing or no reference; send {"type":"ref/prompt","name":"…"}`)
	}
	if *ref.Type != "ref/prompt" || ref.Name == nil {
		return nil, invalidParams(`only prompts and tools are completed; send {"type":"ref/prompt","name":"…"} as "ref"`)
	}
	if json.Unmarshal(r.params["argument"], &argument) != nil || argument.Name == nil || argument.Value == nil {
		return nil, invalidParams(`"argument" is missing or incomplete; send {"name":"…","value":"…"}`)
	}
	completion, err := r.adapter.Complete(r.ctx, *ref.Name, *argument.Name, *argument.Value)
	if err != nil {
		return nil, asRPCError(err)
	}
	encoded, err := encode(completion)
	if err != nil {
		return nil, internalError(err)
	}
	return append(append(append(r.begin(len(encoded)), `"completion":`...), encoded...), '}'), nil
}
