package agentmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// Fields are the fields of a header that clients document for commands, skills and agents, with the
// types of their values. A missing field has its zero value, except UserInvocable. Package client
// and docs/authors.md list the fields of each client. [Frontmatter] has all fields of the author as
// written.
//
// The fields after Metadata occur in agents only.
type Fields struct {
	Name         string
	Description  string // without leading and trailing blanks
	WhenToUse    string // when_to_use; a client shows the text after the description
	ArgumentHint string // as written
	Arguments    []Argument

	AllowedTools []ToolRule // the calls that the author lets a client run without a question
	// The rules of disallowed-tools or disallowedTools, and the entries of tools that are false; see
	// ToolRule.Match.
	DisallowedTools []ToolRule

	Model   string // the first of a list
	Agent   string // the agent that runs the text
	Effort  string // effort or reasoningEffort
	Context string // "fork" for an agent of its own
	Shell   string
	Mode    string
	// As written, as in Compatibility and Metadata: |+ and >+ keep their final line breaks.
	License string

	Compatibility string
	Version       string
	Paths         []string        // globs; a list, or a text with commas outside braces
	Hooks         json.RawMessage // the value as JSON, or nil

	UserInvocable          bool // a user may choose the file; true if the field is missing
	DisableModelInvocation bool // only a user may choose the file
	Background             bool // background or is_background
	Subtask                bool

	Metadata map[string]string // a value that is no text as JSON

	// The tools that the agent has; empty, such as "tools: []", means none, and nil, such as
	// `tools: "*"`, all, or none if Err is not nil.
	Tools          []ToolRule
	Skills         []string
	PermissionMode string // permissionMode or approvalMode
	MaxTurns       int    // maxTurns, max_turns or maxSteps; 0 without a positive number
	Memory         string
	Isolation      string
	Color          string
	InitialPrompt  string

	// Err describes the first field with tool rules that cannot be read. Each such field is nil. A
	// host that obeys DisallowedTools or Tools should refuse the file.
	Err error
}

// An Argument is an entry of the field arguments: a name, or a mapping with the keys name,
// description, hint, required, default and choices (also options or enum).
type Argument struct {
	Name        string
	Description string
	Hint        string
	Required    bool
	Default     string
	Choices     []string
}

// Fields returns the typed view of the header. Booleans are the booleans of [Frontmatter.Bool]; any
// other value counts as a missing field. Fields reads the header again in each call.
func (f Frontmatter) Fields() Fields {
	fields := Fields{
		Name: f.plain("name"), Description: f.plain("description"), WhenToUse: f.plain("when_to_use"),
		ArgumentHint: f.Text("argument-hint"),
		Agent:        f.plain("agent"), Effort: cmp.Or(f.plain("effort"), f.plain("reasoningEffort")),
		Context: f.plain("context"), Shell: f.plain("shell"), Mode: f.plain("mode"),
		License: f.Text("license"), Compatibility: f.Text("compatibility"), Version: f.plain("version"),
		Paths:          f.items("paths"),
		Skills:         f.items("skills"),
		PermissionMode: cmp.Or(f.plain("permissionMode"), f.plain("approvalMode")),
		Memory:         f.plain("memory"), Isolation: f.plain("isolation"),
		Color: f.plain("color"), InitialPrompt: f.Text("initialPrompt"),
		// The second key is the name in earlier versions of VS Code.
		UserInvocable:          f.flag(true, "user-invocable", "user-invokable"),
		DisableModelInvocation: f.flag(false, "disable-model-invocation"),
		Background:             f.flag(false, "background", "is_background"),
		Subtask:                f.flag(false, "subtask"),
	}
	for _, p := range template.Declared(f.header) {
		fields.Arguments = append(fields.Arguments,
			Argument{p.Name, p.Description, p.Hint, p.Required, p.Default, p.Choices})
	}
	if models := f.List("model"); len(models) > 0 {
		fields.Model = strings.TrimSpace(models[0])
	}
	if hooks := f.value("hooks"); hooks.Kind != matter.Null {
		fields.Hooks = hooks.AppendJSON(nil)
	}
	fields.Metadata = f.value("metadata").Texts()
	for _, key := range []string{"maxTurns", "max_turns", "maxSteps"} {
		if n, err := strconv.Atoi(f.Text(key)); err == nil && n > 0 && fields.MaxTurns == 0 {
			fields.MaxTurns = n
		}
	}
	var denied []ToolRule
	fields.Tools, denied = f.tools(&fields.Err)
	fields.AllowedTools, _ = f.rules(&fields.Err, "allowed-tools")
	for _, key := range []string{"disallowed-tools", "disallowedTools"} {
		rules, _ := f.rules(&fields.Err, key)
		fields.DisallowedTools = append(fields.DisallowedTools, rules...)
	}
	fields.DisallowedTools = append(fields.DisallowedTools, denied...)
	return fields
}

// tools returns the rules of the field tools. "*" is all tools, and an empty list allows no tool:
// docs.github.com, custom agents configuration, and opencode.ai/docs/agents, 2026-11; Claude Code
// 2.1.332.
func (f Frontmatter) tools(failed *error) (allowed, denied []ToolRule) {
	allowed, denied = f.rules(failed, "tools")
	value, ok := f.header.Get("tools")
	all := ToolRule{Tool: "*"}
	switch {
	case slices.Contains(allowed, all):
		return nil, denied
	case allowed == nil && *failed == nil && ok &&
		(value.Kind != matter.Mapping || slices.Contains(denied, all)):
		return []ToolRule{}, denied
	}
	return allowed, denied
}

// Summary returns the text by which a model chooses the file in a client: the description, and
// after " - " the text of when_to_use if the client has this field. A text with more characters
// than Cut of the client's field description ends in "…" at this length. The files are
// client.Commands, client.Skills or client.Agents.
func (f Fields) Summary(c client.Client, files client.Files) string {
	text, cut := f.Description, 0
	for _, field := range c.Fields {
		switch {
		case !field.In(files):
		case field.Name == "description":
			cut = field.Cut
		case field.Name == "when_to_use" && f.WhenToUse != "":
			text += " - " + f.WhenToUse
		}
	}
	if runes := []rune(text); cut > 0 && len(runes) > cut {
		return string(runes[:cut-1]) + "…"
	}
	return text
}

// plain returns a text without leading and trailing blanks.
func (f Frontmatter) plain(key string) string { return strings.TrimSpace(f.Text(key)) }

// flag returns the first boolean of some keys, or else a value.
func (f Frontmatter) flag(value bool, keys ...string) bool {
	for _, key := range keys {
		if v, ok := f.Bool(key); ok {
			return v
		}
	}
	return value
}

// rules returns the tool rules of a list or a text. In a mapping, as in OpenCode, true allows a
// tool and false denies a tool. The first error is the value of failed.
func (f Frontmatter) rules(failed *error, key string) (allowed, denied []ToolRule) {
	value := f.value(key)
	var err error
	parse := func(text string) (rules []ToolRule) {
		if err == nil {
			rules, err = ParseToolRules(text)
		}
		return rules
	}
	for _, field := range value.Fields() {
		if on, ok := field.Value.Bool(); ok {
			if rules := parse(field.Key); on {
				allowed = append(allowed, rules...)
			} else {
				denied = append(denied, rules...)
			}
		}
	}
	for _, text := range value.Strings() {
		allowed = append(allowed, parse(text)...)
	}
	if err != nil {
		if *failed == nil {
			*failed = fmt.Errorf("field %s: %w", key, err)
		}
		return nil, nil
	}
	return allowed, denied
}

// items returns the items of a list, or of a text that separates the items by commas outside
// braces.
func (f Frontmatter) items(key string) (items []string) {
	value := f.value(key)
	if value.Kind == matter.Sequence {
		return value.Strings()
	}
	for part := range matter.EachPart(value.String(), "{", "}", ",") {
		if item := strings.TrimSpace(part); item != "" {
			items = append(items, item)
		}
	}
	return items
}
