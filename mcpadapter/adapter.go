package mcpadapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/publish"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// An Adapter offers a catalog as tools and prompts. An Adapter is immutable and safe
// for concurrent use. An Adapter has no Close method: after the Close of the catalog, all
// calls fail with toolshelf.CodeClosed.
type Adapter struct {
	catalog *toolshelf.Catalog
	bridge  bridged
	model   *toolshelf.Catalog // without the skills that a model may not see
	config  config
	tools   []Tool
	byName  map[string]int // position in tools, by each accepted spelling
	pages   toolPages
	changes listChanges
	skills  *publish.Skills
	hider   rootHider // for the messages of prompts, tools and skills
}

// bridged has the methods of the catalog that serve only adapters.
type bridged = bridge.Catalog[toolshelf.SkillInfo, toolshelf.SkillFile]

// New returns an Adapter of a catalog. New reads no file.
//
// New returns toolshelf.ErrInvalidOption in the following cases:
//   - An option has an invalid value.
//   - The name of a tool has invalid characters or more than 64 characters.
//   - Two tools have a name in common, in any accepted spelling.
//   - A tool has no Call.
//   - The schema of a tool is not a JSON object with "type": "object", is not UTF-8,
//     or has more than 500 levels.
func New(catalog *toolshelf.Catalog, opts ...Option) (*Adapter, error) {
	if catalog == nil {
		return nil, invalidOption("the catalog is nil; create a catalog with toolshelf.New")
	}
	config, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	a := &Adapter{catalog: catalog, bridge: bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](catalog).Prompting(config.permits("get_command"), config.permits("get_skill")), config: config}
	a.model = bridge.ForModel(catalog).(*toolshelf.Catalog)
	a.skills = publish.Of(a.model)
	if config.relativePaths {
		a.hider = rootHiderOf(a.bridge.Root())
	}
	own, err := a.ownTools()
	if err != nil {
		return nil, err
	}
	dotted := make(map[string]string)
	if ns := config.namespace; ns != "" {
		for i := range own {
			plain := strings.TrimPrefix(own[i].Name, config.prefix())
			dotted[own[i].Name] = ns + "." + plain
		}
	}
	for i := range own {
		if err := config.dialect.translate(&own[i], false); err != nil {
			return nil, err
		}
	}
	for _, t := range config.extra {
		if len(t.InputSchema) == 0 && config.dialect != "" {
			t.InputSchema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		if err := checkExtra(&t); err != nil {
			return nil, err
		}
		if err := config.dialect.translate(&t, true); err != nil {
			return nil, err
		}
		own = append(own, t)
	}
	if err := a.setTools(own, dotted); err != nil {
		return nil, err
	}
	a.pages, err = newToolPages(own, config)
	return a, err
}

// ownTools returns the library's tools that the options select.
func (a *Adapter) ownTools() ([]Tool, error) {
	var names []string
	var offered []definition
	all, excluded := definitions(a.bridge)
	t := toolset{a.model, a.bridge, make(map[string]string), a.config.relativePaths, a.config.structured, a.config.hints, a.hider}
	for _, d := range all {
		names = append(names, d.Name)
		if a.config.tools == nil || slices.Contains(a.config.tools, d.Name) {
			offered = append(offered, d)
			t.names[d.Name] = a.config.prefix() + d.Name
		}
	}
	for _, name := range a.config.tools {
		if reason, ok := excluded[name]; ok {
			return nil, invalidOption("WithTools: the catalog offers no tool %q, because the catalog has %s", name, reason)
		}
		if !slices.Contains(names, name) {
			return nil, invalidOption("WithTools: unknown tool %q; the tools of this catalog are %s", name, strings.Join(names, ", "))
		}
	}
	tools := make([]Tool, len(offered))
	for i, d := range offered {
		tools[i] = d.tool(t)
	}
	return tools, nil
}

// checkExtra checks an extra tool and adds a missing input schema. checkExtra also wraps
// Call, because an invalid result would break the message of the protocol.
func checkExtra(t *Tool) error {
	if t.Call == nil {
		return invalidOption("the tool %q has no Call", t.Name)
	}
	if len(t.InputSchema) == 0 {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	for _, given := range []*json.RawMessage{&t.InputSchema, &t.OutputSchema} {
		if len(*given) == 0 {
			*given = nil
			continue
		}
		var root map[string]json.RawMessage
		compact, ok := schema.Compact(*given)
		if !ok || json.Unmarshal(compact, &root) != nil || string(root["type"]) != `"object"` {
			return invalidOption(`the tool %q has an invalid schema; use a JSON object with "type": "object", in UTF-8 and at most %d levels deep`, t.Name, schema.MaxNesting)
		}
		*given = compact
	}
	call, name := t.Call, t.Name
	t.Call = func(ctx context.Context, arguments json.RawMessage) (Result, error) {
		r, err := call(ctx, arguments)
		if err == nil && r.Structured != nil {
			compact, ok := schema.Compact(r.Structured)
			if !ok {
				return Result{Text: fmt.Sprintf("the tool %s returned invalid structured content; the content must be a JSON object, in UTF-8 and at most %d levels deep", name, schema.MaxNesting), IsError: true}, nil
			}
			r.Structured = compact
		}
		if r.Text == "" && r.Structured != nil {
			r.Text = string(r.Structured)
		}
		return r, err
	}
	return nil
}

// Tools returns the tools in the order of tools/list: first the library's tools,
// then the extra tools in the order of the options. The caller may change the slice.
func (a *Adapter) Tools() []Tool { return slices.Clone(a.tools) }

// PageSize returns the maximum number of tools on a page of a list. See WithPageSize.
func (a *Adapter) PageSize() int { return a.config.pageSize }

// Call runs a tool, for programs that dispatch a model's function calls themselves.
// WithNamespace documents the accepted spellings of the name. The arguments are a JSON
// object; see Tool.Call.
//
// If the tool fails, Call returns a Result with IsError, in the error shape of the
// tool contract. If an extra tool returns an error, Call returns the error text in a
// Result with IsError. Call returns an *RPCError with CodeInvalidParams if no tool has
// the name, an *RPCError with CodeInternalError if the tool panics, and the context's
// error if the context ends.
func (a *Adapter) Call(ctx context.Context, name string, arguments json.RawMessage) (Result, error) {
	result, _, err := a.call(ctx, name, arguments)
	return result, err
}

// call is Call with the error of an extra tool as the cause of a failed call.
func (a *Adapter) call(ctx context.Context, name string, arguments json.RawMessage) (result Result, cause, err error) {
	if err := ctx.Err(); err != nil {
		return Result{}, nil, err
	}
	t, ok := a.Lookup(name)
	if !ok {
		return Result{}, nil, a.unknownTool(name)
	}
	defer func() {
		if fault := recover(); fault != nil { // an SDK would end the server
			result, cause, err = Result{}, nil, a.panicked(name, fault)
		}
	}()
	result, err = t.Call(ctx, arguments)
	switch {
	case err == nil:
		return result, nil, nil
	case ctx.Err() != nil:
		return Result{}, nil, ctx.Err()
	default:
		return failedResult(err), err, nil
	}
}

// panicked returns the error for a panic of a tool.
func (a *Adapter) panicked(name string, fault any) *RPCError {
	cause, _ := fault.(error)
	text := fmt.Sprintf("the tool %s panicked: %s", escape.Quote(name), escape.Name(fmt.Sprint(fault)))
	return &RPCError{Code: CodeInternalError, Message: a.hider.Text(escape.Truncate(text)), err: cause}
}

// failedResult returns the result of a tool that failed with an error.
func failedResult(err error) Result {
	return Result{Text: cmp.Or(err.Error(), "the tool failed without an error text"), IsError: true}
}

func (a *Adapter) unknownTool(name string) *RPCError {
	const maxNames = 20
	var names []string
	for _, t := range a.tools[:min(len(a.tools), maxNames)] {
		names = append(names, t.Name)
	}
	if len(a.tools) > maxNames {
		names = append(names, "…")
	}
	if names == nil {
		return invalidParams("Unknown tool: %s; this server has no tools", escape.Quote(name))
	}
	return invalidParams("Unknown tool: %s; the tools are %s", escape.Quote(name), strings.Join(names, ", "))
}

// moduleVersion returns the version of this library in the running program.
func moduleVersion() string {
	const module = "github.com/toolshelf-go/toolshelf"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == module && m.Version != "" && m.Version != "(devel)" {
				return m.Version
			}
		}
	}
	return "0.0.0-dev"
}

// Answer runs a tool as Call does and returns the text for the model, for frameworks
// whose tools return a string. isError reports whether the call failed. A framework
// without an error flag may ignore isError, because the text of a failed call states
// the problem.
//
// Answer always returns a text, because some frameworks end the run of an agent on a
// Go error. If no tool has the name, the text lists the names of the tools. If the
// context ends, the text contains the context's error. If a tool panics, the
// text contains the value of the panic. The text is empty only if an extra tool
// returns no text.
//
// The arguments are the JSON that the model wrote. Answer is safe for concurrent use
// if the extra tools are.
func (a *Adapter) Answer(ctx context.Context, name string, arguments json.RawMessage) (text string, isError bool) {
	text, err := a.AnswerErr(ctx, name, arguments)
	if err != nil {
		return err.Error(), true
	}
	return text, false
}

// AnswerErr is Answer for frameworks that expect a Go error for a failed call. The
// text of the error is the text for the model. The text is "" if AnswerErr returns an
// error.
//
// errors.Is matches the error of a library tool with the sentinel of its code, such as
// toolshelf.ErrCommandNotFound, except for list_skills, whose errors have no code.
// errors.Is matches the context's error, the error of an extra tool, the error of a
// function of ToolFor, and an error that is the value of a panic. errors.As finds an
// *RPCError if no tool has the name and if the tool panicked.
func (a *Adapter) AnswerErr(ctx context.Context, name string, arguments json.RawMessage) (string, error) {
	result, cause := a.answer(ctx, name, arguments)
	if result.IsError {
		return "", &failedCall{result.Text, cause}
	}
	return result.Text, nil
}

// AnswerMap is Answer for frameworks whose arguments and answers are JSON objects in
// maps. A nil map of arguments is an empty object.
//
// The answer to a successful call is the structured content of the result, or {"output": text} if
// the result is only a text (see WithStructuredContent). The answer to a failed call has the member
// "error": the error of the structured content, or else the text. The Gemini API defines both
// names. AnswerMap returns a member "error" in the structured content of a successful call
// unchanged; only a Tool without ToolFor can return this member. The caller may change the map.
// Numbers are as in Tool.Schema.
func (a *Adapter) AnswerMap(ctx context.Context, name string, arguments map[string]any) map[string]any {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return map[string]any{"error": "the arguments are not JSON: " + err.Error()}
	}
	result, _ := a.answer(ctx, name, raw)
	content, ok := schema.DecodeObject(result.Structured)
	switch _, hasError := content["error"]; {
	case result.IsError && !hasError:
		return map[string]any{"error": result.Text}
	case !ok:
		return map[string]any{"output": result.Text}
	}
	return content
}

// answer is Call with a Result for each outcome. The cause of a failed call may be nil.
func (a *Adapter) answer(ctx context.Context, name string, arguments json.RawMessage) (result Result, cause error) {
	var kept error
	ctx = context.WithValue(ctx, causeKey{}, &kept) // panics for a nil context
	result, cause, err := a.call(ctx, name, arguments)
	var refused *RPCError
	switch {
	case errors.As(err, &refused):
		return Result{Text: refused.Message, IsError: true}, err
	case err != nil:
		return Result{Text: "the call was not finished: " + err.Error(), IsError: true}, err
	case cause != nil:
		return result, cause
	case kept != nil && result.IsError:
		return result, kept
	case result.IsError:
		var content struct{ Error *toolshelf.Error }
		if json.Unmarshal(result.Structured, &content) == nil && content.Error != nil && content.Error.Code != "" {
			return result, content.Error
		}
	}
	return result, nil
}

// A causeKey is the context key of the *error in which a tool of ToolFor keeps the error
// of its function, because a Result has no error.
type causeKey struct{}

// withoutCause returns where a tool keeps the error of its function, or nil, and the
// context of the function. Tools that the function calls keep no error.
func withoutCause(ctx context.Context) (context.Context, *error) {
	kept, _ := ctx.Value(causeKey{}).(*error)
	if kept != nil {
		ctx = context.WithValue(ctx, causeKey{}, nil)
	}
	return ctx, kept
}

// A failedCall is the error of AnswerErr.
type failedCall struct {
	text  string
	cause error
}

func (e *failedCall) Error() string { return e.text }

func (e *failedCall) Unwrap() error { return e.cause }

// maxName is the maximum length of a tool's name. The protocol allows 128 characters,
// but its conformance suite and some clients allow 64. Some clients reject all tools of
// a server if the name of any tool is longer.
const maxName = 64

// The names of tools that every client accepts, and the namespaces of WithNamespace.
var (
	nameForm      = regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`)
	namespaceForm = regexp.MustCompile(`^[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*$`)
)

// withUnderscores returns the spelling of a name that every client can send.
func withUnderscores(name string) string { return strings.ReplaceAll(name, ".", "_") }

// setTools indexes the tools by all accepted spellings of their names. Two tools may not
// share a spelling, because a call with this spelling would be ambiguous. dotted has the
// names of the library's tools with "." as separator.
func (a *Adapter) setTools(tools []Tool, dotted map[string]string) error {
	a.tools = tools
	a.byName = make(map[string]int, 2*len(tools))
	for i, t := range tools {
		switch {
		case !nameForm.MatchString(t.Name):
			return invalidOption(`invalid tool name %q; use letters, digits, "_", "-" and "."`, t.Name)
		case len(t.Name) > maxName:
			return invalidOption("the tool name %q has %d characters; use at most %d", t.Name, len(t.Name), maxName)
		}
		full := cmp.Or(dotted[t.Name], t.Name)
		for _, spelling := range []string{t.Name, withUnderscores(t.Name), full, withUnderscores(full)} {
			other, taken := a.byName[spelling]
			switch {
			case !taken:
				a.byName[spelling] = i
			case other != i && tools[other].Name == t.Name:
				return invalidOption("two tools have the name %q; rename an extra tool, or use WithNamespace if the other tool is a library tool", t.Name)
			case other != i:
				return invalidOption("a call of %q is ambiguous between the tools %q and %q; rename a tool", spelling, tools[other].Name, t.Name)
			}
		}
	}
	return nil
}

// Lookup returns the tool for the name in a call, or false if no tool has the name.
// WithNamespace documents the accepted spellings.
func (a *Adapter) Lookup(name string) (Tool, bool) {
	i, ok := a.byName[name]
	if !ok {
		return Tool{}, false
	}
	return a.tools[i], true
}
