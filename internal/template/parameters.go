package template

import (
	"bytes"
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// A Parameter is an argument that a command expects.
type Parameter struct {
	Name        string // unique in the command
	Position    int    // in the list of arguments, counted from 1
	Description string // from the frontmatter
	Hint        string // as written in the frontmatter or in ${input:name:hint}
	Required    bool
}

// A Declaration is an entry of the field "arguments".
type Declaration struct {
	Parameter
	Default string
	Choices []string
}

// Parameters returns the arguments that a text expects, in order of position. Render fails without
// an argument only if the argument is Required. If ctx ends before the text is scanned, Parameters
// returns the error of ctx and no parameter.
func (r Renderer) Parameters(ctx context.Context, of Source) ([]Parameter, error) {
	meter := markdown.NewMeter(ctx)
	list := r.parameters(meter, of, r.survey(meter, of.Text))
	if err := meter.Err(); err != nil {
		return nil, err
	}
	return list, nil
}

// The limits of Listed.
const (
	MaxListedText = matter.MaxHead // bytes of a file
	maxListed     = 100            // parameters of a command
)

// Listed returns the parameters of a command that a list shows, without a read of a long file: at
// most 100 parameters of the first MaxListedText bytes of the file with the given path. whole means
// that head is the whole file. For a longer file, Parameters may return more parameters, or may
// omit a parameter, because the rest of the text can close a code span or contain the first
// numbered placeholder. The result shares no memory with head.
func (r Renderer) Listed(file string, head []byte, whole bool) []Parameter {
	doc, _ := matter.ParseFile(file, head, whole)
	body := doc.Text(head)
	if !whole { // the last line may end within a placeholder
		body = body[:bytes.LastIndexByte(body, '\n')+1]
	}
	// A background context never ends.
	list, _ := r.Parameters(context.Background(), Source{Text: string(body), Header: doc.Frontmatter})
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list[:min(len(list), maxListed)])
	for i := range list {
		p := &list[i]
		p.Name, p.Description, p.Hint = strings.Clone(p.Name), strings.Clone(p.Description),
			strings.Clone(p.Hint)
	}
	return list
}

// authored returns the parameters that the frontmatter names: first the declared parameters of the
// field "arguments", then the parameters of "argument-hint". If the hint names no parameter,
// authored returns the hint as words.
func authored(
	header matter.Frontmatter, found survey,
) (list []Parameter, declared int, words string) {
	for _, d := range Declared(header) {
		list = append(list, d.Parameter)
	}
	declared = len(list)
	hint, _ := header.Get("argument-hint")
	hints, words := readHint(hint.String())
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
		// A number is the name of no other position.
		if names[list[i].Name] || strings.Trim(list[i].Name, "0123456789") == "" {
			list[i].Name = found.numeral(i)
		}
		names[list[i].Name] = true
	}
	return list, declared, words
}

// A demand is what the placeholders of a text ask for.
type demand struct {
	rules    client.Rules
	first    int // the number of the first argument
	numbered [maxNumbered]bool
	rest     int             // the index of the first argument of a slice
	need     int             // the number of arguments without which Render fails
	all      bool            // a placeholder has all arguments
	any      bool            // Render fails without an argument
	names    map[string]int  // of the authored parameters, -1; of the others, the index in named
	asked    map[string]bool // the names without which Render fails
	named    []Parameter
}

func (d *demand) token(t token) {
	if t.kind != indexToken {
		t.number -= d.first
	}
	fails := d.rules.NoNumber == client.Fails && t.number < maxNumbered
	switch t.kind {
	case allToken, sliceToken:
		d.all, d.rest = true, max(d.rest, t.number)
		if fails && t.required {
			d.any = true
			if t.kind == sliceToken || t.number > 0 {
				d.need = max(d.need, t.number+1)
			}
		}
	case numberToken, indexToken, defaultToken:
		d.all = d.all || t.kind == defaultToken && t.number == allArguments-d.first
		if t.number >= 0 && t.number < maxNumbered {
			d.numbered[t.number] = true
		}
		if fails && t.kind != defaultToken {
			d.need = max(d.need, t.number+1)
		}
	case inputToken, nameToken:
		if t.kind == nameToken && d.rules.NoName == client.Fails {
			d.asked[t.name] = true
		}
		if _, ok := d.names[t.name]; !ok {
			d.names[t.name] = len(d.named)
			d.named = append(d.named, Parameter{Name: t.name, Hint: t.text})
		}
	}
}

// parameters returns a partial list if the meter ends the scan.
func (r Renderer) parameters(meter *markdown.Meter, of Source, found survey) []Parameter {
	list, _, words := authored(of.Header, found)
	d := demand{rules: r.Rules, first: found.first, names: make(map[string]int, len(list)),
		asked: map[string]bool{}}
	known := make(map[string]bool, len(list))
	for _, p := range list {
		d.names[p.Name], known[p.Name] = -1, r.Rules.NoName == client.Fails
	}
	// A text with an invalid directive has parameters too.
	r.scan(meter, of.Text, found, known, d.token)
	if found.first == 0 && d.numbered[1] {
		// A text with $1 alone, written for clients that count from 1, takes a first argument too.
		d.numbered[0] = true
	}
	for n := len(list); n < maxNumbered && (d.numbered[n] || n < d.need); n++ {
		p := Parameter{Name: found.numeral(n)}
		if i, ok := d.names[p.Name]; ok { // ${input:1}
			p, d.named[i].Name = d.named[i], ""
		}
		list = append(list, p)
	}
	if n := len(list); n > 0 && n == d.rest { // the text after $1 in $1 and ${@:2}
		if _, ok := d.names[found.numeral(n)]; !ok {
			list = append(list, Parameter{Name: found.numeral(n)})
		}
	}
	if d.any {
		d.need = max(d.need, 1)
	}
	list = append(list, slices.DeleteFunc(d.named, func(p Parameter) bool { return p.Name == "" })...)
	if list == nil && (d.all || words != "") {
		list = []Parameter{{Name: "arguments"}}
	}
	if len(list) == 1 {
		list[0].Hint = cmp.Or(list[0].Hint, words)
	}
	for i := range list {
		list[i].Position = i + 1
		list[i].Required = list[i].Required || i < d.need || d.asked[list[i].Name]
	}
	return list
}

// A Beyond is a placeholder that no argument in the frontmatter belongs to.
type Beyond struct {
	Text   string // of the placeholder
	Offset int    // in the text
	Named  int    // number of the arguments in the frontmatter
}

// Beyond returns the first placeholder outside code whose number, counted from the first argument,
// exceeds the number of arguments in the fields "arguments" and "argument-hint". ok is false
// if no placeholder does, or if a hint leaves the number of arguments open: without brackets,
// with dots, with a choice, or with a flag, which may have a value.
func (r Renderer) Beyond(of Source) (beyond Beyond, ok bool) {
	hint, _ := of.Header.Get("argument-hint")
	hints, words := readHint(hint.String())
	named := max(len(Declared(of.Header)), len(hints))
	if named == 0 || words != "" || openHint.MatchString(hint.String()) {
		return Beyond{}, false
	}
	meter := new(markdown.Meter)
	found := r.survey(meter, of.Text)
	r.scan(meter, of.Text, found, nil, func(t token) {
		if t.kind == numberToken {
			t.number -= found.first
		}
		if (t.kind == numberToken || t.kind == indexToken) && t.number >= named && !t.code && !ok {
			beyond, ok = Beyond{Text: of.Text[t.start:t.end], Offset: t.start, Named: named}, true
		}
	})
	return beyond, ok
}

// A Miscounted is a number that stands for another argument than the author means, by the default
// rules.
type Miscounted struct {
	Text   string // of the placeholder
	Offset int    // in the text
	Meant  int    // the position of the argument, counted from 1
	First  int    // the number of the first argument by the rules
}

// Miscounted returns the first number outside code that the rules count from another number than
// the default rules.
func (r Renderer) Miscounted(of Source) (m Miscounted, ok bool) {
	if r.Rules == (client.Rules{}) || !strings.Contains(of.Text, "$") {
		return Miscounted{}, false
	}
	meter := new(markdown.Meter)
	own, meant := r.survey(meter, of.Text), Renderer{}.survey(meter, of.Text)
	if own.first == meant.first || own.capitals || r.forms()&client.Numbered == 0 {
		return Miscounted{}, false
	}
	Renderer{}.scan(meter, of.Text, meant, nil, func(t token) {
		if t.kind == numberToken && t.number >= meant.first && !ok {
			m, ok = Miscounted{of.Text[t.start:t.end], t.start, t.number - meant.first + 1, own.first}, true
		}
	})
	return m, ok
}

// Quoted returns the first placeholder within quotes of a directive !{command}. The rules quote the
// arguments of the directive for the shell, so the author's quotes end before the argument, or
// become a part of the argument.
func (r Renderer) Quoted(of Source) (text string, offset int, ok bool) {
	at, quote := 0, byte(0) // the open quote of the directive before at, or 0
	r.scan(new(markdown.Meter), of.Text, survey{}, nil, func(t token) {
		switch {
		case t.kind == shellStart:
			at, quote = t.start+len("!{"), 0
		case t.shell && t.kind <= defaultToken && !ok:
			quote = openQuote(of.Text[at:t.start], quote)
			if at = t.end; quote != 0 {
				text, offset, ok = of.Text[t.start:t.end], t.start, true
			}
		}
	})
	return text, offset, ok
}

// openQuote returns the quote of a POSIX shell that is open at the end of a text, or 0. A quote may
// be open at the beginning.
func openQuote(text string, quote byte) byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote
}

// openHint matches a hint that leaves the number of arguments open.
var openHint = regexp.MustCompile(`\.\.|…|[|*+]|(^|[\s\[<(])-`)

// maxNumbered bounds the parameters that numbers in a text declare. A greater number requires no
// argument.
const maxNumbered = 1000

// numeral returns the name of an unnamed parameter at an index.
func (s survey) numeral(index int) string { return strconv.Itoa(index + s.first) }

// Declared returns the parameters of the field "arguments". A value other than
// a list of names, for example a sentence, declares no parameters.
func Declared(header matter.Frontmatter) []Declaration {
	value, _ := header.Get("arguments")
	var list []Declaration
	switch {
	case value.Kind == matter.Sequence:
		for _, item := range value.Items() {
			var arg Declaration
			if item.Kind == matter.Mapping {
				for _, field := range item.Fields() {
					switch field.Key {
					case "name":
						arg.Name = argumentName(field.Value.String())
					case "description":
						arg.Description = strings.TrimSpace(field.Value.String())
					case "hint", "argument-hint", "placeholder":
						arg.Hint = strings.TrimSpace(field.Value.String())
					case "required":
						arg.Required, _ = field.Value.Bool()
					case "default":
						arg.Default = field.Value.String()
					case "choices", "options", "enum":
						arg.Choices = field.Value.Strings()
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
			list = append(list, Declaration{Parameter: Parameter{Name: name}})
		}
	}
	return list
}

// argumentName removes the marks around a name, as in $issue and <issue>.
func argumentName(s string) string { return strings.Trim(strings.TrimSpace(s), "$<>[]") }

func isSeparator(r rune) bool { return r == ',' || r <= ' ' }

// isName reports whether $name may have the name s.
func isName(s string) bool {
	other := func(r rune) bool { return r != '-' && (r > unicode.MaxASCII || !isWord(byte(r))) }
	return s != "" && s[0] != '-' && len(s) <= maxName && !strings.ContainsFunc(s, other)
}

// readHint parses an argument-hint. If the hint contains no arguments, readHint returns
// the hint as words. Hints follow no common syntax, because clients show hints unchanged.
//
// Of alternatives, readHint returns the arguments of the first, and none is required. Alternatives
// that begin with different words, such as add [id] | remove [id], are words: the position of an
// argument depends on the choice.
func readHint(hint string) (list []Parameter, words string) {
	hint = strings.TrimSpace(hint)
	list, literal, alternatives, ok := firstAlternative(hint)
	if !ok || literal && alternatives {
		return nil, hint
	}
	for i := range list {
		list[i].Required = list[i].Required && !alternatives
	}
	switch {
	case list != nil:
		return list, ""
	case isName(hint):
		return []Parameter{{Name: hint, Hint: hint}}, ""
	}
	return nil, hint
}

// firstAlternative reads the arguments of a hint up to a "|". The result literal means that a word is
// neither a flag nor the value of a flag, and ok is false for alternatives that begin with different
// words.
func firstAlternative(hint string) (list []Parameter, literal, alternatives, ok bool) {
	flag := false // the previous word is a flag, so a bracket or a word is its value
	for hint != "" && hint[0] != '|' {
		var part string
		part, hint = cutHint(hint)
		switch {
		case isSeparator(rune(part[0])), part[0] == '(':
		case inBrackets(part) && flag:
			flag = false
		case inBrackets(part) && choosesWords(part[1:]):
			return nil, false, false, false
		case inBrackets(part):
			list = append(list, hinted("", part)...)
		case !flag && part[0] != '-' && strings.Contains(part, "|"):
			return nil, false, false, false
		default:
			literal = literal || !flag && part[0] != '-'
			flag = part[0] == '-'
			if key, ok := strings.CutSuffix(part, "="); ok && !flag && inBrackets(hint) {
				part, hint = cutHint(hint)
				list = append(list, hinted(key, part)...)
			}
		}
	}
	return list, literal, hint != "", true
}

// cutHint cuts a separator, a text in brackets or a word off a hint.
func cutHint(hint string) (part, rest string) {
	const opening, closing = "([<", ")]>"
	n := strings.IndexFunc(hint, func(c rune) bool {
		return isSeparator(c) || strings.ContainsRune(opening, c)
	})
	switch i := strings.IndexByte(opening, hint[0]); {
	case i >= 0:
		n = bracketLength(hint, opening[i], closing[i])
	case n < 0:
		n = len(hint)
	}
	n = max(n, 1) // a separator
	return hint[:n], hint[n:]
}

func inBrackets(hint string) bool { return hint != "" && (hint[0] == '[' || hint[0] == '<') }

// choosesWords reports whether a text in brackets has alternatives that are not all single words,
// as in [list | add <name>].
func choosesWords(inner string) bool {
	alternatives := strings.Split(strings.TrimRight(inner, "]>.… "), "|")
	return len(alternatives) > 1 && !strings.HasPrefix(inner, "-") &&
		slices.ContainsFunc(alternatives, func(s string) bool {
			s = strings.TrimSpace(s)
			return strings.ContainsAny(s, " \t[<") || strings.HasPrefix(s, "-")
		})
}

// hinted returns the parameters of a pair of brackets in a hint. A flag declares no
// parameter. A list, for example [issue, branch], declares several parameters.
func hinted(key, brackets string) (list []Parameter) {
	inner := strings.TrimSpace(strings.TrimRight(argumentName(strings.TrimRight(brackets, ".…")),
		".…"))
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
	for name := range strings.SplitSeq(inner, ",") {
		if name = strings.TrimSpace(name); !isName(name) {
			return []Parameter{{Name: inner, Hint: hint, Required: required}}
		}
		list = append(list, Parameter{Name: name, Hint: hint, Required: required})
	}
	return list
}

// bracketLength returns the length of the bracketed text at the beginning of s,
// including the brackets and the dots after them. If no bracket closes the text,
// bracketLength returns the length of s.
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
