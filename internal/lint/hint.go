package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// anyPlaceholder matches the beginning of the placeholders of all clients. Other texts, such
// as shell variables, match too; then hint omits a report.
var anyPlaceholder = regexp.MustCompile(`\$[\w@*+{]|\{\{`)

// renderer returns the rules of the client of the profile, or of the layer.
func (f *File) renderer() template.Renderer {
	rules := f.profile.client.Rules
	if f.kind == client.Skills {
		rules = f.profile.client.SkillRules
	}
	return template.Renderer{Rules: cmp.Or(rules, f.Rules)}
}

// miscounted reports the first number of a text that means another argument in the client than in
// the clients that count from the number of the text.
func (f *File) miscounted() []problem.Problem {
	found := Miscounted(f.renderer().Rules, template.Source{Text: string(f.Raw[f.Doc.Body:]), Header: f.Doc.Frontmatter}, f.Raw)
	for i := range found {
		found[i].Path = f.Path
	}
	return found
}

// Miscounted returns the problem of the first number of a text that stands for another argument by
// the rules than by the default rules. The problem has no Path. If the text is not the end of the
// file raw, as in TOML, Miscounted returns nothing.
func Miscounted(rules client.Rules, of template.Source, raw []byte) []problem.Problem {
	m, ok := template.Renderer{Rules: rules}.Miscounted(of)
	before, whole := len(raw)-len(of.Text), ok && bytes.HasSuffix(raw, []byte(of.Text))
	if !whole {
		return nil
	}
	is := "stands for argument " + strconv.Itoa(m.Meant+1)
	if m.First > 0 && m.Meant == 1 {
		is = "stands for no argument"
	} else if m.First > 0 {
		is = "stands for argument " + strconv.Itoa(m.Meant-1)
	}
	place := placeAfter(raw[:before+m.Offset])
	return []problem.Problem{{Code: problem.PlaceholderMiscounted, Severity: problem.Warning, Line: place.Line, Column: place.Column,
		Message:    fmt.Sprintf("the placeholder %s %s: by the rules of the client, $%d is the first argument", m.Text, is, m.First),
		Suggestion: fmt.Sprintf("write $%d for argument %d, or use $ARGUMENTS", m.Meant-1+m.First, m.Meant)}}
}

// quoted reports the first placeholder in quotes of a directive whose arguments the client quotes
// for the shell.
func (f *File) quoted() []problem.Problem {
	text, offset, ok := f.renderer().Quoted(template.Source{Text: string(f.Doc.Text(f.Raw)), Header: f.Doc.Frontmatter})
	if !ok {
		return nil
	}
	place, inTOML := f.field("prompt")
	if !inTOML || !strings.HasSuffix(f.Path, ".toml") {
		place = placeAfter(f.Raw[:f.Doc.Body+offset])
	}
	return []problem.Problem{f.at(place, problem.Warning, problem.PlaceholderQuoted,
		"the placeholder "+text+" is in quotes, and the client quotes the arguments for the shell: the quotes end before the argument or become a part of the argument",
		"remove the quotes around "+text)}
}

// hint reports an argument-hint of a text without a placeholder, a placeholder in quotes, and the
// first number of a placeholder that exceeds the arguments in the frontmatter.
func (f *File) hint() []problem.Problem {
	body := string(f.Raw[f.Doc.Body:])
	field, ok := f.field("argument-hint")
	if ok && strings.TrimSpace(field.Value.String()) != "" && !anyPlaceholder.MatchString(body) {
		return []problem.Problem{f.at(field, problem.Warning, problem.HintWithoutPlaceholder,
			"the text has no placeholder for the arguments of argument-hint; some clients append the arguments to the text, and other clients drop the arguments",
			"write $ARGUMENTS in the text, or remove argument-hint")}
	}
	if quoted := f.quoted(); quoted != nil {
		return quoted
	}
	if miscounted := f.miscounted(); miscounted != nil {
		return miscounted
	}
	beyond, ok := f.renderer().Beyond(template.Source{Text: body, Header: f.Doc.Frontmatter})
	if !ok {
		return nil
	}
	return []problem.Problem{f.at(placeAfter(f.Raw[:f.Doc.Body+beyond.Offset]), problem.Warning, problem.PlaceholderBeyondHint,
		fmt.Sprintf("the placeholder %s exceeds the number of arguments in the frontmatter, %d", beyond.Text, beyond.Named),
		"add the argument to argument-hint; for a literal text, write \\"+beyond.Text)}
}
