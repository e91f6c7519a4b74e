package agentmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/agentmd"
)

func ExampleParse() {
	doc := agentmd.Parse([]byte("---\nname: review\ndescription: Reviews a: change\n---\nRead the diff.\n"))
	fmt.Printf("%s: %s\n", doc.Frontmatter.Text("name"), doc.Frontmatter.Text("description"))
	fmt.Printf("%s", doc.Body)
	for _, d := range doc.Diagnostics {
		fmt.Println(d.Code, d.Severity, "in line", d.Line)
	}
	// Output:
	// review: Reviews a: change
	// Read the diff.
	// FRONTMATTER_RECOVERED warning in line 3
}

func ExampleFrontmatter() {
	header := agentmd.Parse([]byte("---\nversion: 1.10\nhidden: yes\ntools: [Read, Grep]\n---\n")).Frontmatter
	hidden, _ := header.Bool("hidden")
	fmt.Println(header.Format, header.Keys(), hidden)
	fmt.Println(header.Text("version"), header.List("tools"))
	text, _ := json.Marshal(header)
	fmt.Println(string(text))
	// Output:
	// yaml [version hidden tools] true
	// 1.10 [Read Grep]
	// {"version":1.10,"hidden":"yes","tools":["Read","Grep"]}
}

func ExampleDocument_Set() {
	doc := agentmd.Parse([]byte("---\nname: review # the command\nversion: 1\n---\nRead the diff.\n"))
	changed, err := doc.Set("description", "Reviews a: change")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s", changed)
	// Output:
	// ---
	// name: review # the command
	// version: 1
	// description: "Reviews a: change"
	// ---
	// Read the diff.
}

func TestSetSaysWhichFieldCannotBeChanged(t *testing.T) {
	got, err := agentmd.Parse([]byte("---\na: &x b\nc: *x\n---\n")).Set("a", "d")
	if want := `cannot set the field "a": no edit of these lines keeps all other fields; change the field by hand`; err == nil || err.Error() != want || got != nil {
		t.Errorf("got %q, %v, want %s", got, err, want)
	}
}

func TestABlockThatKeepsLineBreaksKeepsThemInEveryFieldExceptTheDescription(t *testing.T) {
	for _, tt := range []struct{ sign, want string }{
		{"|+", "one\ntwo\n\n"}, {">+", "one two\n\n"}, {"|", "one\ntwo\n"}, {">", "one two\n"}, {"|-", "one\ntwo"},
	} {
		block := tt.sign + "\n  one\n  two\n\n"
		for _, last := range []string{"", "x: y\n"} { // the last field, or a field before another
			skill := agentmd.ParseSkill("a", []byte("---\nname: a\ndescription: "+block+"license: "+block+"metadata:\n  k: v\ncompatibility: "+block+last+"---\nText.\n"))
			got := []string{skill.Fields.License, skill.Fields.Compatibility, skill.Frontmatter.Text("license"), skill.Frontmatter.Text("description"), skill.Description}
			if diff := cmp.Diff([]string{tt.want, tt.want, tt.want, tt.want, strings.TrimSpace(tt.want)}, got); diff != "" {
				t.Errorf("%s: %s", tt.sign, diff)
			}
		}
	}
}

func TestParseAllocatesNothingForTheBody(t *testing.T) {
	const header = "---\nname: review\ndescription: Reviews a change\n---\n"
	data := []byte(header + strings.Repeat("Read the diff.\n", 100_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	doc := agentmd.Parse(data)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("Parse allocates %d bytes for a body of %d bytes", n, len(data))
	}
	if &doc.Body[0] != &data[len(header)] || cap(doc.Body) != len(doc.Body) {
		t.Error("the body is a copy, or has room for more bytes of the file")
	}
}

func TestParseAcceptsEveryInput(t *testing.T) {
	for _, tt := range []struct{ name, data, format, body, code string }{
		{"no bytes", "", "", "", ""},
		{"no header", "Text.\n", "", "Text.\n", ""},
		{"YAML", "---\na: b\n---\nText.\n", "yaml", "Text.\n", ""},
		{"TOML", "+++\na = 1\n+++\nText.\n", "toml", "Text.\n", ""},
		{"JSON", "{\"a\": 1}\nText.\n", "json", "Text.\n", ""},
		{"no closing fence", "---\na: b\nText.\n", "", "---\na: b\nText.\n", "FRONTMATTER_UNTERMINATED"},
		{"blank lines before the header", "\n---\na: b\n---\nText.\n", "yaml", "Text.\n", "FRONTMATTER_AFTER_BLANK_LINES"},
		{"a key twice", "---\na: b\na: c\n---\n", "yaml", "", "DUPLICATE_KEY"},
		{"bytes that are not UTF-8", "---\na: b\n---\n\xff", "yaml", "\xff", "NOT_UTF8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := agentmd.Parse([]byte(tt.data))
			if doc.Frontmatter.Format != tt.format || string(doc.Body) != tt.body {
				t.Errorf("format %q and body %q, want %q and %q", doc.Frontmatter.Format, doc.Body, tt.format, tt.body)
			}
			var codes []string
			for _, d := range doc.Diagnostics {
				codes = append(codes, string(d.Code))
				if d.Path != "" || d.Severity != agentmd.SeverityWarning {
					t.Errorf("%+v: a diagnostic of a header has no path, and is a warning", d)
				}
			}
			if got := strings.Join(codes, " "); got != tt.code {
				t.Errorf("codes %q, want %q", got, tt.code)
			}
		})
	}
}

func TestABodyIsPartOfTheDataAndDoesNotGrowIntoIt(t *testing.T) {
	data := append(make([]byte, 0, 100), "---\na: b\n---\nText.\n"...)
	body := agentmd.Parse(data).Body
	if &body[0] != &data[len(data)-len(body)] || cap(body) != len(body) {
		t.Errorf("the body of %d bytes with the capacity %d is no part of the data", len(body), cap(body))
	}
}

func TestDiagnosticsWithoutAPathBeginWithTheLine(t *testing.T) {
	for want, d := range map[string]agentmd.Diagnostic{
		"3:7: warning: x [Y]": {Code: "Y", Severity: agentmd.SeverityWarning, Line: 3, Column: 7, Message: "x"},
		"error: x [Y]":        {Code: "Y", Severity: agentmd.SeverityError, Message: "x"},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, data := range []string{"", "---\na: b\n---\nText.\n", "+++\na = 1\n+++\n", "{\"a\": [1, 2]}\n", "\n\n---\na: b: c\n- d\n---\n", "---\na: &x [*x]\n---\n", "---yaml\n\xff: 1\n---"} {
		f.Add([]byte(data))
	}
	known := map[agentmd.DiagnosticCode]bool{}
	for _, code := range []agentmd.DiagnosticCode{agentmd.DiagNotUTF8, agentmd.DiagControlCharacter, agentmd.DiagDuplicateKey, agentmd.DiagFrontmatterRecovered,
		agentmd.DiagFrontmatterNotAMapping, agentmd.DiagFrontmatterUnterminated, agentmd.DiagFrontmatterRefused, agentmd.DiagFrontmatterInvalid,
		agentmd.DiagFrontmatterAfterBlankLines, agentmd.DiagFrontmatterUnknownFence, agentmd.DiagFrontmatterValueCut, agentmd.DiagAllowedToolsUnbalanced} {
		known[code] = true
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		doc := agentmd.Parse(data)
		if !bytes.Equal(data, before) || !bytes.HasSuffix(data, doc.Body) {
			t.Errorf("the data changed, or the body %q is not the end of the data", doc.Body)
		}
		if !strings.Contains(string(data), doc.Frontmatter.Raw) || doc.Frontmatter.Format == "" && len(doc.Frontmatter.Keys()) > 0 {
			t.Errorf("the header %q is no part of the data", doc.Frontmatter.Raw)
		}
		raw, err := json.Marshal(doc.Frontmatter)
		if err != nil || !json.Valid(raw) {
			t.Errorf("JSON %q, %v", raw, err)
		}
		if len(doc.Diagnostics) > 50 {
			t.Errorf("%d diagnostics", len(doc.Diagnostics))
		}
		for _, d := range doc.Diagnostics {
			if !known[d.Code] || strings.ContainsAny(d.String(), "\r\n") {
				t.Errorf("a code that agentmd has no constant for, or more than a line: %q", d)
			}
		}
		if diff := cmp.Diff(doc, agentmd.Parse(data)); diff != "" {
			t.Errorf("a second parse differs:\n%s", diff)
		}
	})
}
