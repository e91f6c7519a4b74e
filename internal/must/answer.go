package must

import (
	"iter"
	"strconv"
	"strings"
	"testing"
)

// A Question is a line of a text for [Answer].
type Question struct {
	Title, Query, Want string
	Line               int
	Asks               bool // the line has "->"
}

// Questions ranges over the questions of a text. Each line in the first column is the title of the
// next questions, unless it begins with "#". A question is a line with a tab, a query, and "->" and
// the answer.
func Questions(text string) iter.Seq[Question] {
	return func(yield func(Question) bool) {
		q := Question{}
		for line := range strings.SplitSeq(text, "\n") {
			question, ok := strings.CutPrefix(line, "\t")
			if q.Line++; !ok && line != "" && line[0] != '#' {
				q.Title = line
			}
			q.Query, q.Want, q.Asks = strings.Cut(question, " ->")
			if q.Want = strings.TrimSpace(q.Want); ok && !yield(q) {
				return
			}
		}
	}
}

// Answer asks the questions of a text. The query of a question is a word and its arguments. An
// argument is a word, or texts such as "a\n" and 64*"x", joined by "+".
func Answer(
	t *testing.T, text string, answers map[string]func(t *testing.T, arguments ...string) string,
) {
	asked := 0
	for q := range Questions(text) {
		word, rest, _ := strings.Cut(q.Query, " ")
		asked++
		t.Run(q.Title, func(t *testing.T) {
			if answers[word] == nil {
				t.Fatalf("line %d: no question %q", q.Line, word)
			}
			if got := answers[word](t, Arguments(rest)...); got != q.Want {
				t.Errorf("line %d: %s\n got %s\nwant %s", q.Line, q.Query, got, q.Want)
			}
		})
	}
	if asked == 0 {
		t.Error("the text has no question")
	}
}

// Arguments returns the arguments of a question.
func Arguments(text string) (all []string) {
	for text != "" {
		argument := ""
		for more := true; more; {
			times, quoted, ok := strings.Cut(text, "*")
			n, err := strconv.Atoi(times)
			if !ok || err != nil {
				n, quoted = 1, text
			}
			prefix, err := strconv.QuotedPrefix(quoted)
			if err != nil {
				argument, text, _ = strings.Cut(text, " ")
				break
			}
			part, _ := strconv.Unquote(prefix)
			argument += strings.Repeat(part, n)
			text, more = strings.CutPrefix(quoted[len(prefix):], "+")
		}
		all, text = append(all, argument), strings.TrimPrefix(text, " ")
	}
	return all
}
