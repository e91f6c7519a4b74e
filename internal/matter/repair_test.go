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

// TestSuggestionsOfOneFile applies all suggestions for a broken header once.
func TestSuggestionsOfOneFile(t *testing.T) {
	for _, tt := range []struct{ header, want string }{
		{"a: [b] c\nmetadata:\n\td: e\n\n# f\ng: \"h\n", "a: \"[b] c\"\nmetadata:\n  d: e\n\n# f\ng: \"h\"\n"},
		{"description: \"Use this\nwhen asked\nname: [x\n", "description: \"Use this when asked\"\nname: \"[x\"\n"},
		{"metadata:\n  a: b #1\n  c: &d e\n  f: !g h\n", "metadata:\n  a: \"b #1\"\n  c: \"&d e\"\n  f: \"!g h\"\n"},
		{"metadata:\n  a: &b c\n  d: e #1\n  f: g #2\nh: *b\n", "metadata:\n  a: &b c\n  d: \"e #1\"\n  f: \"g #2\"\nh: *b\n"},
		{"metadata:\r\n  a: b #1\r\n  c:\r\n    - d #2\r\n", "metadata:\n  a: \"b #1\"\n  c:\n    - \"d #2\"\n"},
		{"description: a\n  b #1\nlicense: MIT #2\n", "description: \"a b #1\"\nlicense: \"MIT #2\"\n"},
		{"a: [b] c\nstray\n  more\n", "a: \"[b] c\"\nstray\n  more\n"},
		{"license: [MIT\ncompatibility: {a\nmodel:\n  x: [y] z\n", "license: \"[MIT\"\ncompatibility: \"{a\"\nmodel: \"x: [y] z\"\n"},
		{"a: \"b\nc: #1\nd: \"e\"\n", "a: \"b\"\nc: #1\nd: \"e\"\n"}, // c: "#1" alone would close the quote of a
		{"a: b #1\nc: ]\n? a\n", "a: \"b #1\"\nc: ]\n? a\n"},         // in valid YAML, the last line removes the value of a
		{"a: [b] c\na: [d] e\n", "a: [b] c\na: \"[d] e\"\n"},         // another suggestion is to remove the first value
	} {
		for _, before := range []string{"", "\n\n"} {
			file := before + "---\n" + tt.header + "---\nText.\n"
			if got, want := followEach(t, file), before+"---\n"+tt.want+"---\nText.\n"; got != want {
				t.Errorf("%q:\ngot  %q\nwant %q", file, got, want)
			}
		}
	}
}

// TestSuggestionsKeepTheMeaning applies the suggestions for broken headers. Parse reads
// the fields that the author meant before and after the corrections.
func TestSuggestionsKeepTheMeaning(t *testing.T) {
	for _, tt := range []struct {
		header string
		want   string // as JSON
		left   string // problems without a suggestion, as in readOf
	}{
		// Tabs.
		{"metadata:\n\tversion: 1\n", `{"metadata":{"version":1}}`, ""},
		{"allowed-tools:\n\t- Read\n", `{"allowed-tools":["Read"]}`, ""},
		{"allowed-tools:\n\t- Read\n\t- Bash(git:*)\nmodel: x\n", `{"allowed-tools":["Read","Bash(git:*)"],"model":"x"}`, ""},
		{"metadata:\r\n\tversion: 1\r\n\tauthor: x\r\n", `{"metadata":{"version":1,"author":"x"}}`, ""},
		{"metadata:\n\ta:\n\t\tb: c\n\td: e\n", `{"metadata":{"a":{"b":"c"},"d":"e"}}`, ""},
		{"hooks:\n\t- a: b\n\t  c: d\n\t- a: e\n", `{"hooks":[{"a":"b","c":"d"},{"a":"e"}]}`, ""},
		{"hooks:\n\t- a: b\n\t\tc: d\n", `{"hooks":[{"a":"b","c":"d"}]}`, ""},
		{"metadata:\n  a: b\n\tc: d\n", `{"metadata":{"a":"b","c":"d"}}`, ""},
		{"metadata:\n    a: b\n\tc: d\n", `{"metadata":{"a":"b","c":"d"}}`, ""},
		{"metadata:\n  a:\n\tb: c\n", `{"metadata":{"a":{"b":"c"}}}`, ""},
		{"description: Use when\n\tasked\n", `{"description":"Use when asked"}`, ""},
		{"description: |\n\tfirst\n\tsecond\n", `{"description":"first\nsecond\n"}`, ""},
		{"description: >-\n\tfirst\n\tsecond\n", `{"description":"first second"}`, ""},
		{"description: |\n\tx\n\t \n", `{"description":"x\n \n"}`, ""},
		{"description: # Title\n\t# c\n", `{"description":"Title"}`, ""},
		{"description:\n\tUse when: asked\n", `{"description":"Use when: asked"}`, ""},
		{"metadata:\n\ta: b: c\n\td: \"e\n", `{"metadata":{"a":"b: c","d":"e"}}`, ""},
		{"allowed-tools: [Read,\n\tWrite]\n", `{"allowed-tools":["Read","Write"]}`, ""},

		{"\tname: x\n\tmetadata:\n\t\ta: b\n", `{"name":"x","metadata":{"a":"b"}}`, ""},

		// Quotes.
		{"description: \"unterminated\n", `{"description":"unterminated"}`, ""},
		{"description: 'unterminated\nmodel: x\n", `{"description":"unterminated","model":"x"}`, ""},
		{"description: \"Use this\n  when asked\nname: x\n", `{"description":"Use this when asked","name":"x"}`, ""},
		{"description: \"Use this\nwhen asked\nname: x\n", `{"description":"Use this when asked","name":"x"}`, ""},
		{"description: \"say \\\"hi\\\"\n", `{"description":"say \"hi\""}`, ""},
		{"description: \"Say \"hi\" twice\"\n", `{"description":"Say \"hi\" twice"}`, ""},
		{"description: \"Say(\"hi\") twice\"\n", `{"description":"Say(\"hi\") twice"}`, ""},
		{"description: \"Fix\" and \"Test\"\n", `{"description":"\"Fix\" and \"Test\""}`, ""},
		{"description: 'it's broken'\n", `{"description":"it's broken"}`, ""},
		{"description: 'it's broken\n", `{"description":"it's broken"}`, ""},
		{"description: 'it''s broken\n", `{"description":"it's broken"}`, ""},
		{"description: \"C:\\dir\"\n", `{"description":"C:\\dir"}`, ""},
		{"description: \"a\\/b \\ud83d\\ude00\"\n", `{"description":"a/b 😀"}`, ""},
		{"\"my key\": \"x\n'a: b': [c] d\nmodel: y\n", `{"my key":"x","a: b":"[c] d","model":"y"}`, ""},

		// Colons, brackets and other signs.
		{"description: Review: is it correct?\nmodel: x\n", `{"description":"Review: is it correct?","model":"x"}`, ""},
		{"description: Use when: asked\n  or told: so\n", `{"description":"Use when: asked or told: so"}`, ""},
		{"description: > Use this\n  when: asked\n", `{"description":"Use this when: asked"}`, ""},
		{"argument-hint: [pr] [priority]\n", `{"argument-hint":"[pr] [priority]"}`, ""},
		{"argument-hint: [file\n", `{"argument-hint":"[file"}`, ""},
		{"argument-hint: {a} | {b}\n", `{"argument-hint":"{a} | {b}"}`, ""},
		{"a: {{X}} y\nb: 1\n", `{"a":"{{X}} y","b":1}`, ""},
		{"a: @x\nb: `c`\nd: %e\nf: *g*\n", "{\"a\":\"@x\",\"b\":\"`c`\",\"d\":\"%e\",\"f\":\"*g*\"}", ""},
		{"allowed-tools: [Read, Write\nmodel: x\n", `{"allowed-tools":["Read","Write"],"model":"x"}`, ""},
		{"allowed-tools: [Read, \"Bash(git: *)\", 1\n", `{"allowed-tools":["Read","Bash(git: *)",1]}`, ""},
		{"allowed-tools:\n  - Bash(git: *)\n  - Read\n", `{"allowed-tools":["Bash(git: *)","Read"]}`, ""},
		{"tags:\n- *bold\n- @x\n- y\n", `{"tags":["*bold","@x","y"]}`, ""},
		{"metadata:\n  author: Foo: bar\n  version: \"1.0\n  more:\n    a: |\n      b: c: d\n    e: [f] g\n", `{"metadata":{"author":"Foo: bar","version":"1.0","more":{"a":"b: c: d\n","e":"[f] g"}}}`, ""},

		// Lines without indentation.
		{"description: Use: this\nwhen asked\n\n<example>\nuser: \"a\"\n  b\n</example>\n\n# c\nmodel: x\n", `{"description":"Use: this\nwhen asked\n\n<example>\nuser: \"a\"\n  b\n</example>","model":"x"}`, ""},
		{"description: # Title\na\nmodel: x\n", `{"description":"Title\na","model":"x"}`, ""},
		{"description: >\nUse this\nmodel: x\n", `{"description":"Use this","model":"x"}`, ""},

		// Comments, anchors and tags.
		{"description: # Title\n", `{"description":"Title"}`, ""},
		{"description: Fix #1 in the parser\n", `{"description":"Fix #1 in the parser"}`, ""},
		{"argument-hint: #<issue> [--now]\n", `{"argument-hint":"#<issue> [--now]"}`, ""},

		{"license: MIT #1\ndescription: Reads # c\n", `{"license":"MIT #1","description":"Reads # c"}`, ""},
		{"tags: [a, b] #old\nargument-hint: [a] #old\n", `{"tags":["a","b"],"argument-hint":"[a] #old"}`, ""},
		{"tags:\n  - a\n  - b #2\nmetadata:\n  issue: Fix #1\n  next: &x y\n", `{"tags":["a","b #2"],"metadata":{"issue":"Fix #1","next":"&x y"}}`, ""},
		{"&x a: b\n!y c: c\n", `{"a":"b","c":"c"}`, "FRONTMATTER_VALUE_CUT 2 a, FRONTMATTER_VALUE_CUT 3 c"},
		{"tags: [a, b #c]\n  ]\n", `{"tags":["a","b"]}`, "FRONTMATTER_VALUE_CUT 2 tags"},

		{"license: MIT #2\n? k\n", `{"license":"MIT #2","k":null}`, ""},
		{"license: &l MIT\nname: a: b\n", `{"license":"&l MIT","name":"a: b"}`, ""},

		// Without a suggestion, because the result would not be certain.
		{"tags: [a, b\n- c\n", `{"tags":["a","b"]}`, "FRONTMATTER_RECOVERED 3, FRONTMATTER_RECOVERED 2 tags"},
		{"metadata:\n  version: 1\n bad: x\n", `{"metadata":"version: 1 bad: x"}`, "FRONTMATTER_RECOVERED 2 metadata"},
		{"metadata:\n  my key: a: b\n", `{"metadata":"my key: a: b"}`, "FRONTMATTER_RECOVERED 2 metadata"},
		{"metadata: {a: b\nmodel: x\n", `{"metadata":"{a: b","model":"x"}`, "FRONTMATTER_RECOVERED 2 metadata"},
		{"tools: [a, [b\n", `{"tools":"[a, [b"}`, "FRONTMATTER_RECOVERED 2 tools"},
		{"base: &b {x: 1}\nother: *b\n", `{"base":{"x":1},"other":{"x":1}}`, ""},
		{"base: &b {x: 1}\nother: *b\nbad: [a] b\n", `{"base":{"x":1},"other":{"x":1},"bad":"[a] b"}`, ""},
	} {
		file := "---\n" + tt.header + "---\nText.\n"
		corrected, left := followAll(t, file)
		doc, _ := Parse([]byte(corrected), true)
		if got := string(doc.AppendJSON(nil)); got != tt.want || corrected[doc.Body:] != "Text.\n" {
			t.Errorf("%q: corrected to %q, which is %s, want %s", tt.header, corrected, got, tt.want)
		}
		if got := readOf(Document{Problems: left}, "").problems; got != tt.left {
			t.Errorf("%q: the problems %q are left, want %q", tt.header, got, tt.left)
		}
		checkSuggestions(t, file)
	}
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
		if got := string(doc.AppendJSON(nil)); got != `{"a":"b","c":"[d] e"}` || len(left) > 0 {
			t.Errorf("%q: corrected to %q, which is %s with %v", file, corrected, got, left)
		}
	}
	corrected, left := followAll(t, "---\na: caf\xe9\nb: \"caf\xe9\n---\n")
	doc, _ := Parse([]byte(corrected), true)
	if got := string(doc.AppendJSON(nil)); got != `{"a":"café","b":"café"}` || len(left) > 0 {
		t.Errorf("corrected to %q, which is %s with %v", corrected, got, left)
	}
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
