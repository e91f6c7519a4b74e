package mcpadapter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// An Adapter offers a catalog as tools and prompts. An Adapter is immutable and safe
// for concurrent use. An Adapter has no Close method: after the Close of the catalog, all
// calls fail with toolshelf.CodeClosed.
type Adapter struct {
	catalog   *toolshelf.Catalog
	bridge    bridged
	model     *toolshelf.Catalog // without the skills that a model may not see
	config    config
	tools     []Tool
	byName    map[string]int // position in tools, by each accepted spelling
	pages     toolPages
	changes   listChanges
	held      heldEntries // of skills, for sessions without an entry of their own
	skillURIs skillURIs
	hider     rootHider // for the messages of prompts, tools and skills
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
	a := &Adapter{catalog: catalog, bridge: bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](catalog).Prompting(config.permits(getCommand), config.permits(getSkill)), config: config, held: heldEntries{lifetime: sharedLifetime}}
	a.model = bridge.ForModel(catalog).(*toolshelf.Catalog)
	if config.relativePaths {
		a.hider = newRootHider(a.bridge.Root())
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
		names = append(names, d.name)
		if a.config.tools == nil || slices.Contains(a.config.tools, d.name) {
			offered = append(offered, d)
			t.names[d.name] = a.config.prefix() + d.name
		}
	}
	for _, name := range a.config.tools {
		if reason, ok := excluded[name]; ok {
			return nil, invalidOption(fmt.Sprintf("WithTools: the catalog offers no tool %q, because the catalog has %s", name, reason))
		}
		if !slices.Contains(names, name) {
			return nil, invalidOption(fmt.Sprintf("WithTools: unknown tool %q; the tools of this catalog are %s", name, strings.Join(names, ", ")))
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
		return invalidOption(fmt.Sprintf("the tool %q has no Call", t.Name))
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
			return invalidOption(fmt.Sprintf(`the tool %q has an invalid schema; use a JSON object with "type": "object", in UTF-8 and at most %d levels deep`, t.Name, schema.MaxNesting))
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
	return &RPCError{Code: CodeInternalError, Message: a.hider.text(escape.Truncate(text)), err: cause}
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
