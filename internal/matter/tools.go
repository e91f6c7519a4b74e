package matter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Tools returns the tools of allowed-tools. The value is a list, or a text with
// blanks or commas between the tools. Blanks and commas in parentheses do not
// separate tools, as in "Bash(git add:*) Read". unbalanced is the first tool with
// unbalanced parentheses, or "".
func Tools(v Value) (tools []string, unbalanced string) {
	if v.Kind != Sequence {
		tools, i := SplitTools(v.String())
		if i >= 0 {
			unbalanced = tools[i]
		}
		return tools, unbalanced
	}
	tools = v.Strings()
	for _, item := range tools {
		if split, i := SplitTools(item); i >= 0 {
			return tools, split[i]
		}
	}
	return tools, ""
}

// SplitTools returns the tools of a text, as parts of the text. unbalanced is the index of the
// first tool with unbalanced parentheses, or -1.
func SplitTools(text string) (tools []string, unbalanced int) {
	begin, depth, matched := 0, 0, true
	unbalanced = -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) {
			switch text[i] {
			case '(':
				depth++
			case ')':
				matched = matched && depth > 0
				depth = max(depth-1, 0)
			}
			if depth > 0 || strings.IndexByte(" ,\t\r\n", text[i]) < 0 {
				continue
			}
		}
		if begin < i {
			if unbalanced < 0 && (depth > 0 || !matched) {
				unbalanced = len(tools)
			}
			tools = append(tools, text[begin:i])
		}
		begin, matched = i+1, true
	}
	return tools, unbalanced
}

// A ToolRule is a tool, or some calls of a tool.
type ToolRule struct {
	Tool      string
	Specifier string // the text in parentheses
}

// ToolRules reads rules with blanks or commas between them. The error names the first rule that is
// not valid.
func ToolRules(text string) ([]ToolRule, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("invalid tool rules: the text is not UTF-8; save the file as UTF-8")
	}
	tools, unbalanced := SplitTools(text)
	at := func(i int) string {
		rule := tools[i]
		if len(rule) > maxShownRule {
			rule = strings.ToValidUTF8(rule[:maxShownRule], "") + "…"
		}
		return fmt.Sprintf("tool rule %s at character %d", strconv.Quote(rule), 1+utf8.RuneCountInString(text[:begin(text, tools[:i+1])]))
	}
	if unbalanced >= 0 {
		return nil, fmt.Errorf(`%s has unbalanced parentheses; close each "(" before the next rule, as in "Bash(git:*) Read"`, at(unbalanced))
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
		return ToolRule{}, fmt.Errorf(`has no valid tool name; write a name such as "Bash" before the parentheses, without quotes and brackets`)
	}
	if !limited {
		return ToolRule{Tool: tool}, nil
	}
	specifier, closed := strings.CutSuffix(specifier, ")")
	switch {
	case !closed:
		return ToolRule{}, fmt.Errorf("has text after the parentheses; write a blank between two rules")
	case strings.TrimSpace(specifier) == "":
		return ToolRule{}, fmt.Errorf("has empty parentheses; write %q for all calls of the tool", tool)
	}
	return ToolRule{Tool: tool, Specifier: specifier}, nil
}

// notInTool reports a character that no name of a tool contains.
func notInTool(r rune) bool {
	return r < utf8.RuneSelf && !strings.ContainsRune("_-*./:+@$#", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

const toolsKey = "allowed-tools"

// checkTools reports a tool with unbalanced parentheses.
func (d *Document) checkTools() {
	for i := len(d.Fields) - 1; i >= 0; i-- {
		f := &d.Fields[i]
		if f.Key != toolsKey {
			continue
		}
		if f.Value.Kind == String && !strings.ContainsAny(f.Value.Text, "()") {
			return // fast path of most headers
		}
		if _, tool := Tools(f.Value); tool != "" {
			p := problem.Problem{Code: problem.AllowedToolsUnbalanced, Line: f.Line, Column: f.Column, Key: toolsKey,
				Message:    "unbalanced parentheses: " + strconv.Quote(clip(tool, 100)) + " is read as one tool",
				Suggestion: `close each "(" before the next tool, as in "Bash(git:*) Read"`}
			if f.Value.Kind == Sequence {
				p.Suggestion = `close each "(" in the same item; quote an item that contains a comma`
			}
			d.Problems = append(d.Problems, p)
		}
		return
	}
}
