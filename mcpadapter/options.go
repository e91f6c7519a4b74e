package mcpadapter

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// An Option sets one property of an Adapter. If several options set the same
// property, the last option applies. Only WithExtraTools accumulates.
type Option func(*config) error

type config struct {
	namespace    string
	separator    string
	tools        []string // nil means all
	extra        []Tool
	pageSize     int // of tools, skills and resources
	promptSize   int // of prompts
	name         string
	version      string
	instructions string
	listChanged  bool
	renderer     *toolshelf.Renderer // nil means the rules of the layer of each command
	dialect      Dialect

	relativePaths bool
	structured    bool
	hints         bool
	withoutSkills bool
	prompts       bool // beside the tools of WithTools
}

// prefix returns the common prefix of the names of the library's tools.
func (c config) prefix() string {
	if c.namespace == "" {
		return ""
	}
	return strings.ReplaceAll(c.namespace, ".", c.separator) + c.separator
}

func newConfig(opts []Option) (config, error) {
	c := config{pageSize: 50, promptSize: 1000, name: "toolshelf", version: moduleVersion()}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&c); err != nil {
			return config{}, err
		}
	}
	switch {
	case c.separator == "":
		c.separator = c.dialect.separator()
	case c.separator == "." && schema.Dialects[string(c.dialect)].NoDots:
		return config{}, invalidOption(`WithSeparator: %s permits no "." in the name of a tool; use "_" or "-"`, c.dialect)
	}
	return c, nil
}

// WithNamespace adds a namespace to the names of the library's own tools. With
// "docs", list_commands is docs.list_commands. A namespace consists of letters,
// digits, "_" and "-". A namespace may have several parts, separated by ".".
//
// The default, and "", is no namespace, because some clients reject all tools of a
// server if a name contains a dot (see WithSeparator). A call may use the name with
// "_" instead of each ".", as some clients do.
func WithNamespace(namespace string) Option {
	return func(c *config) error {
		if namespace != "" && !namespaceForm.MatchString(namespace) {
			return invalidOption(`WithNamespace: invalid namespace %q; use letters, digits, "_" and "-", with "." between parts`, namespace)
		}
		c.namespace = namespace
		return nil
	}
}

// WithSeparator sets the separator between the parts of a namespace, and between the
// namespace and the rest of a name: "." (the default, see also WithDialect), or "_" or
// "-" for clients that reject dots. With every separator, a call may also use "." or "_".
func WithSeparator(separator string) Option {
	return func(c *config) error {
		switch separator {
		case ".", "_", "-":
			c.separator = separator
			return nil
		}
		return invalidOption(`WithSeparator: invalid separator %q; use ".", "_" or "-"`, separator)
	}
}

// WithTools offers only the named tools of the library, in the order of Tools. The
// names have no namespace, as in "list_commands". Without names, the adapter offers
// none of the library's tools.
//
// WithTools also restricts the other ways to the entries: the prompts of commands, and their
// completions, need get_command; the prompts and the resources of skills need get_skill. A server
// declares only the capabilities that remain. WithPrompts restores all.
//
// For an unknown name, and for a tool that the options of the catalog exclude, New returns
// toolshelf.ErrInvalidOption with the reason. By default, an adapter does not offer the tools for
// commands if toolshelf.WithCommandsDir removes the only directory, the tools for skills if
// toolshelf.WithSkillsDir does, get_instructions without the clients of toolshelf.WithInstructions,
// and report_feedback without toolshelf.WithReports.
func WithTools(names ...string) Option {
	return func(c *config) error {
		c.tools = append([]string{}, names...)
		return nil
	}
}

// WithPrompts serves all prompts, completions and resources, regardless of the tools of WithTools.
func WithPrompts() Option {
	return func(c *config) error { c.prompts = true; return nil }
}

// permits reports whether WithTools permits the prompts, values and resources that need a tool.
func (c config) permits(tool string) bool {
	return c.tools == nil || c.prompts || slices.Contains(c.tools, tool)
}

// ServesPrompts reports whether the adapter serves prompts and completions: WithTools names
// get_command or get_skill, or the adapter has no WithTools or has WithPrompts.
func (a *Adapter) ServesPrompts() bool {
	return a.config.permits("get_command") || a.config.permits("get_skill")
}

// WithExtraTools adds the program's own tools after the library's tools. Extra tools
// keep their names, without the namespace. Their Call receives unchecked arguments;
// a tool of ToolFor checks them against a struct. A result whose structured content is
// not a JSON object, is not UTF-8, or has more than 500 levels becomes an error for
// the model.
func WithExtraTools(tools ...Tool) Option {
	return func(c *config) error {
		c.extra = append(c.extra, tools...)
		return nil
	}
}

// WithStructuredContent adds structured content and an output schema to the tools whose results are
// texts: the tools for files, get_instructions, get_skill and read_skill_file. Use the option if a
// program reads the results. Several clients, such as Claude Code and Codex, hand a model only the
// structured content, which is larger than the text and has no line numbers. With the option,
// max_characters limits both parts, and a result has fewer entries.
//
// Without the option, only errors of these tools have structured content. The other tools
// always have both parts.
func WithStructuredContent() Option {
	return func(c *config) error { c.structured = true; return nil }
}

// WithPageSize sets the maximum number of tools, prompts, skills or resources on a page
// of a list, from 1 to 1,000. The default is 1,000 prompts, because several clients read one
// page, and 50 of all other items. A page has at most 100 skills or resources.
func WithPageSize(n int) Option {
	return func(c *config) error {
		if n < 1 || n > 1000 {
			return invalidOption("WithPageSize: invalid page size %d; use 1 to 1000", n)
		}
		c.pageSize, c.promptSize = n, n
		return nil
	}
}

// WithServerInfo sets the name and version of the server that Session reports. The
// default is "toolshelf" and the version of this library. The option has no effect on
// the server of an SDK, because the program gives this server its name and version.
func WithServerInfo(name, version string) Option {
	return func(c *config) error {
		if name == "" || version == "" {
			return invalidOption("WithServerInfo: the name or the version is empty; set both")
		}
		c.name, c.version = name, version
		return nil
	}
}

// WithInstructions sets the text in which Session tells a model how to use the
// server. The default is no text. For the server of an SDK, use an option of the SDK.
func WithInstructions(text string) Option {
	return func(c *config) error { c.instructions = text; return nil }
}

// WithListChanged makes Session declare, in the result of initialize, that the server
// notifies clients of changes to the lists of prompts and resources, and accepts
// resources/subscribe. Use the option in a program that sends
// notifications/prompts/list_changed from OnPromptsChange, and
// notifications/resources/list_changed and notifications/resources/updated from
// OnSkillsChange. The list of tools never changes.
//
// Clients of the modern protocol request notifications with subscriptions/listen.
// Session does not serve this method, and declares no notifications to these clients.
// Servers of an SDK do not need this option, because the bindings send the
// notifications.
func WithListChanged() Option {
	return func(c *config) error { c.listChanged = true; return nil }
}

// WithRenderer sets the Renderer that fills arguments into the texts of prompts. Without
// WithRenderer, the text of a prompt follows the Rules of its command: the rules of the client of
// the layer (see toolshelf.WithClient), and otherwise the default rules.
func WithRenderer(r toolshelf.Renderer) Option {
	return func(c *config) error { c.renderer = &r; return nil }
}

// rules returns the rules of WithRenderer, or nil.
func (c *config) rules() *client.Rules {
	if c.renderer == nil {
		return nil
	}
	return &c.renderer.Rules
}

func invalidOption(format string, args ...any) error {
	return &toolshelf.Error{Code: toolshelf.CodeInvalidOption, Op: "mcpadapter.New", Message: fmt.Sprintf(format, args...)}
}

// A Dialect is the subset of JSON Schema that the API of a model accepts in the
// definition of a tool. The zero Dialect is JSON Schema 2020-12.
type Dialect string

// The dialects of the APIs.
const (
	// OpenAIStrict is for functions with "strict": true, in Chat Completions and
	// Responses. Each object is closed, and each property is required. An optional
	// argument has the additional type "null", which means its default.
	OpenAIStrict Dialect = "openai-strict"

	// AnthropicStrict is for tools with "strict": true in the Messages API. Each
	// object is closed. An optional argument with a default is required: the model
	// sends the default, which the description states. Other optional arguments stay
	// optional. One request may have 20 strict tools with 24 optional arguments; the
	// library's tools are within both limits.
	AnthropicStrict Dialect = "anthropic-strict"

	// Gemini is for the member parameters of a function declaration, which accepts
	// a part of OpenAPI 3.0. Leave parameters unset for a tool without arguments. The
	// newer member parametersJsonSchema needs no dialect.
	Gemini Dialect = "gemini"
)

// WithDialect makes the input schemas of all tools, including extra tools, acceptable for the API
// of a model. The default is the schemas of the tool contracts, which all APIs accept without
// "strict". WithDialect changes no output schema.
//
// A dialect removes the keywords that the API rejects, and the description of a property then ends
// with its bounds and its default. The calls of tools do not change: a tool still rejects a value
// outside the bounds. With OpenAIStrict, all tools accept null for an optional argument. With
// OpenAIStrict and AnthropicStrict, the default separator of a namespace is "_".
//
// New returns toolshelf.ErrInvalidOption if the dialect is unknown, if the dialect permits no dot
// and a name has one, or if the schema of an extra tool cannot be expressed. The error states the
// path of the part and the correction. The document docs/methods.md has the details.
func WithDialect(d Dialect) Option {
	return func(c *config) error {
		if _, known := schema.Dialects[string(d)]; !known && d != "" {
			return invalidOption("WithDialect: unknown dialect %q; use OpenAIStrict, AnthropicStrict or Gemini", d)
		}
		c.dialect = d
		return nil
	}
}

// separator returns the default separator of a namespace.
func (d Dialect) separator() string {
	if schema.Dialects[string(d)].NoDots {
		return "_"
	}
	return "."
}

// translate replaces the input schema of a tool by a schema of the dialect. For an
// extra tool, Call removes each null that only the new schema accepts.
func (d Dialect) translate(t *Tool, extra bool) error {
	rules, ok := schema.Dialects[string(d)]
	if !ok {
		return nil
	}
	if rules.NoDots && strings.Contains(t.Name, ".") {
		return invalidOption(`WithDialect: the tool name %q contains a dot, which %s does not permit; use "_"`, t.Name, d)
	}
	converted, withoutNulls, reason := rules.Convert(t.Schema())
	if reason != "" {
		return invalidOption("WithDialect: %s cannot express the schema of the tool %q: %s", d, t.Name, reason)
	}
	if call := t.Call; extra && withoutNulls != nil {
		t.Call = func(ctx context.Context, arguments json.RawMessage) (Result, error) {
			return call(ctx, withoutNulls(arguments))
		}
	}
	t.InputSchema = converted
	return nil
}
