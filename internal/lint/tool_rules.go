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

// ToolRules reads rules with blanks or commas between them, and calls add with the tool and the text
// in parentheses of each. The error names the first rule that is not valid.
func ToolRules(text string, add func(tool, specifier string)) error {
	if !utf8.ValidString(text) {
		return errors.New("invalid tool rules: the text is not UTF-8; save the file as UTF-8")
	}
	begin := 0
	for tool, balanced := range matter.EachTool(text) {
		begin += strings.Index(text[begin:], tool)
		name, specifier, err := toolRule(tool)
		if !balanced {
			err = errors.New(`has unbalanced parentheses; ` +
				`close each "(" before the next rule, as in "Bash(git:*) Read"`)
		}
		if err != nil {
			character := 1 + utf8.RuneCountInString(text[:begin])
			return fmt.Errorf("tool rule %s at character %d %w",
				strconv.Quote(escape.Cut(tool, maxShownRule)), character, err)
		}
		begin += len(tool)
		add(name, specifier)
	}
	return nil
}

// maxShownRule is the number of bytes of a rule in an error.
const maxShownRule = 60

// toolRule reads one rule with balanced parentheses.
func toolRule(text string) (tool, specifier string, err error) {
	tool, specifier, limited := strings.Cut(text, "(")
	specifier, closed := strings.CutSuffix(specifier, ")")
	switch {
	case tool == "" || strings.ContainsFunc(tool, notInTool):
		err = errors.New(`has no valid tool name; ` +
			`write a name such as "Bash" before the parentheses, without quotes and brackets`)
	case !limited:
	case !closed:
		err = errors.New("has text after the parentheses; write a blank between two rules")
	case strings.TrimSpace(specifier) == "":
		err = fmt.Errorf("has empty parentheses; write %q for all calls of the tool", tool)
	}
	return tool, specifier, err
}

// notInTool reports a character that no name of a tool contains.
func notInTool(r rune) bool {
	return r < utf8.RuneSelf && !strings.ContainsRune("_-*./:+@$#", r) &&
		(r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
