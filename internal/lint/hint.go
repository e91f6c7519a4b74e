package lint

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// anyPlaceholder matches the beginning of the placeholders of all clients. Other texts, such
// as shell variables, match too; then hint omits a report.
var anyPlaceholder = regexp.MustCompile(`\$[\w@*+{]|\{\{`)

// hint reports an argument-hint of a text without a placeholder, and the first number of a
// placeholder that exceeds the arguments in the frontmatter.
func (f *File) hint() []problem.Problem {
	body := string(f.Raw[f.Doc.Body:])
	field, ok := f.field("argument-hint")
	if ok && strings.TrimSpace(field.Value.String()) != "" && !anyPlaceholder.MatchString(body) {
		return []problem.Problem{f.at(field, problem.Warning, problem.HintWithoutPlaceholder,
			"the text has no placeholder for the arguments of argument-hint; some clients append the arguments to the text, and other clients drop the arguments",
			"write $ARGUMENTS in the text, or remove argument-hint")}
	}
	beyond, ok := template.Renderer{}.Beyond(template.Source{Text: body, Header: f.Doc.Frontmatter})
	if !ok {
		return nil
	}
	return []problem.Problem{f.at(placeAfter(f.Raw[:f.Doc.Body+beyond.Offset]), problem.Warning, problem.PlaceholderBeyondHint,
		fmt.Sprintf("the placeholder %s exceeds the number of arguments in the frontmatter, %d", beyond.Text, beyond.Named),
		"add the argument to argument-hint; for a literal text, write \\"+beyond.Text)}
}
