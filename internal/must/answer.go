package must

import (
	"strconv"
	"strings"
	"testing"
)

// Answer asks the questions of a text. Each line in the first column is the title of the next
// questions, unless it begins with "#". A question is a line with a tab, a word, its arguments,
// "->" and the answer. An argument is a word, or texts such as "a\n" and 64*"x", joined by "+".
func Answer(
	t *testing.T, text string, answers map[string]func(t *testing.T, arguments ...string) string,
) {
	title, asked := "", 0
	for n, line := range strings.Split(text, "\n") {
		question, ok := strings.CutPrefix(line, "\t")
		switch {
		case ok:
			query, want, _ := strings.Cut(question, " ->")
			word, rest, _ := strings.Cut(query, " ")
			asked++
			t.Run(title, func(t *testing.T) {
				if answers[word] == nil {
					t.Fatalf("line %d: no question %q", n+1, word)
				}
				want := strings.TrimSpace(want)
				if got := answers[word](t, Arguments(rest)...); got != want {
					t.Errorf("line %d: %s\n got %s\nwant %s", n+1, query, got, want)
				}
			})
		case line != "" && line[0] != '#':
			title = line
		}
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
