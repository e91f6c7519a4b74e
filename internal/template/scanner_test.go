package template

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

// maxSteps bounds the bytes that the scanners examine for each byte of a text.
// The worst case is "\$a" with 62 hyphens: the scanner looks up 62 names, twice.
const maxSteps = 100

// scanSteps returns the number of bytes that a scan of the text examines.
func scanSteps(r Renderer, text string) int {
	var meter markdown.Meter
	_ = r.scan(&meter, text, r.survey(&meter, text), map[string]bool{"name": true}, func(token) {})
	return meter.Steps()
}

// ShellQuoted is shellQuoted, for the other tests.
var ShellQuoted = shellQuoted

// AllRules returns the default rules, other rules without a client, and the rules of each client.
func AllRules() []client.Rules {
	rules := []client.Rules{{}, {Count: client.CountFromZero}, {Append: client.Drop}, {Code: client.CodeWithPlaceholders, Escape: client.Backslash},
		{Forms: client.NoForms - 1, Number: client.Anywhere, NoNumber: client.Empty, NoName: client.Empty, Rest: true}}
	for _, c := range client.All() {
		for _, r := range []client.Rules{c.Rules, c.SkillRules} {
			if !slices.Contains(rules, r) {
				rules = append(rules, r)
			}
		}
	}
	return rules
}

// repeated returns a text of about size bytes: the first part repeated, the second
// part repeated, and the end.
func repeated(size int, first, second, end string) string {
	return strings.Repeat(first, size/2/max(1, len(first))) + strings.Repeat(second, size/2/max(1, len(second))) + end
}

// In a hostile text, failed attempts to read a token examine the same bytes
// again. A quadratic scanner then needs thousands of steps for each byte.
func FuzzScanIsLinear(f *testing.F) {
	for _, seed := range [][3]string{
		{"a", "）", ""}, {"${input:", " ", "}"}, {"${input:x", "x", "}"}, {"${input:", ":", "}"}, {"${input:a:", "\t", "}$"},
		{"$a-", "-", ""}, {"$" + strings.Repeat("-a", 32), "$$", ""}, {`\$a-`, `\$$a`, ""}, {"$ARGUMENTS[1", "1", "]"}, {"$1", "1", "."},
		{"{", "{{args", "}"}, {`\`, `\$`, ""}, {"` ", "`` ", "```"}, {"`\\", "`", "``"}, {"!` ", "!`", "\n`"}, {"!", "`", ""},
		{" @a", ")", ""}, {" @{", "}", ""}, {"@$1", "]）", ""}, {"@", "*", "/"}, {"（", "@（", "）"}, {"@", "（）", "）"},
		{"!{", "a", "}"}, {"!{{", "}", "}"}, {"@{", "$", "}"}, {"${", "name", "}"}, {"${@:1", "1", "}"}, {"${1:-", "x", "}"}, {"${1:-", "${", "}\n"}, {"$A", "A", "_"}, {"$$", "A$", ""},
		{"- ", "\n", "x"}, {"- * ", "\n", "x"}, {"> - ", "\n", "x"}, {"- > ", "\n\n> ", "x"}, {"_ ", "- ", "x"}, {"- ", "  ", "x"}, {"1. ", "-", " x"},
		{"```\n", "~~~\n", ""}, {"~", "~ ", "\n~"}, {"#", " ", "="}, {"|", "\r\n", ""}, {"\t", "- ", "\n"},
	} {
		for of := range byte(len(AllRules())) {
			f.Add("", seed[0], seed[1], seed[2], of)
			f.Add("@", seed[1], seed[0], seed[2], of)
			f.Add("@（", seed[0], seed[1], seed[2], of)
		}
	}
	f.Fuzz(func(t *testing.T, start, first, second, end string, of byte) {
		rules := AllRules()
		r := Renderer{Rules: rules[int(of)%len(rules)], Values: map[string]string{"name": "value"}}
		text := start + repeated(8<<10, first, second, end)
		if steps := scanSteps(r, text); steps > maxSteps*(len(text)+10) {
			t.Errorf("%d steps for %d bytes: %q, %q and %q, then %q", steps, len(text), start, first, second, end)
		}
		var meter markdown.Meter
		if Paths(&meter, text, func(int, int) {}); meter.Steps() > maxSteps*(len(text)+10) {
			t.Errorf("Paths: %d steps for %d bytes: %q, %q and %q, then %q", meter.Steps(), len(text), start, first, second, end)
		}
	})
}

// endingContext ends when its error is read for the third time.
type endingContext struct {
	context.Context
	read int
}

func (c *endingContext) Err() error {
	if c.read++; c.read >= 3 {
		return context.Canceled
	}
	return nil
}

func TestScansEndWithTheContext(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"lines", "\n"},
		{"numbers", "$1 "},
		{"code spans", "`x` "},
		{"backticks", "` `` "},
		{"a code block", "```\n"},
		{"placeholders in a shell directive", "!`$1` "},
		{"a file directive", "@aa"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "@" + strings.Repeat(tt.text, 1<<20/len(tt.text))
			if list, err := (Renderer{}).Parameters(&endingContext{Context: t.Context()}, Source{Text: text}); !errors.Is(err, context.Canceled) || list != nil {
				t.Errorf("Parameters returns %d parameters, %v", len(list), err)
			}
			if got, err := (Renderer{}).Render(&endingContext{Context: t.Context()}, Source{Text: text}, Args{List: []string{"a"}}); !errors.Is(err, context.Canceled) || got.Text != "" {
				t.Errorf("Render returns %d bytes, %v", len(got.Text), err)
			}
			if got, err := (Renderer{}).Render(&endingContext{Context: t.Context()}, Source{Text: text}, Args{Named: map[string]string{"1": "a"}}); !errors.Is(err, context.Canceled) || got.Text != "" {
				t.Errorf("Render by name returns %d bytes, %v", len(got.Text), err)
			}
			meter := markdown.NewMeter(&endingContext{Context: t.Context()})
			_ = Renderer{}.scan(meter, text, survey{}, nil, func(token) {})
			// The search for the end of a line is not interrupted.
			if steps := meter.Steps(); steps > len(text)+4*markdown.CheckEvery {
				t.Errorf("%d steps for %d bytes, though the context ended", steps, len(text))
			}
		})
	}
}
