package toolshelf

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

// Render returns the command's text with arguments filled in, by the rules of
// the zero [Renderer]. A bare number in code, such as $1, stays. Render executes
// nothing and reads nothing.
//
// The error is an *Error with the code of ErrSizeLimitExceeded, or nil: see
// [Renderer.Render]. The same arguments always give the same text.
func (c Command) Render(args ...string) (string, error) {
	rendering, err := Renderer{}.Render(c, args...)
	return rendering.Text, err
}

// RenderNamed is [Command.Render] with arguments by name. The names are those of
// [Command.Arguments] and any other names in the text. An unknown name is no
// error. See [Renderer.RenderNamed].
func (c Command) RenderNamed(args map[string]string) (string, error) {
	rendering, err := Renderer{}.RenderNamed(c, args)
	return rendering.Text, err
}

// A Renderer fills arguments into the text of commands. The fields select rules
// on which clients disagree: docs/rendering.md lists the rules of each client,
// and the Renderer for them. The zero value is ready for use. A Renderer holds no
// state and is safe for concurrent use.
//
// # Placeholders
//
//	$ARGUMENTS             all arguments, unquoted, with a blank between two arguments
//	{{args}}               the same (Gemini CLI)
//	$1, $2 … $10 …         the first, the second … the tenth argument
//	$ARGUMENTS[0]          the first argument, with any CountFromZero (Claude Code)
//	$name                  the argument of this name, declared by the frontmatter's
//	                       arguments or given to RenderNamed; $NAME in Codex CLI
//	${input:name}          the argument of this name, declared or not (VS Code)
//	${input:name:hint}     the same
//
// A placeholder without a given argument stays, as all other text does: $PATH,
// $5 million, and $1 if no argument is given. (Claude Code keeps numbers and
// removes declared names; Codex CLI and OpenCode remove numbers.) An empty
// argument is filled in. If no argument is given, $ARGUMENTS and {{args}} become
// empty.
//
// A number is no placeholder as a part of a longer word, a price or a code: $1st,
// $5k, $1,000, $0.01 and $007 stay. $name is no placeholder as a part of a longer
// word. The text of an argument is not scanned: the argument "$2" gives the
// result "$2". Each number stands for one argument. (In OpenCode the last number
// stands for all the arguments left.)
//
// A backslash before the dollar sign of a placeholder keeps the placeholder, and
// is removed: \$1 gives $1. The rule holds for every number, with or without a
// given argument. Other backslashes stay. An escaped backslash, as in \\$1,
// escapes nothing. "$$" stays, and $$1 is no placeholder (Codex CLI). In code, a
// backslash before a bare number stays, as the number does.
//
// # Code
//
// Code means fenced code blocks and code spans, in the sense of CommonMark.
// Placeholders in code are filled in, as in every client, except bare numbers:
// the $1 of awk '{print $1}' belongs to awk. InCode fills in bare numbers too, as
// Claude Code, Codex CLI and OpenCode do. An indented code block is text: in a
// list, few authors can tell the difference.
//
// # Arguments without a placeholder
//
// If arguments are given and no placeholder is filled in, Render appends a blank
// line, "ARGUMENTS: " and the text of $ARGUMENTS, as Claude Code does. (OpenCode
// appends the arguments alone, Gemini CLI the line of the user, and Cursor sends
// the arguments along.) A number that stays in code does not count, and no
// argument is lost. NoAppend appends nothing.
//
// # Directives
//
// !`command` and @path stay in the text, with the arguments filled in. Rendering
// also returns their positions: see [Directive]. Code has no directives.
type Renderer struct {
	// CountFromZero makes $0 the first argument and $1 the second, as in the skills
	// of Claude Code. Otherwise $1 is the first, as in Codex CLI, OpenCode, the
	// classic commands of Claude Code and every shell, and $0 stays.
	CountFromZero bool

	NoAppend bool // arguments without a placeholder are omitted
	InCode   bool // bare numbers in code, such as $1, are placeholders too
}

// A Rendering is a command's text with arguments filled in.
type Rendering struct {
	Text       string      `json:"text"`
	Directives []Directive `json:"directives,omitempty"` // in text order, without overlap
}

// maxFilledIn bounds the text that arguments add. A command of 10 MiB with a
// million $ARGUMENTS would turn an argument of a megabyte into a terabyte.
const maxFilledIn = 64 << 20

// Render fills in arguments by position. $name and ${input:name} stand for the
// argument at the position of the name in [Renderer.Arguments].
//
// The time is linear in the length of the text and of the result, for every text.
// If nothing is filled in, Text is the Content of the command, without a copy.
// Invalid UTF-8 stays.
//
// Render returns [ErrSizeLimitExceeded] if the arguments would add more than
// 64 MiB to the text, and no other error.
func (r Renderer) Render(c Command, args ...string) (Rendering, error) {
	return r.RenderContext(context.Background(), c, args...)
}

// RenderContext is [Renderer.Render] with a context. If ctx ends before the text
// is rendered, RenderContext returns the error of ctx.
func (r Renderer) RenderContext(ctx context.Context, c Command, args ...string) (Rendering, error) {
	meter := markdown.NewMeter(ctx)
	given := arguments{positions: make(map[int]string, len(args)), names: map[string]string{}, all: strings.Join(args, " ")}
	for i, arg := range args {
		given.positions[i] = arg
	}
	declared := declaredArguments(c.Frontmatter)
	if strings.Contains(c.Content, "${input:") {
		for _, arg := range r.arguments(meter, c) {
			given.name(arg.Name, arg.Position-1)
		}
	}
	for i, arg := range declared {
		given.name(arg.Name, i)
	}
	return r.render(meter, "Render", c, declared, given)
}

// RenderNamed fills in arguments by name. An argument has the position of its
// name in [Renderer.Arguments]. Any other number is a position too: "2" is $2. Any
// other name fills $name and ${input:name}. $ARGUMENTS stands for the values
// without the names, first by position, then by name.
//
// All other rules are those of [Renderer.Render].
func (r Renderer) RenderNamed(c Command, args map[string]string) (Rendering, error) {
	return r.RenderNamedContext(context.Background(), c, args)
}

// RenderNamedContext is [Renderer.RenderNamed] with a context. If ctx ends before
// the text is rendered, RenderNamedContext returns the error of ctx.
func (r Renderer) RenderNamedContext(ctx context.Context, c Command, args map[string]string) (Rendering, error) {
	meter := markdown.NewMeter(ctx)
	given := arguments{positions: make(map[int]string, len(args)), names: maps.Clone(args)}
	if given.names == nil {
		given.names = map[string]string{}
	}
	rest := maps.Clone(given.names)
	expected := r.arguments(meter, c)
	for _, arg := range expected {
		if value, ok := args[arg.Name]; ok {
			given.positions[arg.Position-1] = value
			delete(rest, arg.Name)
		}
	}
	for name, value := range rest {
		index, ok := argumentNumber(name)
		if !r.CountFromZero {
			index--
		}
		if _, taken := given.positions[index]; ok && index >= 0 && !taken {
			given.positions[index] = value
			delete(rest, name)
		}
	}
	for _, arg := range expected {
		given.name(arg.Name, arg.Position-1)
	}
	var values []string
	for _, index := range slices.Sorted(maps.Keys(given.positions)) {
		values = append(values, given.positions[index])
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		values = append(values, rest[name])
	}
	given.all = strings.Join(values, " ")
	return r.render(meter, "RenderNamed", c, declaredArguments(c.Frontmatter), given)
}

// arguments are the arguments given to a rendering.
type arguments struct {
	positions map[int]string // by index, from 0
	names     map[string]string
	all       string
}

// name gives the argument at this index another name, unless the argument is
// missing or the name is taken.
func (a arguments) name(name string, index int) {
	if _, taken := a.names[name]; !taken {
		if value, ok := a.positions[index]; ok {
			a.names[name] = value
		}
	}
}

// of returns the value of a placeholder.
func (a arguments) of(t token) (value string, ok bool) {
	switch t.kind {
	case allToken:
		return a.all, true
	case indexToken:
		value, ok = a.positions[t.index]
	case nameToken, inputToken:
		value, ok = a.names[t.name]
	}
	return value, ok
}

func (r Renderer) scan(meter *markdown.Meter, text string, known func(string) bool, yield func(token)) {
	s := scanner{text: text, zero: r.CountFromZero, inCode: r.InCode, known: known, yield: yield, meter: meter}
	s.scan()
}

func (r Renderer) render(meter *markdown.Meter, op string, c Command, declared []Argument, given arguments) (Rendering, error) {
	known := make(map[string]bool, len(declared)+len(given.names))
	for _, arg := range declared {
		known[arg.Name] = true
	}
	for name := range given.names {
		known[name] = true
	}
	var (
		out    strings.Builder
		copied int // of the text
		filled int // bytes of arguments
		used   bool
		result Rendering
		open   Directive
		path   int // where the path of the file directive that is open begins in the text
	)
	replace := func(t token, value string) {
		if out.Cap() == 0 {
			out.Grow(len(c.Content) + len(value) + len(given.all))
		}
		out.WriteString(c.Content[copied:t.start])
		out.WriteString(value)
		copied = t.end
	}
	begin := func(kind DirectiveKind, at int) {
		open = Directive{Kind: kind, Start: out.Len() + at - copied}
	}
	// The text of a directive is cut out of the whole at the end.
	end := func(at int, after int) {
		open.End = out.Len() + at - copied + after
		result.Directives = append(result.Directives, open)
	}
	r.scan(meter, c.Content, func(name string) bool { return known[name] }, func(t token) {
		switch t.kind {
		case escapeToken:
			replace(t, "")
		case shellStart:
			begin(DirectiveShell, t.start)
		case shellEnd:
			end(t.end, len("`"))
		case fileStart:
			begin(DirectiveFile, t.start)
			path = t.start + 1
		case fileEnd:
			if open.FromArguments || isPath(c.Content[path:t.end]) {
				end(t.end, 0)
			}
		default:
			value, ok := given.of(t)
			if !ok || filled > maxFilledIn {
				return
			}
			if filled += len(value); filled <= maxFilledIn {
				replace(t, value)
				used = true
				open.FromArguments = open.FromArguments || value != ""
			}
		}
	})
	if err := meter.Err(); err != nil {
		return Rendering{}, err
	}
	if appended := given.all; !used && !r.NoAppend && strings.TrimSpace(appended) != "" {
		filled += len(appended)
		if filled <= maxFilledIn {
			replace(token{start: len(c.Content), end: len(c.Content)}, "\n\nARGUMENTS: "+appended)
		}
	}
	if filled > maxFilledIn {
		return Rendering{}, &Error{Code: ErrSizeLimitExceeded.Code, Op: op, Path: c.Name,
			Message: "the arguments would add more than " + strconv.Itoa(maxFilledIn>>20) + " MiB to the text of " + quote(c.Name) + "; give shorter ones, or fewer placeholders"}
	}
	result.Text = c.Content
	if copied > 0 || out.Len() > 0 {
		out.WriteString(c.Content[copied:])
		result.Text = out.String()
	}
	for i, d := range result.Directives {
		text := result.Text[d.Start+1 : d.End]
		if d.Kind == DirectiveShell {
			text = text[1 : len(text)-1]
		}
		result.Directives[i].Text = text
	}
	return result, nil
}
