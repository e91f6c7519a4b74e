package matter

import (
	"iter"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Tools returns the tools of allowed-tools. The value is a list, or a text with blanks or commas
// between the tools.
func Tools(v Value) (tools []string) {
	if v.Kind == Sequence {
		return v.Strings()
	}
	for tool := range EachTool(v.String()) {
		tools = append(tools, tool)
	}
	return tools
}

// EachTool yields the tools of a text, as parts of the text, and whether the parentheses of the tool
// are balanced. Blanks and commas in parentheses do not separate tools, as in "Bash(git add:*) Read".
func EachTool(text string) iter.Seq2[string, bool] {
	return EachPart(text, "(", ")", " ,\t\r\n")
}

// EachPart yields the parts of a text between separators outside of brackets, and whether the
// brackets of the part are balanced.
func EachPart(text, opening, closing, separators string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		begin, depth, matched := 0, 0, true
		for i := 0; i <= len(text); i++ {
			if i < len(text) {
				switch c := text[i]; {
				case strings.IndexByte(opening, c) >= 0:
					depth++
				case strings.IndexByte(closing, c) >= 0:
					matched = matched && depth > 0
					depth = max(depth-1, 0)
				}
				if depth > 0 || strings.IndexByte(separators, text[i]) < 0 {
					continue
				}
			}
			if begin < i && !yield(text[begin:i], depth == 0 && matched) {
				return
			}
			begin, matched = i+1, true
		}
	}
}

// unbalancedTool returns the first tool of a value with unbalanced parentheses, or "".
func unbalancedTool(v Value) string {
	if v.Kind == Sequence {
		for _, item := range v.Items() {
			tool := unbalancedTool(item)
			if tool != "" && item.Kind != Sequence && item.Kind != Mapping {
				return tool
			}
		}
		return ""
	}
	for tool, balanced := range EachTool(v.String()) {
		if !balanced {
			return tool
		}
	}
	return ""
}

const toolsKey = "allowed-tools"

// checkTools reports a tool with unbalanced parentheses.
func (d *Document) checkTools() {
	for i := len(d.Fields) - 1; i >= 0; i-- {
		f := &d.Fields[i]
		if f.Key != toolsKey {
			continue
		}
		if tool := unbalancedTool(f.Value); tool != "" {
			suggestion := `close each "(" before the next tool, as in "Bash(git:*) Read"`
			if f.Value.Kind == Sequence {
				suggestion = `close each "(" in the same item; quote an item that contains a comma`
			}
			p := d.report(problem.AllowedToolsUnbalanced, f.Line, "unbalanced parentheses: "+
				strconv.Quote(escape.Cut(tool, 100))+" is read as one tool", suggestion)
			p.Column, p.Key = f.Column, toolsKey
		}
		return
	}
}
