package toolshelf

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/observe"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// A Template is a [Command] or a [Skill].
type Template interface {
	template() template.Source
	loaded() (*observe.Observer[Event], Event)
}

// loaded returns the observer and the event of the load.
func (c Command) loaded() (*observe.Observer[Event], Event) {
	return c.Source.observer, Event{Action: EventLoaded, Kind: KindCommand, Name: c.Name, Layer: c.Layer, Plugin: c.Plugin, Digest: c.Source.digest, Bytes: len(c.Raw)}
}

func (s Skill) loaded() (*observe.Observer[Event], Event) {
	return s.Source.observer, Event{Action: EventLoaded, Kind: KindSkill, Name: s.Name, Layer: s.Layer, Plugin: s.Plugin, Digest: s.Source.digest, Bytes: len(s.Raw)}
}

func (c Command) template() template.Source {
	return template.Source{Name: c.Name, Text: c.Content, Header: *agentmd.Header(&c.Frontmatter)}
}

func (s Skill) template() template.Source {
	return template.Source{Name: s.Name, Text: s.Content, Header: *agentmd.Header(&s.Frontmatter)}
}

// Render returns the text of the command with arguments filled in, by the Rules of the command: the
// rules of the client of [WithClient], and otherwise the default rules (see [Renderer]). The text
// of $ARGUMENTS is the arguments, joined by blanks. Render executes nothing and reads nothing.
//
// Render returns the errors of [Renderer.Render]. The default rules have no error except
// [ErrSizeLimitExceeded]. The same arguments always give the same text. [Renderer.Render], with the
// Rules of the command, also takes the line that a user typed, arguments by name, and values, and
// [Renderer.Arguments] lists the expected arguments.
func (c Command) Render(args ...string) (string, error) {
	rendering, err := Renderer{Rules: c.Rules}.Render(context.Background(), c, Args{List: args})
	return rendering.Text, err
}

// Render returns the text of the skill with arguments filled in, as [Command.Render] does.
// ${CLAUDE_SKILL_DIR} is the directory of Path. If the reader of the text must not see directories
// of the host, use a [Renderer] with the Rules of the skill, which fills in only the Values of the
// program.
func (s Skill) Render(args ...string) (string, error) {
	rendering, err := s.renderer().Render(context.Background(), s, Args{List: args})
	return rendering.Text, err
}

// renderer returns the Renderer of Render.
func (s Skill) renderer() Renderer {
	dir := s.Path[:max(0, strings.LastIndexAny(s.Path, `/`+string(filepath.Separator)))]
	return Renderer{Rules: s.Rules, Values: map[string]string{"CLAUDE_SKILL_DIR": dir}}
}

// A Renderer fills arguments into the text of commands and skills. The zero value is ready for use.
// A Renderer is safe for concurrent use, while no goroutine changes Values.
//
// By the default rules, the placeholders are $ARGUMENTS and {{args}} (all arguments), $1 (the first
// argument), $name and ${input:name}. A text that uses $0 or $ARGUMENTS[N] outside code counts from
// 0. A placeholder without an argument stays, except $ARGUMENTS and {{args}}. A backslash before
// the dollar sign keeps a placeholder. If no placeholder is replaced, the text ends with the line
// "ARGUMENTS: " and the arguments. The text of an argument is not scanned. The document
// docs/rendering.md has the rules of each client.
type Renderer struct {
	// Rules are the rules of a client, such as client.Claude().Rules. The zero Rules are the
	// default rules, whatever the Rules of the command or of the skill.
	Rules client.Rules

	// Values has the texts of ${NAME}, by NAME: for example CLAUDE_SKILL_DIR, CLAUDE_SESSION_ID,
	// selection and file. Without a value, ${NAME} stays. A value does not set FromArguments: quote
	// the values of a user for the shell.
	Values map[string]string
}

// A Rendering is the text of a command or of a skill with arguments filled in.
type Rendering struct {
	Text       string      `json:"text"`
	Directives []Directive `json:"directives,omitempty"` // in text order, without overlap
}

// Render fills in arguments. $name and ${input:name} stand for the argument of args.Named with the
// name, or for the argument at the position of the name in [Renderer.Arguments]. Without args.Line,
// $ARGUMENTS is the list and the values of args.Named, first by position, then by name, joined by
// blanks. The time is linear in the length of the text and of the result.
//
// Render returns [ErrSizeLimitExceeded] if arguments and values would add more than 64 MiB to the
// text, [ErrInvalidArguments] if the rules of a client require another argument,
// [ErrInvalidDirective] if a directive in braces has no end, and the error of ctx.
func (r Renderer) Render(ctx context.Context, t Template, args Args) (Rendering, error) {
	source := t.template()
	observer, e := t.loaded()
	o := observer.Begin(ctx)
	result, err := template.Renderer(r).Render(ctx, source, template.Args(args))
	if err != nil {
		err = renderError(source.Name, err)
	}
	e.Action, e.Bytes = EventRendered, len(result.Text)
	if o.Send(e, err); err != nil {
		return Rendering{}, err
	}
	rendering := Rendering{Text: result.Text}
	if len(result.Directives) > 0 {
		rendering.Directives = make([]Directive, len(result.Directives))
	}
	for i, d := range result.Directives {
		rendering.Directives[i] = Directive{d.Kind(), d.Start, d.End, d.Text(result.Text), d.FromArguments}
	}
	return rendering, nil
}

// renderError returns the error of Render for an error of package template or of the context.
func renderError(name string, err error) error {
	var failed *template.Error
	if errors.As(err, &failed) {
		return &Error{Code: Code(failed.Code), Op: "Render", Path: name, Message: failed.Message}
	}
	return err
}

// A Directive is a place where the author of a text asks the client to run a shell command or to
// read a file, and to insert the result. Rendering does neither. The program decides: refuse, ask
// the user, or replace Rendering.Text[Start:End], from the last directive to the first.
//
// The text of an argument never begins a directive, but may become a part of a directive, as in
// !`git diff $1`. FromArguments is then set: quote the text for the shell or refuse the directive,
// because the user wrote a part of the directive. Code, also a block with ```!, has no directives,
// unless the rules of the client say otherwise.
type Directive struct {
	Kind          string `json:"kind"`           // DirectiveShell or DirectiveFile
	Start         int    `json:"start"`          // in bytes, in Rendering.Text
	End           int    `json:"end"`            // in bytes, after the last byte
	Text          string `json:"text"`           // the shell command or the path, arguments filled in
	FromArguments bool   `json:"from_arguments"` // Text holds text of an argument
}

// The kinds of directives. The document docs/rendering.md has the syntax of each client. The author
// chose the path of a file: check that the file exists, and read only files below the project's
// root.
const (
	DirectiveShell = "shell" // !`command`, or !{command}: a command for a shell
	DirectiveFile  = "file"  // @path, or @{path}: a file to read, such as @docs/plan.md
)

// An Argument is an argument that a command or a skill expects.
type Argument struct {
	Name        string `json:"name"`                  // the key for Args.Named: the name, the number of a placeholder ("1" for $1), or "arguments" for all arguments as a text
	Position    int    `json:"position"`              // in Args.List, counted from 1
	Description string `json:"description,omitempty"` // from the frontmatter
	Hint        string `json:"hint,omitempty"`        // as written: [priority], or the last part of ${input:name:hint}
	Required    bool   `json:"required"`              // the hint has <name>, the frontmatter has required: true, or Render fails without the argument
}

// Arguments returns the arguments that the text expects, in order of position, or nil. Render never
// fails with all arguments that are Required. In a text that counts from 0, the argument of $0 is
// named "0" and has position 1. The document docs/methods.md has the order.
//
// The time is linear in the length of the text. If ctx ends before the text is scanned, Arguments
// returns the error of ctx and no argument.
func (r Renderer) Arguments(ctx context.Context, t Template) ([]Argument, error) {
	parameters, err := template.Renderer(r).Parameters(ctx, t.template())
	if len(parameters) == 0 {
		return nil, err
	}
	list := make([]Argument, len(parameters))
	for i, p := range parameters {
		list[i] = Argument(p)
	}
	return list, nil
}
