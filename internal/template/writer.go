package template

import "strings"

// A writer replaces the tokens of a text by the given arguments.
type writer struct {
	text  string
	given arguments

	out    strings.Builder
	copied int  // text[:copied] is in out
	added  int  // bytes of arguments, in out or refused
	filled bool // an argument replaces a token

	directives []Directive
	open       Directive // begun, not ended
	path       int       // index in text of the path of an open file directive
}

// token writes the text before a token, and the value of the token.
func (w *writer) token(t token) {
	switch t.kind {
	case escapeToken:
		w.replace(t.start, t.end, "")
	case shellStart:
		w.begin(Shell, t.start)
	case shellEnd:
		w.end(t.end, len("`"))
	case fileStart:
		w.begin(File, t.start)
		w.path = t.start + 1
	case fileEnd:
		if w.open.FromArguments || isPath(w.text[w.path:t.end]) {
			w.end(t.end, 0)
		}
	default:
		if value, ok := w.given.of(t); ok && w.fits(value) {
			w.replace(t.start, t.end, value)
			w.filled = true
			w.open.FromArguments = w.open.FromArguments || value != ""
		}
	}
}

// fits counts the bytes of an argument, and reports whether the arguments so far add at
// most MaxAdded bytes.
func (w *writer) fits(value string) bool {
	if w.added <= MaxAdded {
		w.added += len(value)
	}
	return w.added <= MaxAdded
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

// begin begins a directive at an index of text.
func (w *writer) begin(kind Kind, at int) {
	w.open = Directive{Kind: kind, Start: w.out.Len() + at - w.copied}
}

// end ends the open directive the given number of bytes after an index of text.
func (w *writer) end(at, after int) {
	w.open.End = w.out.Len() + at - w.copied + after
	w.directives = append(w.directives, w.open)
}

// result returns the whole text, or ErrTooLong.
func (w *writer) result() (Result, error) {
	switch {
	case w.added > MaxAdded:
		return Result{}, ErrTooLong
	case w.out.Len() == 0 && w.copied == 0:
		return Result{w.text, w.directives}, nil
	}
	w.out.WriteString(w.text[w.copied:])
	return Result{w.out.String(), w.directives}, nil
}
