package toolshelf

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// An Argument is an argument that a command expects.
type Argument struct {
	// Name is the key for RenderNamed: the name that the author gave the argument,
	// the number of a placeholder without a name ("1" for $1), or "arguments" for
	// a command that takes all arguments as a text.
	Name string `json:"name"`

	// Position is the place in the arguments of Render, counted from 1.
	Position int `json:"position"`

	Description string `json:"description,omitempty"` // from the frontmatter
	Hint        string `json:"hint,omitempty"`        // as written: [priority], or the last part of ${input:name:hint}
	Required    bool   `json:"required"`              // the hint has <name>, or the frontmatter has required: true
}

// Arguments returns the arguments that the command expects, in order of
// position, and nil if the command expects none. Rendering requires none of them.
//
//   - The frontmatter's arguments come first: a list of names, names separated by
//     blanks or commas, or a list of mappings with name, description, required
//     and hint.
//   - argument-hint gives the next positions, or all positions if no argument is
//     declared: each <name>, [name] and KEY=<value> up to the first "|", which
//     begins alternatives. Flags, such as [--force], have no position. A hint in
//     other words, or of flags only, describes the only argument of a command.
//   - The numbers of placeholders follow, up to the first gap: a text with $1, $2
//     and $150 has two.
//   - New names of ${input:name} follow, in the order of the text.
//   - A command with $ARGUMENTS, {{args}} or an argument-hint, and none of the
//     above, has one argument, named "arguments".
//
// A bare number in code, such as $1, is no placeholder unless InCode is set.
func (c Command) Arguments() []Argument { return Renderer{}.Arguments(c) }

// Arguments is [Command.Arguments] with the options of r. With CountFromZero, the
// argument of $0 is named "0" and has position 1.
func (r Renderer) Arguments(c Command) []Argument {
	return r.arguments(new(markdown.Meter), c)
}

// ArgumentsContext is [Renderer.Arguments] with a context. If ctx ends before the
// text is scanned, ArgumentsContext returns the error of ctx and no argument.
// The time is linear in the length of the text. Use ArgumentsContext in servers
// that read texts of unknown authors.
func (r Renderer) ArgumentsContext(ctx context.Context, c Command) ([]Argument, error) {
	meter := markdown.NewMeter(ctx)
	list := r.arguments(meter, c)
	if err := meter.Err(); err != nil {
		return nil, err
	}
	return list, nil
}

// arguments returns a part of the list if the meter ends the scan.
func (r Renderer) arguments(meter *markdown.Meter, c Command) []Argument {
	list := declaredArguments(c.Frontmatter)
	hints, words := readHint(c.Frontmatter.Text("argument-hint"))
	for i, h := range hints {
		if i < len(list) {
			list[i].Hint = cmp.Or(list[i].Hint, h.Hint)
			list[i].Required = list[i].Required || h.Required
		} else {
			list = append(list, h)
		}
	}
	names := make(map[string]bool, len(list))
	for i := range list {
		if names[list[i].Name] || strings.Trim(list[i].Name, "0123456789") == "" { // a number is the name of its own position only
			list[i].Name = r.numeral(i)
		}
		names[list[i].Name] = true
	}
	var (
		numbered [mostNumbered]bool
		inputs   []Argument
		all      bool
	)
	r.scan(meter, c.Content, func(string) bool { return false }, func(t token) {
		switch t.kind {
		case allToken:
			all = true
		case indexToken:
			if t.index < mostNumbered {
				numbered[t.index] = true
			}
		case inputToken:
			if !names[t.name] {
				names[t.name] = true
				inputs = append(inputs, Argument{Name: t.name, Hint: t.hint})
			}
		}
	})
	for n := len(list); n < mostNumbered && numbered[n] && !names[r.numeral(n)]; n++ {
		list = append(list, Argument{Name: r.numeral(n)})
	}
	list = append(list, inputs...)
	if list == nil && (all || words != "") {
		list = []Argument{{Name: "arguments"}}
	}
	if len(list) == 1 {
		list[0].Hint = cmp.Or(list[0].Hint, words)
	}
	for i := range list {
		list[i].Position = i + 1
	}
	return list
}

// mostNumbered bounds the arguments that numbers in a text can declare.
const mostNumbered = 1000

// numeral is the name of an argument without a name at this index.
func (r Renderer) numeral(index int) string {
	if !r.CountFromZero {
		index++
	}
	return strconv.Itoa(index)
}

// declaredArguments returns the arguments of the frontmatter. A sentence, or any
// other value that is no list of names, declares none.
func declaredArguments(f Frontmatter) []Argument {
	value, _ := f.doc.Get("arguments")
	var list []Argument
	switch {
	case value.Kind == matter.Sequence:
		for _, item := range value.Items {
			var arg Argument
			if item.Kind == matter.Mapping {
				for _, field := range item.Fields {
					switch field.Key {
					case "name":
						arg.Name = argumentName(field.Value.String())
					case "description":
						arg.Description = strings.TrimSpace(field.Value.String())
					case "hint", "argument-hint", "placeholder":
						arg.Hint = strings.TrimSpace(field.Value.String())
					case "required":
						arg.Required, _ = field.Value.Bool()
					}
				}
			} else {
				arg.Name = argumentName(item.String())
			}
			list = append(list, arg)
		}
	default:
		for _, name := range strings.FieldsFunc(value.String(), isSeparator) {
			if name = argumentName(name); !isName(name) {
				return nil
			}
			list = append(list, Argument{Name: name})
		}
	}
	return list
}

// argumentName removes the marks around a name: $issue, <issue>.
func argumentName(s string) string { return strings.Trim(strings.TrimSpace(s), "$<>[]") }

func isSeparator(r rune) bool { return r == ',' || r <= ' ' }

// isName reports whether $name can have this name.
func isName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '-' {
			return false
		}
	}
	return s != "" && s[0] != '-' && len(s) <= longestName
}

// readHint reads an argument-hint. Clients show the hint unchanged, so authors
// follow habits and no rules. A hint that shows no arguments is words.
func readHint(hint string) (list []Argument, words string) {
	hint = strings.TrimSpace(hint)
	flag := false // the value of a flag follows
	for rest := hint; rest != "" && rest[0] != '|'; {
		switch {
		case isSeparator(rune(rest[0])):
			rest = rest[1:]
		case rest[0] == '(':
			rest = rest[bracketLength(rest, '(', ')'):]
		case rest[0] == '[' || rest[0] == '<':
			n := bracketLength(rest, rest[0], rest[0]+2) // "]" and ">" follow two code points later
			if !flag {
				list = append(list, hinted("", rest[:n])...)
			}
			flag, rest = false, rest[n:]
		default:
			n := strings.IndexFunc(rest, func(r rune) bool { return isSeparator(r) || strings.ContainsRune("([<|", r) })
			if n < 0 {
				n = len(rest)
			}
			word := rest[:n]
			rest = rest[n:]
			flag = word[0] == '-'
			if key := strings.TrimSuffix(word, "="); key != word && !flag && rest != "" && (rest[0] == '<' || rest[0] == '[') {
				n := bracketLength(rest, rest[0], rest[0]+2)
				list = append(list, hinted(key, rest[:n])...)
				rest = rest[n:]
			}
		}
	}
	if list == nil && isName(hint) {
		return []Argument{{Name: hint, Hint: hint}}, ""
	}
	if list == nil {
		return nil, hint
	}
	return list, ""
}

// hinted returns the arguments in a pair of brackets of a hint: one argument, none
// for a flag, or several for a list such as [issue, branch].
func hinted(key, brackets string) []Argument {
	inner := strings.TrimSpace(strings.TrimRight(argumentName(strings.TrimRight(brackets, ".…")), ".…"))
	hint := brackets
	if key != "" {
		hint, inner = key+"="+brackets, key
	}
	required := brackets[0] == '<'
	if before, _, ok := strings.Cut(inner, "="); ok && isName(before) {
		inner = before
	}
	if inner == "" || inner[0] == '-' {
		return nil
	}
	if parts := strings.Split(inner, ","); len(parts) > 1 {
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		if !slices.ContainsFunc(parts, func(s string) bool { return !isName(s) }) {
			var list []Argument
			for _, name := range parts {
				list = append(list, Argument{Name: name, Hint: hint, Required: required})
			}
			return list
		}
	}
	return []Argument{{Name: inner, Hint: hint, Required: required}}
}

// bracketLength returns the length of a text in brackets, with the brackets and
// the dots after them, or the length of s if no bracket closes the text.
func bracketLength(s string, opening, closing byte) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return len(s) - len(strings.TrimLeft(s[i+1:], ".…"))
			}
		}
	}
	return len(s)
}
