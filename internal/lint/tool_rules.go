package lint

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// A ToolRule is a tool, or some calls of a tool.
type ToolRule struct {
	Tool      string
	Specifier string // the text in parentheses
}

// ToolRules reads rules with blanks or commas between them. The error names the first rule that is
// not valid.
func ToolRules(text string) ([]ToolRule, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("invalid tool rules: the text is not UTF-8; save the file as UTF-8")
	}
	tools, unbalanced := matter.SplitTools(text)
	at := func(i int) string {
		rule := escape.Cut(tools[i], maxShownRule)
		character := 1 + utf8.RuneCountInString(text[:begin(text, tools[:i+1])])
		return fmt.Sprintf("tool rule %s at character %d", strconv.Quote(rule), character)
	}
	if unbalanced >= 0 {
		return nil, fmt.Errorf(`%s has unbalanced parentheses; `+
			`close each "(" before the next rule, as in "Bash(git:*) Read"`, at(unbalanced))
	}
	var rules []ToolRule
	for i, tool := range tools {
		rule, err := toolRule(tool)
		if err != nil {
			return nil, fmt.Errorf("%s %w", at(i), err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// begin returns the offset of the last of the first tools of a text.
func begin(text string, tools []string) (at int) {
	for i, tool := range tools {
		if i > 0 {
			at += len(tools[i-1])
		}
		at += strings.Index(text[at:], tool)
	}
	return at
}

// maxShownRule is the number of bytes of a rule in an error.
const maxShownRule = 60

// toolRule reads one rule with balanced parentheses.
func toolRule(text string) (ToolRule, error) {
	tool, specifier, limited := strings.Cut(text, "(")
	if i := strings.IndexFunc(tool, notInTool); i >= 0 || tool == "" {
		return ToolRule{}, errors.New(`has no valid tool name; ` +
			`write a name such as "Bash" before the parentheses, without quotes and brackets`)
	}
	if !limited {
		return ToolRule{Tool: tool}, nil
	}
	specifier, closed := strings.CutSuffix(specifier, ")")
	switch {
	case !closed:
		return ToolRule{}, errors.New("has text after the parentheses; write a blank between two rules")
	case strings.TrimSpace(specifier) == "":
		return ToolRule{}, fmt.Errorf("has empty parentheses; write %q for all calls of the tool", tool)
	}
	return ToolRule{Tool: tool, Specifier: specifier}, nil
}

// notInTool reports a character that no name of a tool contains.
func notInTool(r rune) bool {
	return r < utf8.RuneSelf && !strings.ContainsRune("_-*./:+@$#", r) &&
		(r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
