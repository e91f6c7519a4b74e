package toolshelf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/observe"
	"github.com/toolshelf-go/toolshelf/internal/template"
	"github.com/toolshelf-go/toolshelf/internal/text"
	"github.com/toolshelf-go/toolshelf/internal/usage"
)

// Args are the arguments of a command or a skill. A program that has no line, for example a server
// of the Model Context Protocol, sets List or Named.
type Args struct {
	Line  string            // the text of $ARGUMENTS; without Line, List joined by blanks
	List  []string          // by position
	Named map[string]string // by name
}

// ParseArgs splits the arguments that a user typed, the text after the name of a command. Line is
// the line, unchanged, and List the words of the line. Named is nil.
//
// The words are split as a POSIX shell splits a line: at spaces, tabs and line breaks outside
// quotes. Between single quotes, each character stays. Between double quotes, a backslash escapes
// $, `, ", \ and a line break; elsewhere, any character. A quote without a closing quote is a
// letter, as in don't, and so is a backslash at the end. ParseArgs expands nothing. The time is
// linear in the length of the line.
func ParseArgs(line string) Args {
	return Args{Line: line, List: template.Words(line)}
}

// A Kind is the kind of an entry of a catalog.
type Kind string

// The kinds of entries. A user invokes commands and skills by name.
const (
	KindCommand Kind = "command"
	KindSkill   Kind = "skill"
	KindAgent   Kind = "agent"

	KindInstruction Kind = "instruction" // of an Item
	KindPlugin      Kind = "plugin"      // of an Item
	KindMCPServer   Kind = "mcp_server"  // of an Item
)

// A Completion is a command, a skill or an agent whose name completes the text that a user types.
type Completion struct {
	Kind        Kind   `json:"kind"`
	Name        string `json:"name"`             // as accepted by Expand, Get, GetSkill or GetAgent; Expand wants the mention of an agent
	Hint        string `json:"hint,omitempty"`   // the field argument-hint, such as "[issue] [priority]"
	Description string `json:"description"`      // may contain line breaks
	Layer       string `json:"layer"`            // the directory or the FS name, as given to the option
	Plugin      string `json:"plugin,omitempty"` // the name of the plugin, which begins Name
}

// defaultCompletions is the default limit of CompleteName.
const defaultCompletions = 10

// CompleteName returns the commands and the user-invocable skills whose names begin with a prefix,
// in any letter case, in the order of [Catalog.List], and then the entries of plugins whose names
// without the plugin begin with the prefix. The prefix is the text that a user has typed, with or
// without a slash. The limit is the maximum number of rows; 0 means 10.
//
// A command with the name of a skill is omitted. The kinds select the commands, the skills or the
// agents. Without kinds, a prefix such as "@rev" also completes agents if a client of [WithClient]
// mentions agents (client.Client.Mention). Of the exposures, only [ExposeOff] hides a skill.
//
// CompleteName returns [ErrInvalidQuery] for a negative limit, [ErrInvalidOption] for an unknown
// kind, and the errors of List and [Catalog.ListSkills], but a missing default directory contains
// no entries. The cost is the cost of a page of List and of a scan of the skills.
func (c *Catalog) CompleteName(ctx context.Context, prefix string, limit int, kinds ...Kind) ([]Completion, error) {
	const op = "CompleteName"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	if limit < 0 {
		return nil, &Error{Code: CodeInvalidQuery, Op: op, Message: fmt.Sprintf("the limit %d is out of range; use 1 or more, or 0 for %d", limit, defaultCompletions)}
	}
	wanted, mentioned, err := c.newSelection(op, prefix, true, kinds)
	if err != nil {
		return nil, err
	}
	all, err := c.invocable(ctx, op, wanted)
	if err != nil {
		return nil, err
	}
	list := []Completion{}
	for e := range all.Completions(c.typedName(strings.TrimPrefix(prefix, "/")), mentioned) {
		if len(list) == cmp.Or(limit, defaultCompletions) {
			break
		}
		list = append(list, c.completion(e))
	}
	return list, nil
}

func (c *Catalog) completion(e usage.Invoked) Completion {
	in, hint := c.commands, ""
	switch {
	case e.Agent:
		in = c.agents
	case e.Skill:
		in, hint = c.skills, agentmd.NewFrontmatter(e.Header()).Text("argument-hint")
	default:
		hint = e.Hint()
	}
	return Completion{Kind: Kind(in.noun), Name: e.Name, Hint: hint, Description: in.description(e.Entry),
		Layer: in.LayerOf(e.Entry).Name, Plugin: e.Plugin()}
}

// A selection has the kinds of entries of a call.
type selection struct{ commands, skills, agents bool }

// newSelection returns the commands and the skills if no kind is given, and the agents for a
// mention; see names.Mentioned.
func (c *Catalog) newSelection(op, typed string, typing bool, kinds []Kind) (s selection, mentioned []string, err error) {
	for _, k := range kinds {
		switch k {
		case KindCommand:
			s.commands = true
		case KindSkill:
			s.skills = true
		case KindAgent:
			s.agents = true
		default:
			return s, nil, &Error{Code: CodeInvalidOption, Op: op, Message: "a user invokes no entries of the kind " + quote(string(k)) + "; use KindCommand, KindSkill or KindAgent"}
		}
	}
	if s.agents || len(kinds) == 0 {
		mentioned = names.Mentioned(typed, c.config.mentions, typing, s.agents)
	}
	if len(kinds) == 0 {
		s = selection{commands: true, skills: true, agents: mentioned != nil}
	}
	return s, mentioned, nil
}

// String returns the noun for an entry.
func (s selection) String() string {
	switch {
	case !s.commands && !s.skills:
		return "agent"
	case !s.skills:
		return "command"
	case !s.commands:
		return "skill"
	}
	return "command or skill"
}

// invocable returns the current entries that a user may invoke.
func (c *Catalog) invocable(ctx context.Context, op string, wanted selection) (v usage.Invocable, err error) {
	if wanted.commands {
		v.Commands, err = c.commands.optionalSnapshot(ctx, op)
		v.Commands = c.commands.filter.Apply(ctx, v.Commands)
	}
	if wanted.skills && err == nil {
		v.Skills, err = c.skills.optionalSnapshot(ctx, op)
		v.Skills = c.skills.filter.Apply(ctx, v.Skills)
		v.Off = c.isOff
	}
	if wanted.agents && err == nil {
		v.Agents, err = c.agents.optionalSnapshot(ctx, op)
		v.Agents = c.agents.filter.Apply(ctx, v.Agents)
	}
	return v, err
}

// isOff reports whether nobody may choose a skill.
func (c *Catalog) isOff(e *index.Entry) bool { return c.exposure(e) == ExposeOff }

// typedName returns the name that a user means. A slash separates directories in OpenCode.
func (c *Catalog) typedName(typed string) string {
	if c.config.colons {
		return strings.ReplaceAll(typed, "/", ":")
	}
	return typed
}

// An Expansion is the text of a command or a skill that a user invokes.
type Expansion struct {
	Rendering
	Kind        Kind        `json:"kind"`
	Name        string      `json:"name"`
	Args        Args        `json:"args"`
	Frontmatter Frontmatter `json:"-"`                 // of the command or of the skill
	Command     *Command    `json:"command,omitempty"` // as from Get; nil for a skill
	Skill       *Skill      `json:"skill,omitempty"`   // as from GetSkill; nil for a command
	Agent       *Agent      `json:"agent,omitempty"`   // as from GetAgent, for a line with a mention; Text is then the line after the name, the task of the agent

	// Diagnostics has agentmd.DiagPlaceholderMiscounted if a number of the text stands for another
	// argument than in most clients: by the rules of client.Claude, $1 is the second argument. The
	// Path is "".
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
}

// blanks separate the name from the arguments.
const blanks = " \t\r\n"

// Expand returns the text of the command or the skill that a user invokes by a line such as
// "/review 417 high": the first word is the name, with or without a slash. [ParseArgs] reads the
// text after the name. Expand executes nothing and reads no file of a [Directive].
//
// Names are those of [Catalog.CompleteName], in the same letter case; a skill has precedence over a
// command. The name of a plugin may be missing ([ErrAmbiguousName]). "/frontend/page" is
// "/frontend:page", as in OpenCode. A name can be several words, as in "/my skill 4".
//
// If the line names no entry, Expand returns [ErrCommandNotFound]: the line is a text for the
// model. Call Expand only for lines with a slash, and with "@" for agents (client.Client.Mention).
// The other errors are those of [Catalog.Get], [Catalog.GetSkill] and [Renderer.Render], whose
// costs are the cost of Expand; with [ErrInvalidArguments], the Expansion has all but the Text.
func (c *Catalog) Expand(ctx context.Context, line string, kinds ...Kind) (Expansion, error) {
	const op = "Expand"
	if err := c.begin(ctx, op); err != nil {
		return Expansion{}, err
	}
	typed := strings.TrimPrefix(strings.Trim(line, blanks), "/")
	wanted, mentioned, err := c.newSelection(op, typed, false, kinds)
	if err != nil {
		return Expansion{}, err
	}
	if len(mentioned) > 0 {
		if x, err := c.expandAgent(ctx, op, mentioned); err != nil || x.Agent != nil {
			return x, err
		}
	}
	end := strings.IndexAny(typed+" ", blanks)
	o, failed := c.observer.Begin(ctx), Event{Action: EventLoaded, Kind: KindCommand, Name: typed[:end]}
	x, err := c.invoked(ctx, op, typed[:end], c.typedName(typed[:end]), wanted, &failed)
	if CodeOf(err) == CodeCommandNotFound && names.Loose(c.typedName(typed[:end])) && end < len(typed) {
		all, listErr := c.invocable(ctx, op, wanted)
		if listErr != nil {
			o.Send(failed, listErr)
			return Expansion{}, listErr
		}
		name, word := c.typedName(typed), end
		if end = all.Longest(name, word, blanks); end > word {
			x, err = c.invoked(ctx, op, typed[:end], name[:end], wanted, &failed)
		}
	}
	x.send(o, failed, err)
	if err != nil {
		return Expansion{}, err
	}
	x.Args = ParseArgs(strings.Trim(typed[end:], blanks))
	if x.Skill != nil {
		x.Rendering, err = x.Skill.renderer().Render(ctx, *x.Skill, x.Args)
		x.Diagnostics = newDiagnostics(lint.Miscounted(x.Skill.Rules, x.Skill.template(), x.Skill.Raw))
	} else {
		x.Rendering, err = Renderer{Rules: x.Command.Rules}.Render(ctx, *x.Command, x.Args)
		x.Diagnostics = newDiagnostics(lint.Miscounted(x.Command.Rules, x.Command.template(), x.Command.Raw))
	}
	if err != nil && CodeOf(err) != CodeInvalidArguments {
		x = Expansion{}
	}
	return x, inOp(op, err)
}

// expandAgent returns the expansion of one of the lines after the mention of an agent, or the zero
// Expansion.
func (c *Catalog) expandAgent(ctx context.Context, op string, mentioned []string) (x Expansion, err error) {
	all, err := c.invocable(ctx, op, selection{agents: true})
	for _, line := range mentioned {
		if err != nil || x.Agent != nil {
			break
		}
		if name, rest := all.Mentioned(line, blanks); name != "" {
			var agent Agent
			agent, err = c.GetAgent(ctx, name)
			args := ParseArgs(strings.Trim(rest, blanks))
			x = Expansion{Rendering: Rendering{Text: args.Line}, Kind: KindAgent, Name: agent.Name, Args: args, Frontmatter: agent.Frontmatter, Agent: &agent}
		}
	}
	if err != nil {
		return Expansion{}, inOp(op, err)
	}
	return x, nil
}

// Invoked is documented at bridge.Catalog.
func (c bridged) Invoked(ctx context.Context, name string) (any, error) {
	const op = "Get"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	o, failed := c.observer.Begin(ctx), Event{Action: EventLoaded, Kind: KindCommand, Name: name}
	x, err := c.invoked(ctx, op, name, name, c.prompts, &failed)
	x.send(o, failed, err)
	if x.Skill != nil {
		return *x.Skill, err
	} else if x.Command != nil {
		return *x.Command, err
	}
	return nil, err
}

// send sends the event of the load, or the event of the failure.
func (x Expansion) send(o observe.Call[Event], failed Event, err error) {
	switch {
	case x.Skill != nil:
		_, failed = x.Skill.loaded()
	case x.Command != nil:
		_, failed = x.Command.loaded()
	}
	o.Send(failed, err)
}

// invoked returns the skill or the command that a user invokes by a name, without a text. Errors
// quote the name as typed. A name that no entry can have never reaches the filesystem. If an entry
// with the name cannot be shown or read, invoked sets the event of the failure.
func (c *Catalog) invoked(ctx context.Context, op, typed, name string, wanted selection, failed *Event) (Expansion, error) {
	unknown := &Error{Code: CodeCommandNotFound, Op: op, Path: text.First(typed, maxQuery)}
	missing := error(unknown)
	x, skillErr := Expansion{}, missing
	if wanted.skills {
		x, skillErr = c.invokedSkill(ctx, op, name, unknown, failed)
	}
	found := skillErr == nil
	if found && x.Name == name || !found && skillErr != missing && CodeOf(skillErr) != CodeAmbiguousName {
		return x, skillErr
	}
	// A command of the whole name has precedence over the skill of a plugin without the name of the
	// plugin, and over several such skills.
	command, err := Command{}, missing
	if wanted.commands {
		command, err = c.invokedCommand(ctx, op, name, unknown, failed)
	}
	whole := err == nil && command.Name == name
	switch {
	case !whole && skillErr != missing:
		return x, skillErr
	case err == nil && !whole: // without ".md", or with the name of a plugin, a skill may have the name
		return c.invoked(ctx, op, typed, command.Name, wanted, failed)
	case err == nil && !command.Dependency:
		command = c.detach(command)
		return Expansion{Kind: KindCommand, Name: command.Name, Frontmatter: command.Frontmatter, Command: &command}, nil
	case err != nil && err != missing:
		return Expansion{}, err
	}
	if skillErr == missing && unknown.Message == "" {
		unknown.Message = "there is no " + wanted.String() + " " + quote(unknown.Path) + "; " + c.invocableHint(text.First(name, maxQuery), wanted)
	}
	return x, skillErr
}

// invokedCommand returns the command that a user invokes by a name. If no command has the name, the
// error is unknown.
func (c *Catalog) invokedCommand(ctx context.Context, op, name string, unknown *Error, failed *Event) (Command, error) {
	now, err := commandLookup(c, op, name).find(ctx)
	if err != nil && now.entry != nil && c.observer != nil {
		*failed = c.commands.seen(ctx, *failed, now.outcome)
	}
	switch CodeOf(err) {
	case CodeInvalidCommandName:
		return Command{}, unknown
	case CodeCommandNotFound:
		unknown.Err, err = err, unknown
	}
	return now.value, err
}

// invokedSkill returns the skill that a user invokes by a name. If no skill has the name, the error
// is unknown, and if only a model invokes the skill, the message of unknown says so.
func (c *Catalog) invokedSkill(ctx context.Context, op, name string, unknown *Error, failed *Event) (Expansion, error) {
	find := skillLookup(c, op, name, nil, skillReader{files: true})
	if !names.Loose(name) || find.absent(ctx) {
		return Expansion{}, unknown
	}
	now, err := find.find(ctx)
	if err != nil && now.entry != nil && c.observer != nil {
		*failed = c.skills.seen(ctx, *failed, now.outcome)
	}
	skill := now.value
	switch {
	case CodeOf(err) == CodeSkillNotFound:
		return Expansion{}, unknown
	case err != nil:
		return Expansion{}, err
	case skill.Exposure == ExposeOff && skill.Name == name:
		return Expansion{}, &Error{Code: CodeCommandNotFound, Op: op, Path: unknown.Path, Message: "the skill " + quote(name) +
			" is off in the settings of the client or of the program; remove the setting to invoke the skill"}
	case skill.Exposure == ExposeOff:
		return Expansion{}, unknown
	case !skill.UserInvocable:
		unknown.Message = "only a model invokes the skill " + quote(name) + ", because its frontmatter has user-invocable: false; remove the field to invoke the skill"
		return Expansion{}, unknown
	}
	return Expansion{Kind: KindSkill, Name: skill.Name, Frontmatter: skill.Frontmatter, Skill: &skill}, nil
}

// invocableHint completes the message for an unknown name, from the last snapshots.
func (c *Catalog) invocableHint(name string, wanted selection) string {
	if name == "" {
		return "write a name after the slash, as in /review"
	}
	var last usage.Invocable
	if wanted.commands {
		last.Commands = c.commands.filter.Apply(c.lifetime, c.commands.Last())
	}
	if wanted.skills {
		last.Skills, last.Off = c.skills.filter.Apply(c.lifetime, c.skills.Last()), c.isOff
	}
	var entries []*index.Entry
	for e := range last.Prefixed("") {
		entries = append(entries, e.Entry)
	}
	return suggestion(entries, name, "list the commands and the skills for the names")
}

// Prompting is documented at bridge.Catalog.
func (c bridged) Prompting(commands, skills bool) bridge.Catalog[SkillInfo, SkillFile] {
	return bridged{c.Catalog, selection{commands: commands, skills: skills}}
}

// Invocable is documented at bridge.Catalog.
func (c bridged) Invocable(ctx context.Context) (v usage.Invocable, err error) {
	const op = "Invocable"
	if err = c.begin(ctx, op); err != nil {
		return v, err
	}
	if c.prompts.commands {
		_, v.Commands, err = c.commands.list(ctx, op)
	}
	if c.prompts.skills && (err == nil || CodeOf(err) == CodeDirectoryNotFound) {
		var failed error
		if _, v.Skills, failed = c.skills.list(ctx, op); CodeOf(failed) != CodeDirectoryNotFound || !c.prompts.commands {
			err = failed
		}
		v.Off = c.isOff
	}
	return v, err
}

// ListUsage is documented at bridge.Catalog.
func (c bridged) ListUsage(ctx context.Context, size int, from string, rules *client.Rules) (bridge.UsageList, error) {
	const op = "ListUsage"
	if err := c.begin(ctx, op); err != nil {
		return bridge.UsageList{}, err
	}
	all, err := c.Invocable(ctx)
	if err != nil {
		return bridge.UsageList{}, inOp(op, err)
	}
	page, next, ok := all.Page(cmp.Or(size, defaultPageSize), from)
	if !ok {
		return bridge.UsageList{}, inOp(op, cursorOfAnotherList())
	}
	rows, err := c.usageOf(ctx, page, rules)
	if err != nil {
		return bridge.UsageList{}, c.methodError(op, err)
	}
	return bridge.UsageList{Rows: rows, NextCursor: next, Invocable: all}, nil
}

// usageOf returns the usage of each entry. At most 1,000 entries wait for a read at the same time.
func (c *Catalog) usageOf(ctx context.Context, entries []usage.Invoked, rules *client.Rules) (all []bridge.Usage, err error) {
	for part := range slices.Chunk(entries, 1000) {
		first := len(all)
		for _, e := range part {
			all = append(all, bridge.Usage{Name: e.Name, Description: c.completion(e).Description})
		}
		if err := c.usages.Each(ctx, part, rules, func(i int, arguments []template.Parameter) { all[first+i].Arguments = slices.Clone(arguments) }); err != nil {
			return nil, c.lifetime.Cause(err)
		}
	}
	return all, nil
}
