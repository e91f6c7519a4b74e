package toolshelf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
)

// Recall is the share of queries whose command is the first result, or one of the
// first five results.
type recall struct {
	asked, first, five int
}

func (r *recall) ask(t *testing.T, c *toolshelf.Catalog, query, want string) {
	t.Helper()
	found, err := c.Search(t.Context(), query, 5)
	if err != nil {
		t.Fatal(err)
	}
	r.asked++
	for i, result := range found.Results {
		if result.Name != want {
			continue
		}
		r.five++
		if i == 0 {
			r.first++
			return
		}
	}
	var names []string
	for _, result := range found.Results {
		names = append(names, result.Name)
	}
	t.Logf("%s: %q finds %s", want, query, strings.Join(names, ", "))
}

func (r *recall) check(t *testing.T, first, five float64) {
	t.Helper()
	atFirst, atFive := float64(r.first)/float64(r.asked), float64(r.five)/float64(r.asked)
	t.Logf("%d queries: recall is %.3f at 1 and %.3f at 5", r.asked, atFirst, atFive)
	if !(atFirst >= first && atFive >= five) {
		t.Errorf("recall is %.3f at 1 and %.3f at 5; at least %.3f and %.3f are wanted", atFirst, atFive, first, five)
	}
}

// TestCorpusRecall derives queries from public commands by fixed rules. Each
// collection is a catalog of its own.
func TestCorpusRecall(t *testing.T) {
	type subject struct {
		catalog *toolshelf.Catalog
		command toolshelf.Command
	}
	var subjects []subject
	for _, root := range layersBelow(t, filepath.Join(corpus(t), "commands")) {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir("."), toolshelf.WithNestedCommands(), toolshelf.WithLooseNames())
		for info, err := range c.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			command, err := c.Get(t.Context(), info.Name)
			if err != nil {
				t.Fatal(err)
			}
			subjects = append(subjects, subject{c, command})
		}
	}
	for _, rule := range []struct {
		name        string
		query       func(c toolshelf.Command, number int) string // "" if the command yields no query
		first, five float64                                      // the required recall
	}{
		{"three words of the description", threeWords, 0.91, 0.99},
		{"the name with one typing error", mistypedName, 0.93, 1},
		{"a heading of the body", middleHeading, 0.38, 0.63},
		{"the full description", fullDescription, 0.98, 1},
	} {
		t.Run(rule.name, func(t *testing.T) {
			var r recall
			for number, s := range subjects {
				if query := strings.TrimSpace(rule.query(s.command, number)); query != "" {
					r.ask(t, s.catalog, query, s.command.Name)
				}
			}
			r.check(t, rule.first, rule.five)
		})
	}
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

// threeWords returns the first, the middle and the last of the distinct words of
// four letters or more.
func threeWords(c toolshelf.Command, _ int) string {
	var words []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(c.Metadata.Description, isNoLetter) {
		if utf8.RuneCountInString(w) >= 4 && !seen[strings.ToLower(w)] {
			seen[strings.ToLower(w)] = true
			words = append(words, w)
		}
	}
	if len(words) < 3 {
		return ""
	}
	return strings.Join([]string{words[0], words[len(words)/2], words[len(words)-1]}, " ")
}

// mistypedName returns the name with a typing error in the middle of the first of
// its longest words. The number selects one of four kinds of errors.
func mistypedName(c toolshelf.Command, number int) string {
	longest := ""
	for _, w := range strings.FieldsFunc(c.Name, isNoLetter) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	w := []rune(longest)
	if len(w) < 4 {
		return ""
	}
	i := len(w) / 2
	begin, end := string(w[:i]), string(w[i+1:])
	wrong := []string{
		begin + end,
		begin + "x" + string(w[i]) + end,
		begin + "x" + end,
		string(w[:i-1]) + string(w[i]) + string(w[i-1]) + end,
	}[number%4]
	return strings.Replace(c.Name, longest, wrong, 1)
}

// middleHeading returns the middle heading.
func middleHeading(c toolshelf.Command, _ int) string {
	var headings []string
	for line := range strings.Lines(c.Content) {
		if heading := strings.TrimSpace(strings.TrimLeft(line, "#")); heading != "" && line[0] == '#' {
			headings = append(headings, heading)
		}
	}
	if len(headings) == 0 {
		return ""
	}
	return headings[len(headings)/2]
}

// fullDescription returns the description, cut to the maximum length of a query.
func fullDescription(c toolshelf.Command, _ int) string {
	d := []rune(c.Metadata.Description)
	return string(d[:min(len(d), 500)])
}

// TestQuestionsFindTheirCommands asks for commands without using their names.
func TestQuestionsFindTheirCommands(t *testing.T) {
	questions, err := os.ReadFile("testdata/search_questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	c := catalog(t, toolshelf.WithRoot("examples/sample/project"), toolshelf.WithNestedCommands())
	var r recall
	for line := range strings.Lines(string(questions)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, question, _ := strings.Cut(line, " ")
		if _, err := c.Get(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		r.ask(t, c, strings.TrimSpace(question), name)
	}
	if r.asked != 40 {
		t.Errorf("%d questions, want 40", r.asked)
	}
	r.check(t, 0.27, 0.57)
}
