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
// the answer. Questions panics if the text has no question.
func Questions(text string) iter.Seq[Question] {
	return func(yield func(Question) bool) {
		q, asked := Question{}, false
		for line := range strings.SplitSeq(text, "\n") {
			question, ok := strings.CutPrefix(line, "\t")
			if q.Line++; !ok && line != "" && line[0] != '#' {
				q.Title = line
			}
			q.Query, q.Want, q.Asks = strings.Cut(question, " ->")
			asked = asked || ok
			if q.Want = strings.TrimSpace(q.Want); ok && !yield(q) {
				return
			}
		}
		if !asked {
			panic("the text has no question")
		}
	}
}

// Answer asks the questions of a text. The query of a question is a word and its arguments. An
// argument is a word, or texts such as "a\n" and 64*"x", joined by "+".
func Answer(
	t *testing.T, text string, answers map[string]func(t *testing.T, arguments ...string) string,
) {
	for q := range Questions(text) {
		word, rest, _ := strings.Cut(q.Query, " ")
		t.Run(q.Title, func(t *testing.T) {
			if answers[word] == nil {
				t.Fatalf("line %d: no question %q", q.Line, word)
			}
			if got := answers[word](t, Arguments(rest)...); got != q.Want {
				t.Errorf("line %d: %s\n got %s\nwant %s", q.Line, q.Query, got, q.Want)
			}
		})
	}
}

// Files returns the files of a text. Each line has the path and the text of a file, as arguments of a
// question, unless the line begins with "#". Files panics on any other line.
func Files(text string) map[string]string {
	files := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		switch file := Arguments(line); {
		case line == "" || line[0] == '#':
		case len(file) == 2:
			files[file[0]] = file[1]
		default:
			panic("not the path and the text of a file: " + line)
		}
	}
	return files
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
