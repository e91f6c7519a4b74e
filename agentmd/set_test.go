package agentmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestSetChangesOneFieldAndKeepsEveryOtherByte(t *testing.T) {
	for _, tt := range []struct{ rule, file, key, value, want string }{
		{"a text", "---\nname: a\ndescription: Old\n---\nText.\n", "description", "New", "---\nname: a\ndescription: New\n---\nText.\n"},
		{"a new field follows the last field", "---\nname: a\n---\nText.\n", "license", "MIT", "---\nname: a\nlicense: MIT\n---\nText.\n"},
		{"a new field follows a block", "---\na: |+\n  x\n\n---\n", "b", "z", "---\na: |+\n  x\n\nb: z\n---\n"},
		{"a file without a header", "Text.\n", "name", "a", "---\nname: a\n---\nText.\n"},
		{"an empty file", "", "name", "a", "---\nname: a\n---\n"},
		{"an empty header", "---\n---\nText.\n", "name", "a", "---\nname: a\n---\nText.\n"},
		{"a byte order mark", "\uFEFF---\na: b\n---\n", "a", "c", "\uFEFF---\na: c\n---\n"},
		{"line breaks of Windows", "---\r\na: b\r\nc: d\r\n---\r\nx\r\n", "e", "f", "---\r\na: b\r\nc: d\r\ne: f\r\n---\r\nx\r\n"},
		{"a changed field with line breaks of Windows", "---\r\na: b\r\nc: d\r\n---\r\n", "a", "e", "---\r\na: e\r\nc: d\r\n---\r\n"},
		{"blank lines before the header", "\n---\na: b\n---\n", "a", "c", "\n---\na: c\n---\n"},
		{"a comment behind the value", "---\na: b   # why\nc: d\n---\n", "a", "x", "---\na: x   # why\nc: d\n---\n"},
		{"comments between fields", "---\n# one\na: b\n# two\nc: d\n---\n", "a", "x", "---\n# one\na: x\n# two\nc: d\n---\n"},
		{"a comment behind quotes", "---\na: 'it''s #1' # why\nc: d\n---\n", "a", "x", "---\na: x # why\nc: d\n---\n"},
		{"a comment behind quotes of several lines", "---\na: \"b\n  c\" # why\nd: e\n---\n", "a", "x", "---\na: x # why\nd: e\n---\n"},
		{"a comment behind a missing value", "---\na: # why\nc: d\n---\n", "a", "x", "---\na: x # why\nc: d\n---\n"},
		{"an indented comment below a value", "---\na: b\n  # why\n\n  # and\nc: d\n---\n", "a", "x", "---\na: x\n  # why\n\n  # and\nc: d\n---\n"},
		{"an indented comment below a missing value", "---\r\na:\r\n  # why\r\nc: d\r\n---\r\n", "a", "x", "---\r\na: x\r\n  # why\r\nc: d\r\n---\r\n"},
		{"text that resembles a comment", "---\na: |\n  b\n  # c\nd: e\n---\n", "a", "x", "---\na: x\nd: e\n---\n"},
		{"text in quotes that resembles a comment", "---\na: \"b # c\"\nd: e\n---\n", "a", "x", "---\na: x\nd: e\n---\n"},
		{"a value of several lines", "---\na: >\n  b\n  c\nd: e\n---\n", "a", "x", "---\na: x\nd: e\n---\n"},
		{"a list becomes a text", "---\na:\n  - b\n  - c\nd: e\n---\n", "a", "x", "---\na: x\nd: e\n---\n"},
		{"the last of two fields", "---\na: b\na: c\n---\n", "a", "x", "---\na: b\na: x\n---\n"},
		{"the notation of the key", "---\n\"a\" :  b\n---\n", "a", "x", "---\n\"a\" : x\n---\n"},
		{"text with a colon", "---\na: b\n---\n", "a", "x: y", "---\na: \"x: y\"\n---\n"},
		{"text with a comment sign", "---\na: b\n---\n", "a", "x #y", "---\na: \"x #y\"\n---\n"},
		{"text of several lines", "---\na: b\n---\n", "a", "x\ny\n", "---\na: \"x\\ny\\n\"\n---\n"},
		{"an empty text", "---\na: b\n---\n", "a", "", "---\na: \"\"\n---\n"},
		{"a boolean", "---\na: b\n---\n", "a", "true", "---\na: true\n---\n"},
		{"a word that YAML 1.1 reads as a boolean", "---\na: b\n---\n", "a", "yes", "---\na: \"yes\"\n---\n"},
		{"a text that YAML reads as a number", "---\nversion: v1\n---\n", "version", "1.10", "---\nversion: \"1.10\"\n---\n"},
		{"a number replaces a number", "---\nmax: 1\n---\n", "max", "20", "---\nmax: 20\n---\n"},
		{"a date", "---\na: b\n---\n", "a", "2025-01-31", "---\na: \"2025-01-31\"\n---\n"},
		{"a key with a blank", "---\na: b\n---\n", "my key", "x", "---\na: b\nmy key: x\n---\n"},
		{"a key with a colon", "---\na: b\n---\n", "x:y", "z", "---\na: b\n\"x:y\": z\n---\n"},
		{"a header that is not valid YAML", "---\na: b: c\nd: e\n---\n", "d", "x", "---\na: b: c\nd: x\n---\n"},
		{"a field that is not valid YAML", "---\na: b: c\nd: e\n---\n", "a", "x", "---\na: x\nd: e\n---\n"},
		{"TOML", "+++\na = \"b\" # c\n[t]\nd = 1\n+++\nText.\n", "a", "x", "+++\na = \"x\" # c\n[t]\nd = 1\n+++\nText.\n"},
		{"a comment behind a list in brackets", "---\na: [b, c] # why\nd: e\n---\n", "a", "x", "---\na: x # why\nd: e\n---\n"},
		{"a comment behind a list in TOML", "+++\na = [\n  1,\n] # c\nb = 2\n+++\n", "a", "x", "+++\na = \"x\"\nb = 2\n+++\n"},
		{"a comment behind a text of several lines in TOML", "+++\na = \"\"\"\nb #\n\"\"\" # c\n+++\n", "a", "x", "+++\na = \"x\" # c\n+++\n"},
		{"a list of several lines in TOML", "+++\na = [\n  1,\n]\nb = 2\n+++\n", "a", "x", "+++\na = \"x\"\nb = 2\n+++\n"},
		{"a new field in TOML precedes the tables", "+++\n[t]\nd = 1\n+++\n", "a", "x", "+++\na = \"x\"\n[t]\nd = 1\n+++\n"},
		{"a key of a table in TOML is another field", "+++\n[t]\na = 1\n+++\n", "a", "x", "+++\na = \"x\"\n[t]\na = 1\n+++\n"},
		{"a number in TOML", "+++\na = 1\n+++\n", "a", "2", "+++\na = 2\n+++\n"},
		{"JSON", "{\n  \"a\": 1,\n  \"b\": [2]\n}\nText.\n", "b", "x", "{\n  \"a\": 1,\n  \"b\": \"x\"\n}\nText.\n"},
		{"a new field in JSON", "{\"a\": 1}\nText.\n", "b", "x\"y", "{\"b\": \"x\\\"y\", \"a\": 1}\nText.\n"},
		{"an empty object in JSON", ";;;\n{}\n;;;\nText.\n", "b", "x", ";;;\n{\"b\": \"x\"}\n;;;\nText.\n"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := agentmd.Parse([]byte(tt.file)).Set(tt.key, tt.value)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestSetOfATOMLFile(t *testing.T) {
	const file = "description = \"Old\" \nprompt = \"\"\"\nDo it.\n\"\"\"\n"
	got, err := agentmd.ParseCommand("commit.toml", []byte(file)).Set("description", "New")
	if want := strings.Replace(file, "\"Old\" ", "\"New\"", 1); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestSetRefusesAnEditThatWouldChangeMore(t *testing.T) {
	for _, tt := range []struct{ rule, file, key, value, advice string }{
		{"an anchor that another field uses", "---\na: &x b\nc: *x\n---\n", "a", "d", "by hand"},
		{"a mapping in brackets", "---\n{a: b, c: d}\n---\n", "a", "x", "by hand"},
		{"a header without a closing fence", "---\na: b\nText.\n", "a", "x", `add a line "---"`},
		{"a header that is not valid TOML", "+++\na = \nb = 1\n+++\n", "a", "x", "correct the frontmatter first"},
		{"a mapping", "---\na:\n  b: c\n---\n", "a", "x", "by hand"},
		{"no key", "---\na: b\n---\n", "", "x", "name a field"},
		{"a value that is not UTF-8", "---\na: b\n---\n", "a", "\xff", "use UTF-8"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := agentmd.Parse([]byte(tt.file)).Set(tt.key, tt.value)
			if err == nil || !strings.Contains(err.Error(), tt.advice) || got != nil {
				t.Errorf("got %q, %v, want an error with %q", got, err, tt.advice)
			}
		})
	}
}

// checkSet compares a file before and after Set.
func checkSet(t *testing.T, file []byte, key, value string) (changed bool) {
	t.Helper()
	input := bytes.Clone(file)
	got, err := agentmd.Parse(file).Set(key, value)
	if !bytes.Equal(file, input) {
		t.Fatalf("%q changed to %q", input, file)
	}
	if err != nil {
		return false
	}
	before, _ := matter.Parse(file, true)
	after, _ := matter.Parse(got, true)
	if v, ok := after.Get(key); !ok || v.String() != value {
		t.Fatalf("%q: the field %q is %q in %q, want %q", file, key, v.String(), got, value)
	}
	if !bytes.Equal(before.Text(file), after.Text(got)) {
		t.Fatalf("%q: the body changed in %q", file, got)
	}
	for _, f := range before.Fields {
		if v, _ := after.Get(f.Key); f.Key != key {
			if was, _ := before.Get(f.Key); !bytes.Equal(was.AppendJSON(nil), v.AppendJSON(nil)) {
				t.Fatalf("%q: the field %q changed in %q", file, f.Key, got)
			}
		}
	}
	again, err := agentmd.Parse(got).Set(key, value)
	if err != nil || !bytes.Equal(again, got) {
		t.Fatalf("%q: a second Set gives %q, %v, after %q", file, again, err, got)
	}
	return true
}

func FuzzSet(f *testing.F) {
	for _, file := range []string{"", "Text.\n", "---\na: b\n---\n", "---\r\na: |+\r\n  x\r\n\r\n---\r\n", "+++\na = 1\n[t]\na = 2\n+++\n", "{\"a\": {}}\n",
		"---\na: b: c\na: d # e\n---\n---\n", "---\n? a\n: b\n---\n", "---\na: &x 1\nb: *x\n---\n", "---\n\"a\": 'b'\n- c\n---\n"} {
		f.Add([]byte(file), "a", "x")
		f.Add([]byte(file), "b", "y: \"z\"\n")
	}
	f.Fuzz(func(t *testing.T, file []byte, key, value string) {
		if !utf8.Valid(file) || len(file) > 4<<10 {
			t.Skip("the fuzz target omits this input")
		}
		checkSet(t, file, key, value)
	})
}

func TestCorpusSet(t *testing.T) {
	dir := os.Getenv("TOOLSHELF_CORPUS")
	if dir == "" {
		t.Skip("TOOLSHELF_CORPUS is not set: it names a directory of public command and skill files")
	}
	files, refused := 0, 0
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, key := range []string{"description", "toolshelf-test"} {
			if files++; !checkSet(t, data, key, "Use: this # text") {
				refused++
			}
		}
		return nil
	}))
	t.Logf("%d edits, %d refused", files, refused)
	if refused*100 > files {
		t.Errorf("%d of %d edits are refused", refused, files)
	}
}
