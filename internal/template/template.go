// Package template fills arguments into the text of commands. The documentation of
// toolshelf.Renderer states the rules.
//
// The package scans a text once, in time linear in its length. The package executes
// nothing and reads no file.
package template

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// Options selects rules on which clients disagree. The fields are the fields of
// toolshelf.Renderer.
type Options struct {
	CountFromZero bool
	NoAppend      bool
	InCode        bool
}

// A Result is a rendered text.
type Result struct {
	Text       string
	Directives []Directive // in text order, without overlap
}

// MaxAdded bounds the bytes that arguments add to a text. Without a bound, a
// command of 10 MiB with a million $ARGUMENTS turns an argument of one megabyte
// into a terabyte.
const MaxAdded = 64 << 20

// ErrTooLong reports arguments that would add more than MaxAdded bytes.
var ErrTooLong = errors.New("the arguments would add too much to the text")

// Render fills in arguments by position. If ctx ends before the text is rendered,
// Render returns the error of ctx.
func (o Options) Render(ctx context.Context, text string, header matter.Frontmatter, args []string) (Result, error) {
	meter := markdown.NewMeter(ctx)
	given := arguments{positions: make(map[int]string, len(args)), names: map[string]string{}, all: strings.Join(args, " ")}
	for i, arg := range args {
		given.positions[i] = arg
	}
	expected, _ := o.authored(header)
	if strings.Contains(text, "${input:") {
		expected = o.parameters(meter, text, header)
	}
	return o.render(meter, text, expected, given)
}

// RenderNamed fills in arguments by name. If ctx ends before the text is rendered,
// RenderNamed returns the error of ctx.
func (o Options) RenderNamed(ctx context.Context, text string, header matter.Frontmatter, args map[string]string) (Result, error) {
	meter := markdown.NewMeter(ctx)
	given := arguments{positions: make(map[int]string, len(args)), names: maps.Clone(args)}
	if given.names == nil {
		given.names = map[string]string{}
	}
	rest := maps.Clone(given.names)
	expected := o.parameters(meter, text, header)
	for _, arg := range expected {
		if value, ok := args[arg.Name]; ok {
			given.positions[arg.Position-1] = value
			delete(rest, arg.Name)
		}
	}
	for name, value := range rest {
		index, ok := argumentNumber(name)
		if !o.CountFromZero {
			index--
		}
		if _, taken := given.positions[index]; ok && index >= 0 && !taken {
			given.positions[index] = value
			delete(rest, name)
		}
	}
	var values []string
	for _, index := range slices.Sorted(maps.Keys(given.positions)) {
		values = append(values, given.positions[index])
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		values = append(values, rest[name])
	}
	given.all = strings.Join(values, " ")
	return o.render(meter, text, expected, given)
}

// arguments are the arguments given to a rendering.
type arguments struct {
	positions map[int]string // by index, from 0
	names     map[string]string
	all       string // the text of $ARGUMENTS
}

// of returns the value of a placeholder, if given.
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

func (o Options) scan(meter *markdown.Meter, text string, known func(string) bool, yield func(token)) {
	s := scanner{text: text, zero: o.CountFromZero, inCode: o.InCode, known: known, yield: yield, meter: meter}
	s.scan()
}

// render fills in the given arguments. The names of the expected arguments stand for their
// positions, unless an argument is given by the name.
func (o Options) render(meter *markdown.Meter, text string, expected []Parameter, given arguments) (Result, error) {
	known := make(map[string]bool, len(expected)+len(given.names))
	for i, arg := range expected {
		known[arg.Name] = true
		value, ok := given.positions[i]
		if _, named := given.names[arg.Name]; ok && !named {
			given.names[arg.Name] = value
		}
	}
	for name := range given.names {
		known[name] = true
	}
	w := writer{text: text, given: given}
	o.scan(meter, text, func(name string) bool { return known[name] }, w.token)
	if err := meter.Err(); err != nil {
		return Result{}, err
	}
	if !w.filled && !o.NoAppend && strings.TrimSpace(given.all) != "" && w.fits(given.all) {
		w.replace(len(text), len(text), "\n\nARGUMENTS: "+given.all)
	}
	return w.result()
}
