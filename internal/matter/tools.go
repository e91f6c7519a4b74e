package matter

import (
	"strconv"
	"strings"

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
