package matter

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/adrg/frontmatter"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// read is a document as the tests write it down.
type read struct {
	format   Format
	fields   string // as JSON
	body     string
	problems string // "class line key", separated by ", "
}

func readOf(doc Document, data string) read {
	var problems []string
	for _, p := range doc.Problems {
		problems = append(problems, strings.TrimSpace(fmt.Sprint(p.Code, " ", p.Line, " ", p.Key)))
	}
	return read{doc.Format, string(doc.AppendJSON(nil)), data[doc.Body:], strings.Join(problems, ", ")}
}

// A field of TOML and JSON has no line, also after blank lines.
func TestAFieldWithoutALineStaysWithoutALine(t *testing.T) {
	for _, text := range []string{"\n+++\na = 1\n+++\n", "\n{\"a\": 1}\n"} {
		if doc, _ := Parse([]byte(text), true); len(doc.Fields) != 1 || doc.Fields[0].Line != 0 || doc.Line != 2 {
			t.Errorf("%q: %+v", text, doc)
		}
	}
}

//go:embed testdata/texts.txt
var texts string

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"parse": func(t *testing.T, a ...string) string {
			doc, more := Parse([]byte(a[0]), true)
			must.Equal(t, "more of a whole file", false, more)
			got := readOf(doc, a[0])
			if got.format == "" {
				got.format = "none"
			}
			return strings.TrimSpace(
				fmt.Sprintf("%s %s %q %s", got.format, got.fields, got.body, got.problems))
		},
		"describe": func(t *testing.T, a ...string) string {
			file := "---\n" + a[0] + "---\nText.\n"
			checkSuggestions(t, file)
			doc, _ := Parse([]byte(file), true)
			var keys []string
			for _, f := range doc.Fields {
				keys = append(keys, f.Key)
			}
			problems := strings.Join(keys, " ") + ": " + readOf(doc, file).problems
			description, _ := doc.Get("description")
			return strings.TrimSpace(strconv.Quote(description.String()) + " " + problems)
		},
		"once": func(t *testing.T, a ...string) string {
			const begin, end = "---\n", "---\nText.\n"
			got := followEach(t, begin+a[0]+end)
			must.Equal(t, "after blank lines", "\n\n"+got, followEach(t, "\n\n"+begin+a[0]+end))
			return strconv.Quote(strings.TrimSuffix(strings.TrimPrefix(got, begin), end))
		},
		"correct": func(t *testing.T, a ...string) string {
			file := "---\n" + a[0] + "---\nText.\n"
			checkSuggestions(t, file)
			corrected, left := followAll(t, file)
			doc, _ := Parse([]byte(corrected), true)
			must.Equal(t, "the body", "Text.\n", corrected[doc.Body:])
			problems := readOf(Document{Problems: left}, "").problems
			return strings.TrimSpace(string(doc.AppendJSON(nil)) + " " + problems)
		},
		"subset": func(t *testing.T, a ...string) string {
			compareSubset(t, a[0])
			_, verdict := readSubset(a[0], 2)
			return [...]string{certain: "certain", invalid: "invalid", unsure: "unsure"}[verdict]
		},
	})
}

// TestNumbersInJSON covers the numbers of the core schema of YAML 1.2, section 10.3.2 of
// the specification. A client of skills compares the JSON with the YAML of the file.
func TestNumbersInJSON(t *testing.T) {
	for yaml, want := range map[string]string{
		"0": "0", "12": "12", "-12": "-12", "+12": "12", "007": "7", "-007": "-7", "+08": "8", "0777": "777", "000": "0", "-00": "-0",
		"1.50": "1.50", "1.": "1", "-1.": "-1", ".5": "0.5", "-.5": "-0.5", "+.5": "0.5", "00.50": "0.50", "0.": "0",
		"1e3": "1e3", "1E+3": "1E+3", "1.e3": "1e3", ".5e-1": "0.5e-1", "007e02": "7e02",
		"0x1F": "31", "0xff": "255", "0o17": "15", "0o0": "0", "0x00": "0",
		"12345678901234567890": "12345678901234567890", "00123456789012345678901234567890": "123456789012345678901234567890",
		"0xFFFFFFFFFFFFFFFFFF": "4722366482869645213695", "0o7777777777777777777777777": "37778931862957161709567",
		"0X1F": `"0X1F"`, "-0x1F": `"-0x1F"`, "+0o17": `"+0o17"`, "0b101": `"0b101"`, "0o8": `"0o8"`, "0x": `"0x"`, "0x1_F": `"0x1_F"`, "1_000": `"1_000"`, "190:20:30": `"190:20:30"`,
		".inf": `".inf"`, "-.Inf": `"-.Inf"`, ".nan": `".nan"`, "1e400": `"1e400"`, "0x" + strings.Repeat("F", 500): `"0x` + strings.Repeat("F", 500) + `"`,
		"1.2.3": `"1.2.3"`, ".": `"."`, "'007'": `"007"`, "!!str 0xFFFFFFFFFFFFFFFFFF": `"0xFFFFFFFFFFFFFFFFFF"`,
	} {
		for _, header := range []string{"a: " + yaml + "\n", "a: &x " + yaml + "\n"} { // the second header is not in the subset
			if strings.HasPrefix(yaml, "!") && strings.Contains(header, "&") {
				continue
			}
			doc, _ := Parse([]byte("---\n"+header+"---\n"), true)
			must.Equal(t, header, `{"a":`+want+`}`, string(doc.AppendJSON(nil)))
		}
	}
}

func TestHostileHeadersAreRefusedFast(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'm'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for name, header := range map[string]string{
		"aliases of aliases":    bomb,
		"10,000 open brackets":  "a: " + strings.Repeat("[", 10_000) + "\n",
		"10,000 open braces":    "a: " + strings.Repeat("{a: ", 10_000) + "\n",
		"10,000 nested items":   "a:\n  " + strings.Repeat("- ", 10_000) + "x\n",
		"a list in itself":      "a: &a [*a]\n",
		"10,000 lines of items": "a: [" + strings.Repeat("x,\n  ", 10_000) + "\n",
		"a key of brackets":     strings.Repeat("? ", 10_000) + "x\n",
	} {
		t.Run(name, func(t *testing.T) {
			in := "---\ndescription: still here\n" + header + "---\nBody."
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			doc, _ := Parse([]byte(in), true)
			runtime.ReadMemStats(&after)
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
				t.Errorf("%d MB allocated for %d bytes", mb, len(in))
			}
			if len(doc.Problems) == 0 {
				t.Error("no problem is reported")
			}
			if !strings.HasSuffix(in[doc.Body:], "Body.") {
				t.Errorf("the body is lost: %.40q", in[doc.Body:])
			}
			if got, _ := Description(doc, []byte(in[doc.Body:])); got != "still here" {
				t.Errorf("description %.40q", got)
			}
		})
	}
}

// TestExpansionIsBounded reads headers of 60 KB that stand for far more, and
// counts the bytes of everything that can be read from them.
func TestExpansionIsBounded(t *testing.T) {
	scalar := "x: &a " + strings.Repeat("y", 50_000) + "\n"
	mapping := "x: &a {k: " + strings.Repeat("y", 50_000) + "}\n"
	key := "x: &a " + strings.Repeat("y", 1_000) + "\n"
	merges, fields, names := "", "", ""
	for i := range 450 {
		merges += fmt.Sprintf("b%d: &b%d {\nk%d: [%s]}\n", i, i, i, strings.Repeat("y", 80))
		names = fmt.Sprintf("*b%d, ", i) + names
	}
	for i := range 1_500 {
		fields += fmt.Sprintf("k%d: [%s], z: 1,\n", i, strings.Repeat("y", 20))
	}
	for name, tt := range map[string]struct {
		in   string
		read string // the description
	}{
		"a scalar in the description":      {"---\n" + scalar + "description:\n" + strings.Repeat("- *a\n", 1_900) + "---\nText.", "Text."},
		"a scalar in a list in brackets":   {"---\ndescription: d\n" + scalar + "y: [" + strings.Repeat("*a, ", 1_900) + "]\n---\n", "d"},
		"a scalar in allowed-tools":        {"---\ndescription: d\n" + scalar + "allowed-tools:\n" + strings.Repeat("- *a\n", 1_900) + "---\n", "d"},
		"a scalar in metadata":             {"---\ndescription: d\n" + scalar + "metadata:\n  a:\n" + strings.Repeat("  - *a\n", 1_900) + "---\n", "d"},
		"a scalar in one field":            {"---\ndescription: d\nx: [&a " + strings.Repeat("y", 50_000) + strings.Repeat(", *a", 1_900) + "]\n---\n", "d"},
		"mappings":                         {"---\ndescription: d\n" + mapping + "y:\n" + strings.Repeat("- *a\n", 600) + "---\n", "d"},
		"merged mappings":                  {"---\ndescription: d\n" + mapping + "y:\n" + strings.Repeat("- <<: *a\n", 450) + "---\n", "d"},
		"aliases as keys":                  {"---\ndescription: d\n" + key + "y:\n" + strings.Repeat("- {*a : 1}\n", 1_000) + "---\n", "d"},
		"a key in a key in a key":          {"---\ndescription: d\na:\n  " + strings.Repeat("? ", 40) + "x\n---\n", "d"},
		"an escape in a key in a key":      {"---\ndescription: d\na:\n  " + strings.Repeat("? ", 40) + `"\"\\"` + "\n---\n", "d"},
		"lists that a mapping brings":      {"---\ndescription: d\n" + merges + "<<: [" + names + "]\n---\n", "d"},
		"lists of one key in one line":     {"---\n{\n" + strings.Repeat("a: [], ", 8_500) + "\n}\n---\nText.", "Text."},
		"short keys with dots in TOML":     {"+++\n" + strings.Repeat("a"+strings.Repeat(".a", 90)+" = 1\n", 300) + "+++\nText.", "Text."},
		"lists in lines of more fields":    {"---\n{description: d,\n" + fields + "}\n---\n", "d"},
		"anchors in one line":              {"---\ndescription: d\na: [" + strings.Repeat("&b c, ", 9_000) + "]\n---\n", "d"},
		"tags in one line":                 {"---\ndescription: d\na: [" + strings.Repeat("!b c, ", 9_000) + "]\n---\n", "d"},
		"texts in one line":                {"---\ndescription: d\na: [" + strings.Repeat("é,", 15_000) + strings.Repeat(" ", 10_000) + "\n]\n---\n", "d"},
		"a dotted key of TOML":             {"+++\n" + strings.Repeat("a.", 30_000) + "a = 1\n+++\nText.", "Text."},
		"dotted keys in TOML's brackets":   {"+++\n" + strings.Repeat("a = {"+strings.Repeat("a.", 90), 90) + "a = 1" + strings.Repeat("}", 90) + "\n+++\nText.", "Text."},
		"quotes of TOML that do not close": {"+++\n" + strings.Repeat("a = \""+strings.Repeat(`\"`, 10_000)+"\n", 3) + "+++\nText.", "Text."},
		"a dotted key after lines of TOML": {"+++\nx = {y = \"\"\"\n\"\"\", " + strings.Repeat("a.", 20_000) + "\"b\" = 1}\n+++\nText.", "Text."},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			doc, _ := Parse([]byte(tt.in), true)
			description, _ := Description(doc, []byte(tt.in[doc.Body:]))
			size := len(doc.AppendJSON(nil)) + len(description)
			for _, f := range doc.Fields {
				size += len(f.Key) + len(f.Value.String()) + len(strings.Join(f.Value.Strings(), ""))
			}
			runtime.ReadMemStats(&after)
			if limit := 8 * (len(tt.in) + 4<<10); size > limit {
				t.Errorf("%d bytes are read from %d", size, len(tt.in))
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 20 {
				t.Errorf("%d MB allocated for %d bytes", mb, len(tt.in))
			}
			if !strings.HasPrefix(description, tt.read) {
				t.Errorf("the description is %.40q, want %q", description, tt.read)
			}
		})
	}
}

// TestAliasesOfRealSize reads what authors share between fields.
func TestAliasesOfRealSize(t *testing.T) {
	shared := strings.Repeat("Review the changes. ", 50)
	in := "---\ndescription: &d " + shared + "\nwhen_to_use: *d\nshort: *d\n---\n"
	doc, _ := Parse([]byte(in), true)
	if v, _ := doc.Get("short"); v.Text != strings.TrimSpace(shared) || len(doc.Problems) > 0 {
		t.Errorf("%.40q, %v", v.Text, doc.Problems)
	}
}

func TestDotsOfTOML(t *testing.T) {
	in := "+++\ndescription = \"" + strings.Repeat("First. Then. ", 100) + "\"\ntext = \"\"\"\n" + strings.Repeat("a.b.", 100) + "\"\"\"\nlist = [" +
		strings.Repeat("1.5, ", 100) + "]\n[tool.x.\"y.z\"]\nv = 1\n+++\n"
	doc, _ := Parse([]byte(in), true)
	must.Len(t, "Problems", 0, doc.Problems)
	must.Len(t, "Fields", 4, doc.Fields)
}

func TestReadings(t *testing.T) {
	doc, _ := Parse([]byte("---\nempty:\nscalar: 007\nwritten: [file] # the path\nacross: [a,\n  b]\nblock:\n  - a\n  - 1\nmap: {a: b}\nnest:\n  a: b\nyes: Yes\nquoted: 'OFF'\none: 1\nother: maybe\n---\n"), true)
	for _, tt := range []struct {
		key, text string
		list      []string
	}{
		{"empty", "", nil},
		{"missing", "", nil},
		{"scalar", "007", []string{"007"}},
		{"written", "[file]", []string{"file"}},
		{"across", "[a, b]", []string{"a", "b"}},
		{"block", "a, 1", []string{"a", "1"}},
		{"map", "{a: b}", nil},
		{"nest", "", nil},
	} {
		v, _ := doc.Get(tt.key)
		must.Equal(t, tt.key, tt.text, v.String())
		must.Match(t, tt.key, tt.list, v.Strings())
	}
	for key, want := range map[string][2]bool{
		"yes": {true, true}, "quoted": {false, true}, "one": {true, true}, "other": {false, false}, "block": {false, false}, "missing": {false, false},
	} {
		v, _ := doc.Get(key)
		if value, ok := v.Bool(); value != want[0] || ok != want[1] {
			t.Errorf("%s: %v, %v", key, value, ok)
		}
	}
}

func TestATextInBracketsEndsWithThem(t *testing.T) {
	for in, want := range map[string]string{
		"[a] # b": "[a]", "[a] # [b]": "[a]", "[a, [b]] # c": "[a, [b]]", `["]", a] # b`: `["]", a]`, "[it's] # b's": "[it's]", "{a: b} # }": "{a: b}", `["\\", "]"] #`: `["\\", "]"]`,
		`['it''s ]', a] # b`: `['it''s ]', a]`,
	} {
		if got, _ := bracketed(in); string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	doc, _ := Parse([]byte("---\nbase: {x: &b {tools: [a,b]}}\n<<: *b\n---\n"), true)
	if v, _ := doc.Get("tools"); v.String() != "a, b" {
		t.Errorf("a merged list reads %q", v.String())
	}
}

func TestDescription(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		source         Source
	}{
		{"the header's", "---\ndescription: ' d '\n---\nText.", "d", FromFrontmatter},
		{"an empty one", "---\ndescription: ''\n---\nText.", "Text.", FromParagraph},
		{"null", "---\ndescription: null\n---\nText.", "Text.", FromParagraph},
		{"a number", "---\ndescription: 42\n---\n", "42", FromFrontmatter},
		{"no header", "# H\nText.", "Text.", FromParagraph},
		{"nothing", "# H\n", "", FromNone},
		{"not UTF-8", "caf\xe9", "caf\uFFFD", FromParagraph},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, _ := Parse([]byte(tt.in), true)
			if got, source := Description(doc, []byte(tt.in[doc.Body:])); got != tt.want || source != tt.source {
				t.Errorf("%q from %q, want %q from %q", got, source, tt.want, tt.source)
			}
		})
	}
}

func TestAHeadIsEnough(t *testing.T) {
	long := strings.Repeat("x", MinHead)
	for _, tt := range []struct {
		name, in string
		reads    int // calls until there is no more to ask for
	}{
		{"a header", "---\ndescription: d\n---\n" + long, 1},
		{"no header, a paragraph", "Text.\n\n" + long, 1},
		{"a header without description, a paragraph", "---\na: b\n---\n# H\n\nText.\n\n" + long, 1},
		{"a header without description, no paragraph yet", "---\na: b\n---\n```\n" + strings.Repeat("x\n", MinHead) + "```\nText.\n\n" + long, 2},
		{"a long header", "---\ndescription: " + long + "\n---\n" + long, 2},
		{"a header that does not end", "---\ndescription: d\n" + strings.Repeat("a: b\n", MaxHead), 3},
		{"a header closed beyond the limit", "---\ndescription: d\na: " + strings.Repeat("x", MaxHead) + "\n---\nText.\n", 3},
		{"a line at the limit that only begins like a fence", "---\ndescription: d\na: " + strings.Repeat("x", MaxHead-26) + "\n---x\nText.\n", 3},
		{"an object that ends beyond the limit", "{\"description\": \"" + strings.Repeat("x", MaxHead) + "\"}\nText.\n", 3},
		{"blank lines", strings.Repeat(" \n", MinHead) + "---\ndescription: d\n---\n" + long, 2},
		{"blank lines that do not end", strings.Repeat(" \n", MaxHead) + "---\ndescription: d\n---\n", 3},
		{"a fence cut at the end of the head", "---\na: " + strings.Repeat("x", MinHead-11) + "\n---", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, _ := Parse([]byte(tt.in), true)
			for reads, size := 1, MinHead; ; reads, size = reads+1, 4*size {
				head := tt.in[:min(size, len(tt.in))]
				doc, more := Parse([]byte(head), len(head) == len(tt.in) && reads > 1)
				if more {
					continue
				}
				must.Equal(t, "settled after", tt.reads, reads)
				must.Equal(t, "the head says", whole.Body, doc.Body)
				must.Match(t, "the head says", whole.AppendJSON(nil), doc.AppendJSON(nil))
				break
			}
		})
	}
}

// corpusFiles calls f for each Markdown file that TOOLSHELF_CORPUS holds.
func corpusFiles(t *testing.T, f func(path string, data []byte)) {
	t.Helper()
	dir := os.Getenv("TOOLSHELF_CORPUS")
	if dir == "" {
		t.Skip("TOOLSHELF_CORPUS is not set: it names a folder of public command and skill files")
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".md") || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			f(path, data)
		}
		return err
	}))
}

// scalars are the top-level scalars of a header that YAML accepts, as the
// yaml package reads them into strings.
func scalars(header []byte) (map[string]string, bool) {
	var node yaml.Node
	if err := yaml.Unmarshal(header, &node); err != nil || node.Kind == 0 || node.Content[0].Kind != yaml.MappingNode {
		return nil, false
	}
	all := map[string]string{}
	for i := 0; i < len(node.Content[0].Content); i += 2 {
		if v := node.Content[0].Content[i+1]; v.Kind == yaml.ScalarNode {
			all[node.Content[0].Content[i].Value] = v.Value
		}
	}
	return all, true
}

func TestCorpusHeaders(t *testing.T) {
	var files, headers, strict, recovered int
	corpusFiles(t, func(path string, data []byte) {
		files++
		doc, _ := Parse(data, true)
		if !bytes.HasSuffix(data, data[doc.Body:]) {
			t.Errorf("%s: the body is not the file's end", path)
		}
		if doc.Format != YAML {
			return
		}
		headers++
		if !json.Valid(doc.AppendJSON(nil)) {
			t.Errorf("%s: invalid JSON %s", path, doc.AppendJSON(nil))
		}
		want, ok := scalars([]byte(doc.Header))
		if !ok {
			recovered++
			if len(doc.Problems) == 0 {
				t.Errorf("%s: a header that YAML refuses, and no problem", path)
			}
			if strings.Contains(doc.Header, "\ndescription: ") && doc.description() == "" {
				t.Errorf("%s: the description is lost", path)
			}
			for _, p := range doc.Problems {
				if p.Code == problem.FrontmatterRecovered && (p.Line < 2 || p.Key == "") {
					t.Errorf("%s: a problem without place: %+v", path, p)
				}
			}
			return
		}
		strict++
		for key, text := range want {
			if v, ok := doc.Get(key); !ok || v.Text != text {
				t.Errorf("%s: %s is %q, want %q", path, key, v.Text, text)
			}
		}
	})
	t.Logf("%d files, %d YAML headers: %d strict, %d recovered", files, headers, strict, recovered)
}

func FuzzParse(f *testing.F) {
	for _, in := range []string{
		"", "Text", "---\na: b\n---\nText", "---\ndescription: [a] b\n---\n", "+++\na = 1\n+++\n", "{\"a\": 1}\n", ";;;\n{}\n;;;\n",
		"---\na: &a [*a]\n---\n", "\ufeff---\r\na: |\r\n  ---\r\n---\r\nText", "---\na: caf\xe9\n---\n", "---\n? a\n: b\n---\n", "---\n\"a\": b: c\n---\n", "---\na: b\r\r\rc: [d]\n---\n",
		"---\na: &a bcdef\nb: [*a, *a]\n<<: {*a : *a}\n---\n", "---\n? ? ? [a, \"b\\\\\"]\n---\n", "+++\na.\"b\".c = {d.e = 1}\n+++\n",
		"---\ndescription: a\\n<example>\nb: c\n</example>\n- d\n\nE:\n<example>\nf: g\n</example>\n# h\nmodel: i\n---\nText",
		"\ufeff\n \n---\na: b #c\n---\nText", "---\na: !b c\nd: &e f\ng: [h #i\n]\nallowed-tools: A(b\n---\n",
	} {
		f.Add([]byte(in), 10)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		doc, more := Parse(data, true)
		if more {
			t.Fatal("a whole file needs more")
		}
		if doc.Body < 0 || doc.Body > len(data) {
			t.Fatalf("the body begins at %d of %d", doc.Body, len(data))
		}
		if !json.Valid(doc.AppendJSON(nil)) {
			t.Fatalf("invalid JSON %q", doc.AppendJSON(nil))
		}
		if size := len(doc.AppendJSON(nil)); size > 16*(len(data)+4<<10) {
			t.Fatalf("%d bytes are read from %d", size, len(data))
		}
		for _, p := range doc.Problems {
			if p.Code == "" || p.Message == "" || p.Line < 0 {
				t.Fatalf("an incomplete problem %+v", p)
			}
		}
		var s Scanner
		listed, _ := s.ParseFile("", data, true, "description")
		got, _ := Description(listed, data[listed.Body:])
		if want, _ := Description(doc, data[doc.Body:]); got != want || len(listed.Problems) != len(doc.Problems) {
			t.Fatalf("a Scanner reads the description %q and %d problems, want %q and %d", got, len(listed.Problems), want, len(doc.Problems))
		}
		// What a part of the file settles, the whole does not contradict.
		if cut >= 0 && cut < len(data) {
			head, more := Parse(data[:cut], false)
			if !more && !bytes.Equal(head.AppendJSON(nil), doc.AppendJSON(nil)) {
				t.Fatalf("%d bytes say %s, all %s", cut, head.AppendJSON(nil), doc.AppendJSON(nil))
			}
			if !more {
				got, _ := Description(head, data[head.Body:cut])
				if want, _ := Description(doc, data[doc.Body:]); got != want {
					t.Fatalf("%d bytes say %q, all %q", cut, got, want)
				}
			}
		}
	})
}

// A list shows no suggestions, so a Scanner with keys does not check them.
func TestScannerChecksNoSuggestions(t *testing.T) {
	file := []byte("---\ndescription: Fix: it\nargument-hint: [a] b\nmodel: @x\ntools: Read # it\n---\n")
	var s Scanner
	allocs := func(keys ...string) float64 {
		return testing.AllocsPerRun(10, func() { s.ParseFile("", file, true, keys...) })
	}
	if list, whole := allocs("description"), allocs(); list > whole/2 {
		t.Errorf("%v allocations with keys, %v without", list, whole)
	}
}

// TestScannerReadsFewFields parses files with one Scanner, overwrites the bytes of
// the file after each call, and compares the problems afterwards.
func TestScannerReadsFewFields(t *testing.T) {
	var s Scanner
	for _, header := range []string{
		"description: d\nname: \"n\\t\"\nis_dependency: true\n",
		"name:\n- a\n- b\ndescription: |\n  d\n",
		"a: [b] c\ndescription: e: f\nallowed-tools: Bash(x\n",
		"a: {b: c}\ndescription: 'it''s'\nmetadata:\n  a: b\na: d\n",
		"a: &b c\ndescription: >-\n  e\n  f\n",
		"a: b\n",
	} {
		data := []byte("---\n" + header + "---\nText.")
		want, _ := Parse(data, true)
		got, _ := s.ParseFile("", data, true, "description", "is_dependency")
		for _, key := range []string{"description", "is_dependency"} {
			w, wantOK := want.Get(key)
			if g, ok := got.Get(key); !reflect.DeepEqual(g, w) || ok != wantOK {
				t.Errorf("%q: %s is %v, want %v", header, key, g, w)
			}
		}
		if got.Format != want.Format || got.Line != want.Line || got.Header != want.Header || got.Body != want.Body {
			t.Errorf("%q: %+v, want %+v", header, got, want)
		}
		if name, _ := got.Get("name"); name.Text != "" || name.Items() != nil {
			t.Errorf("%q: the name is read", header)
		}
		for i, p := range got.Problems {
			got.Problems[i] = p.In("")
			want.Problems[i].Suggestion = ""
		}
		clear(data)
		must.Equal(t, header, "",
			cmp.Diff(want.Problems, got.Problems, cmpopts.EquateComparable(problem.Problem{})))
	}
}

// TestTopLevelKey compares topLevelKey with the regular expression of a key.
func TestTopLevelKey(t *testing.T) {
	expression := regexp.MustCompile(`(?s)^(?:"([^"\\]+)"|'([^']+)'|([\pL\pN_$][^:#"'\s]*(?: [^:#"'\s]+)*))[ \t]*:(?:[ \t]+(.*))?$`)
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", "½", "_", "$", "-", ":", ": ", " ", "  ", "\t", "#", "'", "\"", "\\", "\f", "\xff", "\n"}), 0, 12).Draw(t, "line"), "")
		var want [3]string
		if m := expression.FindStringSubmatch(strings.TrimRight(line, " \t\r\n")); m != nil {
			want = [3]string{m[1] + m[2] + m[3], m[4], "true"}
		}
		key, value, ok := TopLevelKey(line)
		if got := [3]string{key, value, ""}; ok != (want[2] != "") || ok && got[0] != want[0] || ok && got[1] != want[1] {
			t.Fatalf("%q: %q, %v, want %q", line, got, ok, want)
		}
	})
}

// BenchmarkParse reads files of each class of public headers. It reports the time of
// a Scanner that reads the fields of a list (scanner), of Parse (parse), of the YAML
// library with the recovery of broken headers (library), and of adrg/frontmatter
// (adrg).
func BenchmarkParse(b *testing.B) {
	for _, class := range []struct{ name, header string }{
		{"plain", "description: Review the changes of a branch and list what to mend\nargument-hint: <branch>\nallowed-tools: Read, Grep, Glob\nmodel: default\n"},
		{"quoted", "description: Analyze the service logs number 7 and report\nargument-hint: \"[file] [level]\"\nallowed-tools: Read, Grep\nis_dependency: false\n"},
		{"brackets", "description: Create a new application\nargument-hint: [project-name]\nallowed-tools: [\"Read\", \"Write\", \"Bash(git:*)\"]\n"},
		{"list", "description: Check the reasoning\ntools:\n  - read\n  - write\n  - bash\narguments: $QUERY\n"},
		{"block", "name: animate\ndescription: >-\n  Use this skill when the user wants to build animations, scroll effects,\n  parallax, pinned sections, or text animations in React or Next.js \u2014 even\n  if the user only says \"make it move\".\n"},
		{"metadata", "name: launch\ndescription: 'Launch a product: from the idea to the first customers'\nlicense: MIT\nmetadata:\n  author: example\n  version: \"2.0.0\"\n"},
		{"comment", "name: convert # the command\n# allowed-tools: Read\ndescription: Convert a document\nversion: 1.0.2\n"},
		{"broken", "allowed-tools: Bash, Read, Write, Edit\nargument-hint: [resource] [method] [flags]\ndescription: Upload local files to a project.\n"},
	} {
		b.Run(class.name, func(b *testing.B) {
			text := []byte("---\n" + class.header + "---\n\n# Review\n\nRead the files.\n")
			var s Scanner
			keys := []string{"description", "is_dependency", "disable-model-invocation"}
			runs := []struct {
				name string
				do   func()
			}{
				{"scanner", func() { s.ParseFile("", text, true, keys...) }},
				{"parse", func() { Parse(text, true) }},
				{"library", func() {
					if _, _, err := strictYAML(class.header, 2, newScope(class.header)); err != nil {
						for c := range chunks(class.header, 1) {
							strictYAML(c.text, c.line, newScope(class.header))
						}
					}
				}},
				{"adrg", func() {
					var fields map[string]any
					frontmatter.Parse(bytes.NewReader(text), &fields)
				}},
			}
			took := make([]time.Duration, len(runs))
			for b.Loop() {
				for i, run := range runs {
					begin := time.Now()
					for range 100 {
						run.do()
					}
					took[i] += time.Since(begin)
				}
			}
			for i, run := range runs {
				b.ReportMetric(float64(took[i].Nanoseconds())/float64(100*b.N), "ns/"+run.name)
			}
			b.ReportMetric(float64(took[2])/float64(took[1]), "library/parse")
			b.ReportMetric(float64(took[3])/float64(took[1]), "adrg/parse")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestSuggestionsAreRight follows the suggestions for values that YAML cuts.
func TestSuggestionsAreRight(t *testing.T) {
	for _, want := range []string{"Fix issue #$1", "#$1", "café  #1 \"now\"", "&x y", "! y", "!x y", "!x", "Fix # x"} {
		for _, before := range []string{"", "é: [a] b\n", "\tb: c\n"} {
			doc, _ := Parse([]byte("---\n"+before+"description: "+want+"\n---\n"), true)
			i := slices.IndexFunc(doc.Problems, func(p problem.Problem) bool { return p.Key == "description" })
			if i < 0 && before != "" && want[0] == '&' {
				continue // in a broken header, no alias can be told
			}
			if i < 0 {
				t.Errorf("%q: no problem", want)
				continue
			}
			line, ok := strings.CutPrefix(doc.Problems[i].Suggestion, "write ")
			doc, _ = Parse([]byte("---\n"+line+"\n---\n"), true)
			if got := doc.description(); !ok || got != want || len(doc.Problems) > 0 {
				t.Errorf("%q is suggested, which is %q (%v), want %q", line, got, doc.Problems, want)
			}
		}
	}
}

func TestMessagesCountBlankLinesBeforeTheHeader(t *testing.T) {
	doc, _ := Parse([]byte("\n\n---\na: 1\na: 2\n---\n"), true)
	if p := doc.Problems[len(doc.Problems)-1]; p.Line != 5 || !strings.Contains(p.Message, "first used in line 4;") {
		t.Errorf("%+v", p)
	}
}

func TestATabIsNamed(t *testing.T) {
	for header, want := range map[string]problem.Problem{
		"metadata:\n\n  a: b\n\tc: d\n":     {Line: 5, Key: "metadata", Message: tabMessage, Suggestion: "replace lines 2 to 5 by metadata:⏎⏎  a: b⏎  c: d"},
		"allowed-tools:\n\t- Read # c\n#\n": {Line: 3, Key: "allowed-tools", Message: tabMessage, Suggestion: "replace lines 2 to 3 by allowed-tools:⏎  - Read # c"},
		"description:\n\tUse when: asked\n": {Line: 2, Key: "description", Message: "the value is not valid YAML and is read as text; YAML allows no tab at the beginning of a line",
			Suggestion: `replace lines 2 to 3 by description: "Use when: asked"`},
		"\ta: b\n": {Line: 2, Message: tabMessage, Suggestion: "replace each tab at the beginning of a line with 2 blanks"},
	} {
		want.Code, want.Severity, want.Column = problem.FrontmatterRecovered, problem.Warning, 1
		doc, _ := Parse([]byte("---\n"+header+"---\n"), true)
		must.Len(t, header, 1, doc.Problems)
		must.Equal(t, header, want, doc.Problems[0])
	}
}

func TestCutsHaveColumns(t *testing.T) {
	for text, want := range map[string]string{"a: é #1": "2:6", "a:\n  - [b, é #1\n  ]": "3:11", "a: &b c": "2:4", "a: é\n  b #1": "2:4", "a: #1": "2:4", "a: [é] #1": "2:8"} {
		doc, _ := Parse([]byte("---\n"+text+"\n---\n"), true)
		if len(doc.Problems) != 1 || fmt.Sprintf("%d:%d", doc.Problems[0].Line, doc.Problems[0].Column) != want {
			t.Errorf("%q: %+v, want %s", text, doc.Problems, want)
		}
	}
}

func TestTools(t *testing.T) {
	for in, want := range map[string][]string{
		"":                      nil,
		"Read":                  {"Read"},
		" Read,\tGrep  Glob,":   {"Read", "Grep", "Glob"},
		"Bash(git add:*) Read":  {"Bash(git add:*)", "Read"},
		"Bash(a, b(c) d),X":     {"Bash(a, b(c) d)", "X"},
		"Bash(git:* Read, Grep": {"Bash(git:* Read, Grep"},
		"Bash(git:*)) Read":     {"Bash(git:*))", "Read"},
		"Bash(a)) Bash(b c)":    {"Bash(a))", "Bash(b c)"},
	} {
		must.Match(t, in, want, Tools(Value{Kind: String, Text: in}))
	}
}

func TestAnUnbalancedToolHasItsBeginningInTheMessage(t *testing.T) {
	for tool, want := range map[string]string{
		"Bash(" + strings.Repeat("a", 95): `"Bash(` + strings.Repeat("a", 95) + `"`,
		"Bash(" + strings.Repeat("a", 96): `"Bash(` + strings.Repeat("a", 95) + `…"`,
	} {
		doc, _ := Parse([]byte("---\nallowed-tools: "+tool+"\n---\n"), true)
		must.Len(t, tool, 1, doc.Problems)
		must.Contain(t, tool, doc.Problems[0].Message, want)
	}
}

func TestOnlyControlCharactersAreReported(t *testing.T) {
	for c, want := range map[string]bool{"\t": false, "\u0085": false, "\u2028": false, "\u2029": false, "\x01": true, "\x7f": true, "\u0080": true, "\u009f": true, "\uffff": true} {
		doc, _ := Parse([]byte("---\na: x"+c+"y\n---\n"), true)
		reported := slices.ContainsFunc(doc.Problems, func(p problem.Problem) bool { return p.Code == problem.ControlCharacter })
		must.Equal(t, c, want, reported)
	}
}

func TestProblemsOfOneHeaderAreBounded(t *testing.T) {
	doc, _ := Parse([]byte("---\n"+strings.Repeat("a: 1\n", 12_000)+"---\n"), true)
	if len(doc.Problems) != problem.Max || doc.Problems[problem.Max-1].Message != "11950 more problems from here on" {
		t.Errorf("%d problems, the last %+v", len(doc.Problems), doc.Problems[len(doc.Problems)-1])
	}
}

func TestAMergeOfNothingIsAKey(t *testing.T) {
	for text, want := range map[string]string{
		"<<: text":             `{"<<":"text"}`,
		"c: {<<: [x, y]}":      `{"c":{"<<":["x","y"]}}`,
		"c: {<<: {a: 1}}":      `{"c":{"a":1}}`,
		"c: {<<: [{a: 1}]}":    `{"c":{"a":1}}`,
		"c: {<<: [{a: 1}, x]}": `{"c":{"<<":[{"a":1},"x"]}}`,
	} {
		doc, _ := Parse([]byte("---\n"+text+"\n---\n"), true)
		must.Equal(t, text, want, string(doc.AppendJSON(nil)))
	}
}

func TestAWholeFileInTOML(t *testing.T) {
	const file = "description = \"Commit\"\nprompt = \"\"\"\nWrite {{args}}.\n\nThen stop.\"\"\"\n"
	for _, tt := range []struct {
		name, data, description, text string
	}{
		{"description and prompt", file, "Commit", "Write {{args}}.\n\nThen stop."},
		{"byte order mark", "\uFEFF" + file, "Commit", "Write {{args}}.\n\nThen stop."},
		{"without a description, the first paragraph of the prompt", "prompt = 'Review the change.'", "Review the change.", "Review the change."},
		{"fences are no fences", "prompt = '''\n---\na: b\n---\nText.'''", "Text.", "---\na: b\n---\nText."},
		{"without a prompt", "description = 'x'", "x", ""},
		{"empty", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, more := ParseFile("a.toml", []byte(tt.data), true)
			text := doc.Text([]byte(tt.data))
			if description, _ := Description(doc, text); more || description != tt.description || string(text) != tt.text {
				t.Errorf("got %q, %q, %v", description, text, more)
			}
			if len(doc.Problems) > 0 || doc.Format != TOML || doc.Body != len(tt.data) {
				t.Errorf("got %+v", doc)
			}
			if f, ok := doc.Get("description"); ok && f.String() != tt.description {
				t.Errorf("the field is %q", f)
			}
		})
	}
}

func TestAFileInTOMLHasALimit(t *testing.T) {
	data := []byte("description = 'x'\nprompt = '''" + strings.Repeat("w", MaxHead))
	if _, more := ParseFile("a.toml", data[:MinHead], false); !more {
		t.Error("ParseFile does not request the rest of the file")
	}
	data = append(data, "'''\n"...)
	for _, whole := range []bool{false, true} {
		doc, more := ParseFile("a.toml", data, whole)
		if more || string(doc.Text(data)) != "" || len(doc.Problems) != 1 || doc.Problems[0].Code != problem.FrontmatterRefused {
			t.Errorf("got %v, %v", more, doc.Problems)
		}
	}
	exact := []byte(string(data[:MaxHead-4]) + "'''\n")
	if doc, more := ParseFile("a.toml", exact, true); more || len(doc.Text(exact)) < MaxHead-100 || len(doc.Problems) > 0 {
		t.Errorf("a file of %d bytes: %v, %v", len(exact), more, doc.Problems)
	}
}

// npm yaml 2.9.1 keeps each of these characters, 2026-11. U+0085, U+2028 and U+2029 are line breaks in YAML 1.1 only.
func TestSpecialCharactersStayAsWritten(t *testing.T) {
	forms := map[string]string{"---\na: x%[1]sy\nb: 2\n---\n": "x%sy", "---\na: \"%[1]s\"\nb: [c] d\n---\n": "%s", "---\na: '%[1]s z'\n---\n": "%s z", "---\na: |\n  %[1]s\n  z%[1]s\n---\n": "%s\nz%s\n",
		"---\n{\"a\": \"%[1]s\"}\n---\n": "%s", "+++\na = 'x%[1]s'\n+++\n": "x%s", ";;;\n{\"a\": \"%[1]s\"}\n;;;\n": "%s"}
	for _, c := range []string{"\u007f", "\u0080", "\u0085", "\u009b", "\u009f", "\ufeff", "\ufffe", "\uffff", "\u2028", "\u2029", "\u009f\u0080", "\U0010FFFE", "\U00100080"} {
		for form, value := range forms {
			want := strings.ReplaceAll(value, "%s", c)
			doc, _ := Parse(fmt.Appendf(nil, form, c), true)
			if got, _ := doc.Get("a"); got.Text != want {
				t.Errorf("%q: got %q, want %q; %v", fmt.Sprintf(form, c), got.Text, want, doc.Problems)
			}
		}
	}
	doc, _ := Parse([]byte("---\na: \"\u0080\\U00100080\"\n---\n"), true)
	if got, _ := doc.Get("a"); got.Text != "\ufffd\U00100080" {
		t.Errorf("beside a character for private use that an escape names: %q", got.Text)
	}
	doc, _ = Parse([]byte("---\nm:\n  k\u0080: [\u009f, {l: \u009b}]\n---\n"), true)
	if m, _ := doc.Get("m"); string(m.AppendJSON(nil)) != "{\"k\u0080\":[\"\u009f\",{\"l\":\"\u009b\"}]}" {
		t.Errorf("got %s", m.AppendJSON(nil))
	}
}

func TestProblemsOfAFileInTOMLHaveTheLinesOfTheFile(t *testing.T) {
	for data, want := range map[string]string{
		"description = 'x'\nprompt = oops\n":   "2 FRONTMATTER_INVALID",
		"a = 'x'\nb = \"\x07\"\n":              "2 CONTROL_CHARACTER",
		"description = 'x'\nprompt = '\xff'\n": "2 NOT_UTF8",
	} {
		doc, _ := ParseFile("a.toml", []byte(data), true)
		var got []string
		for _, p := range doc.Problems {
			got = append(got, fmt.Sprint(p.Line, " ", p.Code))
		}
		if !slices.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", data, got, want)
		}
	}
}

func TestOtherFilesAreParsedWithTheirFences(t *testing.T) {
	data := []byte("---\ndescription: d\n---\nText.\n")
	want, _ := Parse(data, true)
	got, _ := ParseFile("a.md", data, true)
	var s Scanner
	scanned, _ := s.ParseFile("a.md", data, true, "description")
	if string(got.Text(data)) != "Text.\n" || got.Body != want.Body || scanned.Body != want.Body || got.Line != want.Line {
		t.Errorf("got %+v and %+v, want %+v", got, scanned, want)
	}
}
