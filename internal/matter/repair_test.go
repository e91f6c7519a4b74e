package matter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// follow applies the suggestion of a problem to a file, as an author applies the
// suggestion. ok is false for advice without a certain result.
func follow(file string, p problem.Problem) (corrected string, ok bool) {
	lines := strings.SplitAfter(file, "\n")
	field, isField := Written(p.Suggestion)
	fence, closing := strings.CutPrefix(p.Suggestion, `add a line "`)
	if strings.HasPrefix(p.Suggestion, `put "|-" after `) {
		return writeBlock(file, p.Key), true
	}
	var width int
	if n, _ := fmt.Sscanf(p.Suggestion, "replace each tab at the beginning of a line with %d blanks", &width); n > 0 {
		return retab(file, width), true
	}
	var fences [2]int
	written, _ := fmt.Sscanf(p.Suggestion, `write "---" in line %d and in line %d`, &fences[0], &fences[1])
	switch {
	case written > 0:
		for _, n := range fences[:written] {
			lines[n-1] = "---\n"
		}
		return strings.Join(lines, ""), true
	case isField:
		from, to := p.Line, p.Line
		fmt.Sscanf(p.Suggestion, "replace lines %d to %d by", &from, &to)
		return strings.Join(lines[:from-1], "") + strings.ReplaceAll(field, lineBreak, "\n") + "\n" + strings.Join(lines[to:], ""), true
	case closing:
		at := p.Line
		for at < len(lines) && strings.TrimSpace(lines[at]) != "" {
			at++
		}
		before := strings.Join(lines[:at], "")
		if !strings.HasSuffix(before, "\n") {
			before += "\n"
		}
		fence, _, _ = strings.Cut(fence, `"`)
		return before + fence + "\n" + strings.Join(lines[at:], ""), true
	}
	switch p.Suggestion {
	case "remove the blank lines":
		return strings.TrimLeft(file, " \t\r\n"), true
	case `begin the file with a line that contains only "---"`:
		return "---\n" + strings.Join(lines[p.Line:], ""), true
	case "remove the other values":
		for i, line := range lines[:p.Line-1] {
			if key, _, _ := TopLevelKey(line); key == p.Key {
				return strings.Join(slices.Delete(lines, i, i+1), ""), true
			}
		}
	case "remove the character":
		line := []rune(lines[p.Line-1])
		lines[p.Line-1] = string(slices.Delete(line, p.Column-1, p.Column))
		return strings.Join(lines, ""), true
	case "save the file as UTF-8":
		var text strings.Builder
		for _, b := range []byte(file) {
			text.WriteRune(rune(b)) // from Latin-1
		}
		return text.String(), true
	}
	return "", false
}

// followAll applies suggestions until none is left, and returns the file and the
// problems that remain.
func followAll(t interface{ Fatalf(string, ...any) }, file string) (string, []problem.Problem) {
	for range 2 * problem.Max {
		doc, _ := Parse([]byte(file), true)
		i := slices.IndexFunc(doc.Problems, func(p problem.Problem) bool { _, ok := follow(file, p); return ok })
		if i < 0 {
			return file, doc.Problems
		}
		file, _ = follow(file, doc.Problems[i])
	}
	t.Fatalf("the suggestions do not end, at last for %q", file)
	return "", nil
}

// followEach applies all suggestions of one Parse, beginning at the end of the file.
// Suggestions for the same lines must be equal.
func followEach(t interface{ Errorf(string, ...any) }, file string) string {
	doc, _ := Parse([]byte(file), true)
	problems := slices.Clone(doc.Problems)
	first := func(p problem.Problem) int {
		from := p.Line
		fmt.Sscanf(p.Suggestion, "replace lines %d", &from)
		return from
	}
	slices.SortStableFunc(problems, func(a, b problem.Problem) int { return first(b) - first(a) })
	last := problem.Problem{}
	for _, p := range problems {
		if _, ok := Written(p.Suggestion); !ok || p.Suggestion == last.Suggestion && p.Key == last.Key {
			continue
		}
		if p.Key == last.Key {
			t.Errorf("%q: %q and %q correct the same field", file, p.Suggestion, last.Suggestion)
		}
		file, _ = follow(file, p)
		last = p
	}
	return file
}

// TestSuggestionsForFences applies the suggestions for a header that Parse does not find.
func TestSuggestionsForFences(t *testing.T) {
	for _, file := range []string{
		"---\na: b\nc: [d] e\n\nText.\n", "---\na: b\nc: [d] e", "\n \n---\na: b\nc: [d] e\n---\nText.\n", " ---\na: b\nc: [d] e\n---\nText.\n",
		"----\na: b\nc: [d] e\n----\nText.\n", "---\na: b\nc: x\nc: [d] e\n---\n", "---\na: b\x00\x01\nc: [d] e\n---\n",
		"---\r\na: b\r\nc: [d] e\r\n---\r\n", "\ufeff---\na: b\nc: [d] e\n---\n",
	} {
		corrected, left := followAll(t, file)
		doc, _ := Parse([]byte(corrected), true)
		must.Equal(t, file, `{"a":"b","c":"[d] e"}`, string(doc.AppendJSON(nil)))
		must.Len(t, file, 0, left)
	}
	corrected, left := followAll(t, "---\na: caf\xe9\nb: \"caf\xe9\n---\n")
	doc, _ := Parse([]byte(corrected), true)
	must.Equal(t, corrected, `{"a":"café","b":"café"}`, string(doc.AppendJSON(nil)))
	must.Len(t, corrected, 0, left)
}

// checkSuggestions applies each suggestion to write a field alone, and then all of these
// suggestions. The fields keep the values that Parse reads in the broken header. If the
// problem is a part that YAML cuts, the field keeps its type. All keys remain. A field
// needs no second correction.
func checkSuggestions(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, file string) (followed int) {
	doc, _ := Parse([]byte(file), true)
	doc.Nodes() // reads all headers
	offered := make(map[string]problem.Problem)
	for _, p := range doc.Problems {
		if strings.Contains(p.Suggestion, "\n") {
			t.Fatalf("%q: the suggestion %q has two lines", file, p.Suggestion)
		}
		if _, ok := Written(p.Suggestion); ok {
			followed++
			offered[p.Key] = p
		}
	}
	if followed == 0 {
		return 0
	}
	check := func(corrected string, offered map[string]problem.Problem) {
		after, _ := Parse([]byte(corrected), true)
		count := make(map[string]int)
		for _, f := range after.Fields {
			count[f.Key]++
		}
		read := newScope(doc.Header)
		for key, was := range LastValues(doc.Fields) {
			is, found := after.Get(key)
			cut := offered[key].Code == problem.FrontmatterValueCut
			switch {
			case !found:
				t.Fatalf("%q: the key %q is missing in %q", file, key, corrected)
			case is.Equal(was), cut && (was.Kind < Sequence || is.Kind == was.Kind || isShown(key)), read.isShared(was.Text):
			default:
				t.Fatalf("%q: %s turns into %s in %q", file, was.AppendJSON(nil), is.AppendJSON(nil), corrected)
			}
		}
		for _, p := range after.Problems {
			_, again := Written(p.Suggestion)
			if _, ok := offered[p.Key]; ok && count[p.Key] == 1 && (again || p.Code == problem.FrontmatterRecovered) {
				t.Fatalf("%q: %+v is left in %q", file, p, corrected)
			}
		}
	}
	check(followEach(t, file), offered)
	for key, p := range offered {
		corrected, _ := follow(file, p)
		check(corrected, map[string]problem.Problem{key: p})
	}
	return followed
}

// TestSuggestionsForDrawnHeaders applies the suggestions for headers with random defects.
func TestSuggestionsForDrawnHeaders(t *testing.T) {
	followed, drawn := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			drawn++
			header := drawHeader(t)
			if strings.ContainsAny(strings.ReplaceAll(header, "\r\n", "\n"), "\r\u0085\u2028") {
				continue // line breaks of YAML that an author does not see
			}
			if rapid.IntRange(0, 2).Draw(t, "tabs") == 0 {
				header = strings.ReplaceAll(header, rapid.SampledFrom([]string{"\n  ", "\n    "}).Draw(t, "blanks"), "\n\t")
			}
			followed += checkSuggestions(t, "---\n"+header+"---\nText.\n")
		}
	})
	if followed < drawn/10 { // usually a half
		t.Errorf("only %d suggestions for %d headers", followed, drawn)
	}
}

// Parts of broken headers.
var (
	brokenKeys   = strings.Fields("name description argument-hint allowed-tools metadata model Description descripton tags a \"q\" 's' é")
	brokenValues = []string{"", "", "x", "é", "true", "null", "#1", "# c", "Fix #1", "x # c", "\"x", "'x", "x\"", "x'", "\"}", "\"x\" y", "'it's", "\"a\\qb\"", "\"", "'", "[", "]", "}", "[]", "[a, b", "[a] b",
		"[a, [b]", "[a, \"b", "{a", "{a: b", "{a: b}", "a: b", "a:", ":", "|", ">-", "|2", "> x", "@x", "%x", "*a", "&a x", "!a x", "*", "- a", "? a", "<<", "[Read, Bash(x:*)]", "\\"}
	brokenLines = []string{"", "é", "x", "- x", "- a: b", "a: b", "a: b: c", "a:", "a: |", "a: \"x", "a: 'it's'", "- [x", "- *a", "- @x", "a: b #1", "- &a b", "\"", "'", "]", "}", "]  # x", "# c", "#c", "x\"", "? a", "...", "%YAML 1.1", "key:value", ": x",
		"<example>", "<example>", "</example>", "</example>", "Examples:", "a\\n<example>\\nb", "See https://example.com"}
)

// TestSuggestionsForBrokenHeaders applies the suggestions for headers with several
// broken fields, such as quotes that end in another field.
func TestSuggestionsForBrokenHeaders(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	followed, headers := 0, 2_000
	if testing.Short() {
		headers = 200
	}
	for range headers {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			if random.IntN(6) == 0 {
				b.WriteString(pick(brokenLines...) + "\n")
				continue
			}
			b.WriteString(pick(brokenKeys...) + ":" + pick(" ", " ", " ", "\t") + pick(brokenValues...) + pick("\n", "\n", " \n", " # c\n"))
			for random.IntN(3) == 0 {
				b.WriteString(pick("  ", "  ", "    ", " ", "\t", "\t\t", "  \t", "") + pick(brokenLines...) + "\n")
			}
		}
		header := b.String()
		if random.IntN(4) == 0 {
			header = strings.ReplaceAll(header, "\n", "\r\n")
		}
		followed += checkSuggestions(t, "---\n"+header+"---\nText.\n")
	}
	if followed < headers/2 { // usually one for each header
		t.Errorf("only %d suggestions for %d headers", followed, headers)
	}
}

// TestCorpusSuggestions applies the suggestions for public files.
func TestCorpusSuggestions(t *testing.T) {
	followed := 0
	corpusFiles(t, func(path string, data []byte) {
		followed += checkSuggestions(named{t, path}, string(data))
	})
	t.Logf("%d suggestions", followed)
}

// A named test states the path of a file.
type named struct {
	*testing.T
	path string
}

func (n named) Fatalf(format string, args ...any) {
	n.Errorf("%s: %s", n.path, fmt.Sprintf(format, args...))
}

// A small header with many defects must not cost a list many times the work of a Parse.
func TestAHeaderWithManyDefectsIsReadFewTimes(t *testing.T) {
	hosttest.NeedsOptimization(t)
	allocated := func(defects int) float64 {
		var text strings.Builder
		for i := range 400 {
			value := "text\n"
			if i < defects {
				value = "text #comment\n"
			}
			fmt.Fprintf(&text, "key%d: %s", i, value)
		}
		file := []byte("---\n" + text.String() + "---\n")
		return testing.AllocsPerRun(1, func() { Parse(file, true) })
	}
	few, many := allocated(2), allocated(400)
	if many > 10*few {
		t.Errorf("2 defects need %.0f allocations, and 400 defects need %.0f", few, many)
	}
}

// BenchmarkParseOneLine reports the time of a byte of a long line, in relation to a short line.
func BenchmarkParseOneLine(b *testing.B) {
	parse := func(n int) time.Duration {
		text := []byte("---\nmetadata: {" + strings.Repeat("k: a, ", n/6) + "}\n---\n")
		start := time.Now()
		Parse(text, true)
		return time.Since(start)
	}
	var short, long time.Duration
	for b.Loop() {
		short += parse(4 << 10)
		long += parse(60 << 10)
	}
	b.ReportMetric(long.Seconds()/short.Seconds()/15, "x/byte")
}

func TestProblemsHaveColumns(t *testing.T) {
	for _, tt := range []struct {
		text string
		want problem.Problem
	}{
		{"---\na: b\nc: é\x00\n---\n", problem.Problem{Code: problem.ControlCharacter, Line: 3, Column: 5}},
		{"---\na: b\n---\né \xff\n", problem.Problem{Code: problem.NotUTF8, Line: 4, Column: 3}},
	} {
		doc, _ := Parse([]byte(tt.text), true)
		if len(doc.Problems) != 1 || doc.Problems[0].Code != tt.want.Code || doc.Problems[0].Line != tt.want.Line || doc.Problems[0].Column != tt.want.Column {
			t.Errorf("%q: got %+v, want %+v", tt.text, doc.Problems, tt.want)
		}
	}
}
