package matter

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// compareSubset compares readSubset with the YAML library.
func compareSubset(t interface{ Fatalf(string, ...any) }, header string) verdict {
	got, verdict := readSubset(header, 7)
	if verdict == unsure {
		return verdict
	}
	doc := Document{Frontmatter: Frontmatter{Header: header}}
	text, _ := doc.printable()
	if len(doc.Problems) > 0 {
		t.Fatalf("%q has a problem: %v", header, doc.Problems)
	}
	want, problems, err := strictYAML(text, 7, newScope(text))
	switch {
	case verdict == invalid && (err == nil || errors.Is(err, errRefused) || errors.Is(err, errNotMapping)):
		t.Fatalf("%q is not invalid: %v", header, err)
	case verdict == invalid:
	case err != nil:
		t.Fatalf("%q is not YAML: %v", header, err)
	case len(problems) > 0:
		t.Fatalf("%q has a problem: %+v", header, problems)
	case !reflect.DeepEqual(got, want):
		t.Fatalf("%q (-yaml +subset):\n%s", header, cmp.Diff(want, got, cmp.AllowUnexported(Value{}, nested{})))
	}
	return verdict
}

// TestCorpusSubset compares the public headers, and counts the headers that need
// the YAML library.
func TestCorpusSubset(t *testing.T) {
	type count struct{ headers, certain, broken, parsed int }
	counts := map[string]*count{}
	corpusFiles(t, func(path string, data []byte) {
		doc, _ := Parse(data, true)
		if doc.Format != YAML {
			return
		}
		kind := "commands"
		if strings.EqualFold(filepath.Base(path), "SKILL.md") {
			kind = "skills"
		}
		if counts[kind] == nil {
			counts[kind] = &count{}
		}
		c := counts[kind]
		c.headers++
		switch verdict := compareSubset(t, doc.Header); {
		case verdict == unsure:
			c.parsed++
			return
		case verdict == certain:
			c.certain++
			return
		}
		c.broken++
		for part := range chunks(doc.Header, 1) {
			if compareSubset(t, part.text) == unsure {
				c.parsed++
				return
			}
		}
	})
	for kind, c := range counts {
		t.Logf("%s: %d headers, %d in the subset, %d broken, %d with the library", kind, c.headers, c.certain, c.broken, c.parsed)
		if c.parsed*20 > c.headers {
			t.Errorf("%s: %d of %d headers need the library, more than 5 %%", kind, c.parsed, c.headers)
		}
	}
}

func FuzzSubset(f *testing.F) {
	for line := range strings.Lines(texts) {
		if question, ok := strings.CutPrefix(line, "\tsubset "); ok {
			f.Add(must.Arguments(question)[0])
		}
	}
	f.Fuzz(func(t *testing.T, header string) { compareSubset(t, header) })
}

// TestSubsetGrammar compares headers that drawHeader writes. Mutations of bytes
// seldom write such headers.
func TestSubsetGrammar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			compareSubset(t, drawHeader(t))
		}
	})
}

// drawHeader draws a header from the grammar of the subset, with up to three
// mutations.
func drawHeader(t *rapid.T) string {
	g := grammar{t: t}
	g.mapping("", 0)
	text := g.b.String()
	if rapid.IntRange(0, 3).Draw(t, "crlf") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3}).Draw(t, "mutations") {
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		to := min(len(text), from+rapid.SampledFrom([]int{0, 0, 1, 1, 2, 5}).Draw(t, "length"))
		text = text[:from] + rapid.SampledFrom(fragments).Draw(t, "fragment") + text[to:]
	}
	return text
}

// fragments are texts with a meaning in YAML.
var fragments = []string{"", "", "", " ", "  ", "\n", "\n\n", "\n ", "\n  ", "\r\n", "\t", ":", ": ", ":\n", "- ", "-", "#", " #", " # ", "\n# c\n", "'", "\"", "\\", "[", "]", "{", "}", ",", "|", ">", "|\n", ">-\n", "|2", "+", "?", "? ",
	"&a ", "*a", "!", "!!str ", "%", "@", "`", "~", "<<: ", "---\n", "\n---\n", "...\n", "\u00e9", "\u0085", "\u2028", "\ufeff", "\x00", "true", "null", "0", "1e3", "0x", "_", "a: b\n", "\na: ", "description: "}

// A grammar writes a header.
type grammar struct {
	t *rapid.T
	b strings.Builder
}

func (g *grammar) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(g.t, label)
}

// odd picks one of the usual texts, and sometimes one of the other texts.
func (g *grammar) odd(label string, usual []string, other ...string) string {
	if g.number("odd", 40) < 40 {
		other = usual
	}
	return g.pick(label, other...)
}

func (g *grammar) number(label string, most int) int {
	return rapid.IntRange(0, most).Draw(g.t, label)
}

func (g *grammar) write(texts ...string) {
	for _, text := range texts {
		g.b.WriteString(text)
	}
}

// end ends a line, with or without a comment, and writes lines without a value.
func (g *grammar) end() {
	g.write(g.odd("end", []string{"", "", " "}, " # c", "  #c", " #", " # a: b"), "\n")
	for g.number("blank", 6) == 6 {
		g.write(g.pick("blank line", "", " ", "    ", "# c", "  # c", "#c: d"), "\n")
	}
}

func (g *grammar) mapping(indent string, depth int) {
	for i := range 1 + g.number("fields", 3) {
		if i > 0 {
			g.write(indent)
		}
		g.write(g.pick("key", "description", "name", "a", "b-c", "d_1", "allowed-tools", "metadata", "true"), ":")
		g.value(indent, depth, true)
	}
}

func (g *grammar) value(indent string, depth int, ofKey bool) {
	deeper := indent + g.pick("indent", " ", "  ", "    ")
	shapes := 5
	if depth < 3 {
		shapes = 8
	}
	switch g.number("shape", shapes) {
	case 0, 1:
		g.write(g.pick("space", " ", "  "), g.plain())
		for g.number("lines", 5) == 5 {
			g.write(g.pick("break", "\n", "\n\n", " \n"), deeper, g.plain())
		}
		g.end()
	case 2:
		g.write(" ", g.quoted())
		g.end()
	case 3, 4:
		g.block(deeper)
	case 5:
		g.write(" ")
		g.brackets("", "")
		g.end()
	case 6:
		if !ofKey {
			g.write(" ")
			g.mapping(indent+"  ", depth+1)
			return
		}
		g.end()
		g.write(deeper)
		g.mapping(deeper, depth+1)
	case 7:
		if !ofKey {
			g.write(" x\n")
			return
		}
		g.end()
		if g.number("flat", 2) == 0 {
			deeper = indent
		}
		for range 1 + g.number("items", 3) {
			g.write(deeper, "-")
			g.value(deeper, depth+1, false)
		}
	case 8:
		if ofKey {
			g.end()
			g.write(deeper)
			g.brackets("\n"+deeper, "\n"+indent+" ")
		}
		g.end()
	}
}

func (g *grammar) plain() string {
	return g.odd("plain", []string{"x", "Use this, when", "a b  c", "true", "False", "null", "~", "1", "007", "1.5", "1.2.3", "-1", "--x | y", "1e3", "0x1F", ".5", "1_000", "2025-01-31", "12:30", "yes", "a:b", "http://x/y#z", "<a> [b]",
		"$1", "(a)", "it's", "a \"b\" c", "caf\u00e9 \U0001F680", "a - b", "Bash(git:*)", "+1", "=", "/x", ".inf", "0"},
		"a, b", "a: b", "x:", "-", "*", "a #b", "y # z", "")
}

func (g *grammar) quoted() string {
	return g.odd("quoted", []string{`''`, `""`, `'a'`, `'it''s: #1'`, `"a"`, `"a \"b\" \\"`, `"\n\t\u00e9\x41"`, `"\U0001F680"`, `"a: b # c"`, `' '`, `"caf\u00e9"`, "'\u00e9'"},
		`"\/"`, `"\ud83d"`, `"a" b`, `'a' 'b'`, `"a`, `'a`, `"\`)
}

func (g *grammar) brackets(open, closing string) {
	g.write("[", g.pick("space", "", " "), open)
	for i := range g.number("items", 3) {
		if i > 0 {
			g.write(g.odd("comma", []string{",", ", ", " , ", ", " + open}, open+","))
		}
		if g.number("quotes", 2) == 0 {
			g.write(g.quoted())
		} else {
			g.write(g.plain())
		}
	}
	g.write(g.pick("space", "", " ", ","), closing, "]", g.odd("after", []string{""}, " [b]", " x", ": y"))
}

func (g *grammar) block(indent string) {
	g.write(g.pick("sign", " |", " >"), g.odd("chomping", []string{"", "", "-", "+"}, "1", "2", "1-", "-2", "+1"), g.odd("space", []string{"", " "}, " # c"), "\n", indent, "x\n")
	for range g.number("lines", 5) {
		g.write(g.odd("indentation", []string{indent, indent, indent, indent + " ", indent + "  "}, "", " "),
			g.pick("line", "a", "b c ", "- d", "e: f", "# g", "", "\"h\"", "'i", "[j", "\u00e9", "---"), "\n")
	}
}
