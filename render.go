package toolshelf

import (
	"context"
	"errors"
	"strconv"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// Render returns the command's text with arguments filled in, by the rules of
// the zero [Renderer]. A bare number in code, such as $1, stays. A placeholder
// without an argument stays. If Render replaces no placeholder, Render appends all
// arguments (see [Renderer.Render]). Otherwise Render drops each argument without a
// placeholder. Render executes nothing and reads nothing.
//
// Render returns [ErrSizeLimitExceeded] for arguments that would make the text too
// long (see [Renderer.Render]), and no other error. The same arguments always give the
// same text. [Renderer.RenderNamed] takes arguments by name, and [Renderer.Arguments]
// lists the expected arguments.
func (c Command) Render(args ...string) (string, error) {
	rendering, err := Renderer{}.Render(context.Background(), c, args...)
	return rendering.Text, err
}

// A Renderer fills arguments into the text of commands. The fields select rules on which clients
// disagree; docs/rendering.md lists the Renderer of each client. The zero value is ready for use.
// A Renderer holds no state and is safe for concurrent use.
//
// The placeholders are $ARGUMENTS and {{args}} (all arguments), $1 and $ARGUMENTS[0] (the first
// argument), $name and ${input:name} (the argument of this name). A placeholder without a given
// argument stays, except $ARGUMENTS and {{args}}, which become empty. A backslash before the
// dollar sign keeps a placeholder. The text of an argument is not scanned. In code, a bare number
// such as $1 stays without InCode.
//
// If arguments are given and no placeholder is replaced, the text ends with the line "ARGUMENTS: "
// and the arguments, unless NoAppend is set. Directives, !`command` and @path, stay in the text:
// see [Directive]. The document docs/methods.md has the details.
type Renderer struct {
	// CountFromZero makes $0 the first argument and $1 the second, as in the skills
	// of Claude Code. Otherwise $1 is the first argument, as in Codex CLI, OpenCode,
	// the classic commands of Claude Code and every shell, and $0 stays.
	CountFromZero bool

	NoAppend bool // arguments without a placeholder are omitted
	InCode   bool // bare numbers in code, such as $1, are placeholders too
}

// A Rendering is a command's text with arguments filled in.
type Rendering struct {
	Text       string      `json:"text"`
	Directives []Directive `json:"directives,omitempty"` // in text order, without overlap
}

// Render fills in arguments by position. $name and ${input:name} stand for the
// argument at the position of the name in [Renderer.Arguments], whether the frontmatter
// has the name in arguments or in argument-hint. (Claude Code fills only the names of
// arguments.)
//
// The time is linear in the length of the text and of the result, for every text.
// If nothing is filled in, Text is the Content of the command, without a copy.
// Invalid UTF-8 stays.
//
// Render returns [ErrSizeLimitExceeded] if the arguments would add more than
// 64 MiB to the text, the error of ctx if ctx ends before the text is rendered, and no
// other error.
func (r Renderer) Render(ctx context.Context, c Command, args ...string) (Rendering, error) {
	result, err := template.Options(r).Render(ctx, c.Content, *agentmd.Header(&c.Frontmatter), args)
	return newRendering("Render", c, result, err)
}

// RenderNamed fills in arguments by name. A name of [Renderer.Arguments] gives the
// argument its position. A number that Arguments does not list is a position: "2" is
// $2. Any other name fills $name and ${input:name}, and a name that the text does not
// contain is not an error. $ARGUMENTS stands for the values without the names, first by
// position, then by name.
//
// All other rules are those of [Renderer.Render].
func (r Renderer) RenderNamed(ctx context.Context, c Command, args map[string]string) (Rendering, error) {
	result, err := template.Options(r).RenderNamed(ctx, c.Content, *agentmd.Header(&c.Frontmatter), args)
	return newRendering("RenderNamed", c, result, err)
}

func newRendering(op string, c Command, result template.Result, err error) (Rendering, error) {
	if errors.Is(err, template.ErrTooLong) {
		err = &Error{Code: CodeSizeLimitExceeded, Op: op, Path: c.Name,
			Message: "the arguments would add more than " + strconv.Itoa(template.MaxAdded>>20) + " MiB to the text of " + quote(c.Name) + "; use shorter arguments or fewer placeholders"}
	}
	if err != nil {
		return Rendering{}, err
	}
	rendering := Rendering{Text: result.Text}
	if len(result.Directives) > 0 {
		rendering.Directives = make([]Directive, len(result.Directives))
	}
	for i, d := range result.Directives {
		kind := DirectiveShell
		if d.Kind == template.File {
			kind = DirectiveFile
		}
		rendering.Directives[i] = Directive{Kind: kind, Start: d.Start, End: d.End, Text: d.Text(result.Text), FromArguments: d.FromArguments}
	}
	return rendering, nil
}

// A Directive is a place where the author of a command asks the client to run a shell
// command or to read a file, and to insert the result. Rendering does neither. The
// program decides: refuse, ask the user, or replace Rendering.Text[Start:End], from the
// last directive to the first.
//
// Only the author's text has directives. The text of an argument never begins a
// directive, but may become a part of a directive, as in !`git diff $1`. FromArguments
// is then set: quote the text for the shell or refuse the directive, because the user
// wrote a part of the directive.
//
// Code has no directives. The blocks that Claude Code runs, which begin with
// ```!, are code too.
type Directive struct {
	Kind          string `json:"kind"`           // DirectiveShell or DirectiveFile
	Start         int    `json:"start"`          // in bytes, in Rendering.Text
	End           int    `json:"end"`            // in bytes, after the last byte
	Text          string `json:"text"`           // the shell command or the path, arguments filled in
	FromArguments bool   `json:"from_arguments"` // Text holds text of an argument
}

// The kinds of directives.
const (
	// DirectiveShell is !`command`, a command for a shell: an exclamation mark at
	// the beginning of a line or after a blank, as in Claude Code, and two backticks
	// on the same line. (OpenCode also takes KEY=!`command`, and a command of
	// several lines.)
	DirectiveShell = "shell"

	// DirectiveFile is @path, a file to read: an at sign at the beginning of a line,
	// after a blank or after "(". The path ends before a blank, a comma, a
	// semicolon, a quote, a backtick, "<", ">", "|", or the punctuation of a Chinese
	// or Japanese sentence. Other punctuation at the end is not part of the path.
	// The path contains a "/", a "." or an argument, as in @$1, or begins with "~".
	// Therefore @param, @alice and e-mail addresses are not directives. A package
	// name such as @scope/name is a directive: check that the file exists. The author
	// chose the path, so read only files below the project's root.
	DirectiveFile = "file"
)

// An Argument is an argument that a command expects.
type Argument struct {
	// Name is the key for RenderNamed: the name that the author gave the argument,
	// the number of a placeholder without a name ("1" for $1), or "arguments" for
	// a command that uses all arguments as one text.
	Name string `json:"name"`

	// Position is the place in the arguments of Render, counted from 1.
	Position int `json:"position"`

	Description string `json:"description,omitempty"` // from the frontmatter
	Hint        string `json:"hint,omitempty"`        // as written: [priority], or the last part of ${input:name:hint}
	Required    bool   `json:"required"`              // the hint has <name>, or the frontmatter has required: true
}

// Arguments returns the arguments that the command expects, in order of position, or nil if the
// command expects no argument. Rendering requires no argument.
//
// The frontmatter's field arguments gives the first arguments, and argument-hint the next. The
// numbers of placeholders and the names of ${input:name} follow. A command with $ARGUMENTS,
// {{args}} or an argument-hint, and no other argument, has one argument, named "arguments". A bare
// number in code, such as $1, is no placeholder unless InCode is set. With CountFromZero, the
// argument of $0 is named "0" and has position 1. The document docs/methods.md has the details.
//
// The time is linear in the length of the text. If ctx ends before the text is scanned, Arguments
// returns the error of ctx and no argument.
func (r Renderer) Arguments(ctx context.Context, c Command) ([]Argument, error) {
	parameters, err := template.Options(r).Parameters(ctx, c.Content, *agentmd.Header(&c.Frontmatter))
	if len(parameters) == 0 {
		return nil, err
	}
	list := make([]Argument, len(parameters))
	for i, p := range parameters {
		list[i] = Argument(p)
	}
	return list, nil
}
