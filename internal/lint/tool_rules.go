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
	var rules []ToolRule
	begin := 0
	for tool, balanced := range matter.EachTool(text) {
		begin += strings.Index(text[begin:], tool)
		rule, err := toolRule(tool)
		if !balanced {
			err = errors.New(`has unbalanced parentheses; ` +
				`close each "(" before the next rule, as in "Bash(git:*) Read"`)
		}
		if err != nil {
			character := 1 + utf8.RuneCountInString(text[:begin])
			return nil, fmt.Errorf("tool rule %s at character %d %w",
				strconv.Quote(escape.Cut(tool, maxShownRule)), character, err)
		}
		begin += len(tool)
		rules = append(rules, rule)
	}
	return rules, nil
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
