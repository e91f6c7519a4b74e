package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A writer replaces the tokens of a text by the given arguments.
type writer struct {
	text   string
	name   string
	rules  client.Rules
	values map[string]string
	found  survey
	given  arguments

	out    strings.Builder
	copied int  // text[:copied] is in out
	added  int  // bytes of arguments and values, in out or refused
	filled bool // an argument replaces a token

	// The arguments that a client requires and that are not given.
	names     []string // cut
	positions []int    // counted from 1

	directives []Directive
	open       Directive // begun, not ended
	path       int       // index in text of the path of an open file directive
}

// token writes the text before a token, and the value of the token.
func (w *writer) token(t token) {
	switch t.kind {
	case removedToken:
		w.replace(t.start, t.end, "")
	case shellStart:
		w.begin(t)
	case shellEnd:
		w.end(t.end, len("`"))
	case fileStart:
		w.begin(t)
		w.path = t.start + 1
	case fileEnd:
		switch {
		case t.braces && w.copied < w.path: // Gemini CLI reads the path before the arguments
			w.end(t.end, len("}"))
		case !t.braces && (w.open.FromArguments || isPath(w.text[w.path:t.end])):
			w.end(t.end, 0)
		}
	case valueToken:
		if value := w.values[t.name]; w.fits(value) {
			w.replace(t.start, t.end, value)
		}
	default:
		if w.added > MaxAdded {
			return
		}
		value, ok := w.value(t)
		from := value != ""
		if t.kind == defaultToken && !from {
			value = t.text
		}
		if t.shell {
			value = shellQuoted(value)
		}
		if ok && w.fits(value) {
			w.replace(t.start, t.end, value)
			w.filled = true
			w.open.FromArguments = w.open.FromArguments || from
		}
	}
}

// value returns the text that replaces a placeholder. ok is false if the placeholder stays.
func (w *writer) value(t token) (value string, ok bool) {
	rule := w.rules.NoNumber
	index := t.number - w.found.first
	switch t.kind {
	case allToken:
		return w.given.all, w.present(t)
	case sliceToken:
		return w.given.from(index, t.length), w.present(t)
	case defaultToken:
		if value = w.given.all; t.number != allArguments {
			value = w.given.positions[index]
		}
		return value, true
	case numberToken:
		if index < 0 {
			return "", rule == client.Empty // $0, if $1 is the first argument
		}
		if value, ok = w.given.positions[index]; ok && w.rules.Rest && t.number == w.found.greatest {
			value = w.given.from(index, -1)
		}
	case indexToken:
		index = t.number
		value, ok = w.given.positions[index]
	case inputToken:
		rule = client.Stays
		value, ok = w.given.names[t.name]
	case nameToken:
		rule = w.rules.NoName
		value, ok = w.given.names[t.name]
	}
	if !ok && rule == client.Fails {
		w.miss(t.name, index)
	}
	return value, ok || rule == client.Empty
}

// present reports whether a placeholder of several arguments has the arguments that the rules
// require.
func (w *writer) present(t token) bool {
	index := t.number - w.found.first
	if !t.required || w.rules.NoNumber != client.Fails || index < len(w.given.positions) {
		return true
	}
	w.miss("", index)
	return false
}

// miss records a missing argument: a name, or without a name an index. A number that no parameter
// has is text.
func (w *writer) miss(name string, index int) {
	switch name = escape.Cut(name, maxName); {
	case len(w.names)+len(w.positions) == maxMissing, name == "" && index >= maxNumbered:
	case name == "" && !slices.Contains(w.positions, index+1):
		w.positions = append(w.positions, index+1)
	case name != "" && !slices.Contains(w.names, name):
		w.names = append(w.names, name)
	}
}

// needs returns an error with the missing arguments: the names, or without a name the positions.
func (w *writer) needs() error {
	noun, advice := "the argument", "give a value as KEY=value"
	var list []string
	for _, name := range w.names {
		list = append(list, strconv.Quote(name))
	}
	given := len(w.given.positions)
	switch {
	case len(list) == 0 && given == 1:
		noun, advice = "argument", "1 is given"
	case len(list) == 0:
		noun, advice = "argument", strconv.Itoa(given)+" are given"
	case w.given.named:
		advice = "add the argument"
	}
	if len(list) == 0 {
		for _, position := range w.positions {
			list = append(list, strconv.Itoa(position))
		}
	}
	if len(list) > 1 {
		noun += "s"
	}
	return &Error{Invalid, strconv.Quote(w.name) + " needs " + noun + " " + strings.Join(list, ", ") +
		"; " + advice}
}

// maxMissing bounds the arguments of an error.
const maxMissing = 20

// fits counts the bytes of an argument, and reports whether the arguments so far add at
// most MaxAdded bytes.
func (w *writer) fits(value string) bool {
	if w.added <= MaxAdded {
		w.added += len(value)
	}
	return w.added <= MaxAdded
}

// append writes the arguments of a text without a placeholder.
func (w *writer) append() {
	before := "\n\n"
	switch w.rules.Append {
	case client.Drop:
		return
	case client.AppendLabeled:
		before += "ARGUMENTS: "
	case client.AppendCommand:
		before += "/" + w.name + " "
	}
	if w.fits(w.given.all) {
		w.replace(len(w.text), len(w.text), before+w.given.all)
	}
}

// replace writes a value instead of text[start:end].
func (w *writer) replace(start, end int, value string) {
	if w.out.Cap() == 0 {
		w.out.Grow(len(w.text) + len(value) + len(w.given.all))
	}
	w.out.WriteString(w.text[w.copied:start])
	w.out.WriteString(value)
	w.copied = end
}

// begin begins the directive of a token.
func (w *writer) begin(t token) {
	w.open = Directive{Shell: t.kind == shellStart, Braces: t.braces,
		Start: w.out.Len() + t.start - w.copied}
}

// end ends the open directive the given number of bytes after an index of text.
func (w *writer) end(at, after int) {
	w.open.End = w.out.Len() + at - w.copied + after
	w.directives = append(w.directives, w.open)
}

// result returns the whole text, or an error.
func (w *writer) result() (Result, error) {
	switch {
	case w.added > MaxAdded:
		return Result{}, &Error{TooLong, fmt.Sprintf("the arguments would add more than %d MiB to the "+
			"text of %q; use shorter arguments or fewer placeholders", MaxAdded>>20, w.name)}
	case len(w.names)+len(w.positions) > 0:
		return Result{}, w.needs()
	case w.out.Len() == 0 && w.copied == 0:
		return Result{w.text, w.directives}, nil
	}
	w.out.WriteString(w.text[w.copied:])
	return Result{w.out.String(), w.directives}, nil
}

// shellQuoted quotes a text as one word of a POSIX shell. Gemini CLI quotes with the npm package
// shell-quote, whose version 1.12.0 has these forms.
func shellQuoted(text string) string {
	quote := strings.Contains(text, "'")
	switch {
	case text == "":
		return ""
	case quote && strings.Contains(text, "!"):
		return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'"
	case !quote && strings.ContainsAny(text, "\"\\ \t\n\v\f\r"):
		return "'" + text + "'"
	case quote:
		return `"` + escaped(text, "\"\\$`") + `"`
	}
	return escaped(text, "#!\"$&'()*,:;<=>?@[\\]^`{|}~")
}

// escaped writes a backslash before each character of special.
func escaped(text, special string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(special, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
