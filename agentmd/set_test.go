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

func TestSetOfATOMLFile(t *testing.T) {
	const file = "description = \"Old\" \nprompt = \"\"\"\nDo it.\n\"\"\"\n"
	got, err := agentmd.ParseCommand("commit.toml", []byte(file)).Set("description", "New")
	if want := strings.Replace(file, "\"Old\" ", "\"New\"", 1); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
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
