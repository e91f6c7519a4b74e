// Package template fills arguments into the text of commands and skills, by the rules of a client.
// The documentation of toolshelf.Renderer states the rules.
//
// The package scans the author's text, never the text of an argument, in time linear in its length.
// The package executes nothing and reads no file.
package template

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// A Renderer fills in arguments. The fields are the fields of toolshelf.Renderer.
type Renderer struct {
	Rules  client.Rules
	Values map[string]string
}

// A Source is the text of a command or of a skill.
type Source struct {
	Name   string // of the command
	Text   string
	Header matter.Frontmatter
}

// Args are the arguments of a rendering. The fields are the fields of toolshelf.Args.
type Args struct {
	Line  string
	List  []string
	Named map[string]string
}

// A Result is a rendered text.
type Result struct {
	Text       string
	Directives []Directive // in text order, without overlap
}

// MaxAdded bounds the bytes that arguments and values add to a text. Without a bound, a
// command of 10 MiB with a million $ARGUMENTS turns an argument of one megabyte
// into a terabyte.
const MaxAdded = 64 << 20

// The values of Error.Code.
const (
	TooLong  = "SIZE_LIMIT_EXCEEDED" // the arguments would add more than MaxAdded bytes
	Invalid  = "INVALID_ARGUMENTS"   // an argument is missing or, in a text with $KEY, no KEY=value
	Unclosed = "INVALID_DIRECTIVE"   // a directive in braces has no closing brace
)

// An Error is a failure of Render. Code is a toolshelf.Code.
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Message }

// Render fills in arguments. If ctx ends before the text is rendered, Render returns
// the error of ctx.
func (r Renderer) Render(ctx context.Context, of Source, args Args) (Result, error) {
	meter := markdown.NewMeter(ctx)
	found := r.survey(meter, of.Text)
	given := arguments{named: args.Named != nil, positions: make(map[int]string, len(args.List)),
		names: maps.Clone(args.Named)}
	if given.names == nil {
		given.names = map[string]string{}
	}
	expected, declared, _ := authored(of.Header, found)
	if len(args.Named) > 0 || strings.Contains(of.Text, "${input:") {
		expected = r.parameters(meter, of, found)
	}
	line, list, named := strings.TrimSpace(args.Line), args.List, args.Named
	if found.capitals || r.Rules.Pairs {
		inputs := r.inputs(meter, of.Text, found)
		named = maps.Clone(named)
		maps.DeleteFunc(named, func(name, _ string) bool { return inputs[name] })
		var err error
		if list, err = given.pairs(of.Name, args, found, inputs); err != nil {
			return Result{}, cmp.Or(meter.Err(), err)
		}
		if len(list) < len(args.List) {
			line = ""
		}
	}
	for i, arg := range list {
		if !r.Rules.Pairs {
			given.positions[i] = arg
		}
	}
	rest := given.place(named, expected, found)
	switch {
	case line != "" && !(r.Rules.Joined && len(list) > 0):
		given.all = line
	case len(named) == 0:
		given.all = strings.Join(list, " ")
	default:
		given.all = strings.Join(slices.Concat(given.ordered(), rest), " ")
	}
	return r.render(meter, of, found, declared, expected, given)
}

// inputs returns the names of the inputs in a text, if the arguments of inputs are pairs.
func (r Renderer) inputs(meter *markdown.Meter, text string, found survey) map[string]bool {
	inputs := map[string]bool{}
	if r.Rules.Pairs {
		r.scan(meter, text, found, nil, func(t token) {
			inputs[t.name] = inputs[t.name] || t.kind == inputToken
		})
	}
	return inputs
}

// arguments are the arguments given to a rendering.
type arguments struct {
	positions map[int]string // by index, from 0
	indexes   []int          // the keys of positions, in order
	list      []string       // the values of positions, in order; see ordered
	names     map[string]string
	named     bool   // Args.Named is not nil
	all       string // the text of $ARGUMENTS
}

// pairs adds the arguments KEY=value of a list, unless an argument has the name already, and
// returns the rest of the list. A text with a $NAME accepts only pairs.
func (a *arguments) pairs(
	of string, args Args, found survey, inputs map[string]bool,
) (rest []string, err error) {
	for _, arg := range args.List {
		key, value, ok := strings.Cut(arg, "=")
		switch {
		case ok && key != "" && (found.capitals || inputs[key]):
			if _, named := args.Named[key]; !named {
				a.names[key] = value
			}
		case found.capitals:
			return nil, &Error{Invalid, fmt.Sprintf("the argument %q of %q has no name; "+
				"give each argument as KEY=value", escape.Cut(arg, maxName), of)}
		default:
			rest = append(rest, arg)
		}
	}
	return rest, nil
}

// ordered returns the arguments in the order of their positions.
func (a *arguments) ordered() []string {
	if len(a.list) < len(a.positions) {
		a.indexes = slices.Sorted(maps.Keys(a.positions))
		for _, index := range a.indexes {
			a.list = append(a.list, a.positions[index])
		}
	}
	return a.list
}

// from returns at most n arguments from an index on, joined by blanks. A negative n means all.
func (a *arguments) from(index, n int) string {
	list := a.ordered()
	begin, _ := slices.BinarySearch(a.indexes, index)
	end := len(a.indexes)
	if n >= 0 {
		end, _ = slices.BinarySearch(a.indexes, index+n)
	}
	return strings.Join(list[begin:end], " ")
}

// place gives the named arguments their positions. place returns the values without a position,
// sorted by name.
func (a *arguments) place(
	named map[string]string, expected []Parameter, found survey,
) (rest []string) {
	if len(named) == 0 {
		return nil
	}
	without := maps.Clone(named)
	set := func(name string, index int) {
		if _, taken := a.positions[index]; !taken && index >= 0 {
			a.positions[index] = named[name]
			delete(without, name)
		}
	}
	for _, arg := range expected {
		if _, ok := named[arg.Name]; ok {
			set(arg.Name, arg.Position-1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(without)) {
		if number, ok := argumentNumber(name); ok {
			set(name, number-found.first)
		}
		if value, left := without[name]; left {
			rest = append(rest, value)
		}
	}
	return rest
}

// A survey has the facts of a whole text that decide on each placeholder.
type survey struct {
	first    int  // the number of the first argument
	greatest int  // the greatest number, with the rule Rest
	capitals bool // the text has a $NAME, with the form Capital
}

// survey reads the facts that the rules need. Most texts need no scan.
func (r Renderer) survey(meter *markdown.Meter, text string) survey {
	found := survey{first: 1}
	auto := r.Rules.Count == client.CountAuto &&
		(strings.Contains(text, "$0") || strings.Contains(text, "$ARGUMENTS["))
	if auto || r.Rules.Rest || r.Rules.Forms&client.Capital != 0 {
		r.scan(meter, text, survey{}, nil, func(t token) {
			switch {
			case t.kind == numberToken:
				found.greatest = max(found.greatest, t.number)
				if auto && t.number == 0 && !t.code {
					found.first = 0
				}
			case t.kind == indexToken && auto && !t.code:
				found.first = 0
			case t.kind == nameToken:
				found.capitals = true // without known names, only $NAME of capitals is a name
			}
		})
	}
	if r.Rules.Count == client.CountFromZero {
		found.first = 0
	}
	return found
}

// forms returns the placeholders and directives of the rules.
func (r Renderer) forms() client.Form {
	return cmp.Or(r.Rules.Forms, client.DefaultForms)
}

// scan yields the tokens of a text, and returns the index of a directive without an end, or -1.
func (r Renderer) scan(
	meter *markdown.Meter, text string, found survey, known map[string]bool, yield func(token),
) (unclosed int) {
	forms := r.forms()
	if found.capitals {
		forms &= client.Capital | client.ShellQuote | client.FilePath | client.ShellBraces |
			client.FileBraces
	}
	s := scanner{text: text, forms: forms, rules: r.Rules, values: r.Values, known: known,
		yield: yield, meter: meter, unclosed: -1}
	s.scan()
	return s.unclosed
}

// render fills in the given arguments. The names of the expected arguments stand for their
// positions, unless an argument is given by the name.
func (r Renderer) render(
	meter *markdown.Meter, of Source, found survey, declared int, expected []Parameter,
	given arguments,
) (Result, error) {
	forms := r.forms()
	known := make(map[string]bool, len(expected)+len(given.names))
	if forms&(client.Hinted|client.Capital) != 0 {
		for name := range given.names {
			known[name] = true
		}
	}
	for i, arg := range expected {
		if forms&client.Hinted != 0 || forms&client.Declared != 0 && i < declared {
			known[arg.Name] = true
		}
		value, ok := given.positions[i]
		if _, named := given.names[arg.Name]; ok && !named {
			given.names[arg.Name] = value
		}
	}
	w := writer{text: of.Text, name: of.Name,
		rules: r.Rules, values: r.Values, found: found, given: given}
	unclosed := r.scan(meter, of.Text, found, known, w.token)
	switch err := meter.Err(); {
	case err != nil:
		return Result{}, err
	case unclosed >= 0:
		return Result{}, &Error{Unclosed, fmt.Sprintf("the directive %s at byte %d of the text of %q "+
			"has no end; add the closing brace", of.Text[unclosed:unclosed+2], unclosed, of.Name)}
	case (!w.filled || r.Rules.Pairs) && strings.TrimSpace(given.all) != "":
		w.append()
	}
	return w.result()
}
