package mcpadapter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
)

// An Adapter offers a catalog as tools and prompts. It is immutable, and safe
// for concurrent use. It needs no closing; closing its catalog ends its use.
type Adapter struct {
	catalog *toolshelf.Catalog
	config  config
	tools   []Tool
	byName  map[string]int // by every spelling that a call may use
	pages   toolPages
	changes promptChanges
	hider   rootHider // for the messages of prompts and of the tools
}

// New returns an Adapter of a catalog. It reads no file.
//
// The errors are toolshelf.ErrInvalidOption: an option's value that cannot be
// used; a tool whose name is not legal, has more than 64 characters, or is the
// name of another one, in either spelling; a tool without a Call, or whose
// schema is not a JSON object of type "object", in UTF-8 and nested at most 500
// levels deep.
func New(catalog *toolshelf.Catalog, opts ...Option) (*Adapter, error) {
	if catalog == nil {
		return nil, invalidOption("the catalog is nil; make one with toolshelf.New")
	}
	config, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	a := &Adapter{catalog: catalog, config: config}
	if config.relativePaths {
		a.hider = newRootHider(catalog.Root())
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
	for _, t := range config.extra {
		if err := checkExtra(&t); err != nil {
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

// ownTools returns the library's tools that the options ask for.
func (a *Adapter) ownTools() ([]Tool, error) {
	var names []string
	var offered []definition
	t := toolset{a.catalog, make(map[string]string), a.config.relativePaths, a.hider}
	for _, d := range definitions(a.catalog) {
		names = append(names, d.name)
		if a.config.tools == nil || slices.Contains(a.config.tools, d.name) {
			offered = append(offered, d)
			t.names[d.name] = a.config.prefix() + d.name
		}
	}
	for _, name := range a.config.tools {
		if !slices.Contains(names, name) {
			return nil, invalidOption(fmt.Sprintf("WithTools: this catalog has no tool %q; there are %s", name, strings.Join(names, ", ")))
		}
	}
	tools := make([]Tool, len(offered))
	for i, d := range offered {
		tools[i] = d.tool(t)
	}
	return tools, nil
}

// checkExtra checks a tool that is not the library's, fills in the schema of
// one that takes nothing in particular, and sees to it that what it returns
// cannot break a message.
func checkExtra(t *Tool) error {
	if t.Call == nil {
		return invalidOption(fmt.Sprintf("the tool %q has no Call", t.Name))
	}
	if len(t.InputSchema) == 0 {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	for _, schema := range []*json.RawMessage{&t.InputSchema, &t.OutputSchema} {
		if len(*schema) == 0 {
			*schema = nil
			continue
		}
		var root map[string]json.RawMessage
		var compact bytes.Buffer
		if json.Unmarshal(*schema, &root) != nil || string(root["type"]) != `"object"` || json.Compact(&compact, *schema) != nil || !withinLimits(*schema) {
			return invalidOption(fmt.Sprintf(`the tool %q has a schema that is not a JSON object of "type": "object", in UTF-8 and at most %d levels deep`, t.Name, maxNesting))
		}
		*schema = compact.Bytes()
	}
	call, name := t.Call, t.Name
	t.Call = func(ctx context.Context, arguments json.RawMessage) (Result, error) {
		r, err := call(ctx, arguments)
		if err == nil && r.Structured != nil {
			var compact bytes.Buffer
			if json.Compact(&compact, r.Structured) != nil || compact.Bytes()[0] != '{' || !withinLimits(r.Structured) {
				return Result{Text: fmt.Sprintf("the tool %s returned structured content that is not a JSON object, in UTF-8 and at most %d levels deep", name, maxNesting), IsError: true}, nil
			}
			r.Structured = compact.Bytes()
		}
		if r.Text == "" && r.Structured != nil {
			r.Text = string(r.Structured)
		}
		return r, err
	}
	return nil
}

// maxNesting is how deep a tool's JSON may be nested. There are readers of
// messages that take 1,000 levels and no more.
const maxNesting = 500

// withinLimits reports whether every reader takes a JSON text that is valid.
func withinLimits(raw json.RawMessage) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxNesting {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return utf8.Valid(raw)
}

// Tools returns the tools in the order of tools/list: the library's, then the
// extra ones in the order in which they were given. The slice is the caller's
// own.
func (a *Adapter) Tools() []Tool { return slices.Clone(a.tools) }

// PageSize returns how many tools or prompts a page of a list has; see
// WithPageSize.
func (a *Adapter) PageSize() int { return a.config.pageSize }

// Call runs a tool, for programs that hand a model's function calls on
// themselves. The name may be spelt as WithNamespace says, and the arguments
// are as for Tool.Call.
//
// What goes wrong within the tool is a Result with IsError, in the tool's own
// shape; so is the error that an extra tool returns, whose text the model reads.
// The error of Call is an *RPCError for a name that no tool has, or the
// context's.
func (a *Adapter) Call(ctx context.Context, name string, arguments json.RawMessage) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	t, ok := a.Lookup(name)
	if !ok {
		return Result{}, a.unknownTool(name)
	}
	result, err := t.Call(ctx, arguments)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	default:
		// An extra tool's error is for the model as much as one of ours.
		return Result{Text: err.Error(), IsError: true}, nil
	}
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
	return invalidParams("Unknown tool: %s; there are %s", quote(name), cmp.Or(strings.Join(names, ", "), "none"))
}

// moduleVersion is the version of this library in the program that runs.
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
