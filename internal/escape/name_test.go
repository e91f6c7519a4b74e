package escape

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/names.txt
var names string

func TestName(t *testing.T) {
	must.Answer(t, names, map[string]func(t *testing.T, a ...string) string{
		"name": func(t *testing.T, a ...string) string {
			escaped := Name(a[0])
			must.Equal(t, escaped, a[0], Decode(escaped))
			return escaped
		},
	})
}

func TestDecodeKeepsTextThatIsNoEscape(t *testing.T) {
	for _, text := range []string{"", "a", "a/b.md", `a\`, `a\q`, `a\x1`, "é\xff"} {
		want := strings.ReplaceAll(text, `\xff`, "\xff")
		if got := Decode(text); got != want {
			t.Errorf("Decode(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzName(f *testing.F) {
	for _, seed := range []string{"", "a", "a\n[DIR]  b", " a ", "a -> b", "a/ b", `\x41`, "\xff\u202e", " - -> ->", "… and 1 more", "… (?)", "a (outside root)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := Name(name)
		if back := Decode(got); back != name {
			t.Fatalf("%q is escaped as %q and decoded as %q", name, got, back)
		}
		if !utf8.ValidString(got) || strings.TrimSpace(got) != got || strings.Contains(got, " ->") ||
			strings.HasPrefix(got, "…") || strings.HasSuffix(got, " (outside root)") || strings.HasSuffix(got, " (?)") {
			t.Errorf("%q is escaped as %q", name, got)
		}
		for _, r := range got {
			if r < ' ' || UnsafeRune(r) && r != '\\' {
				t.Errorf("%q is escaped as %q, with %U", name, got, r)
			}
		}
		if path := Path(name); path != got && !strings.Contains(name, "/") {
			t.Errorf("%q is escaped as %q in a path", name, path)
		}
	})
}

func TestLine(t *testing.T) {
	for _, tt := range []struct{ rule, line, want string }{
		{"source code", "\tfmt.Print(\"a\\n\")  ", "\tfmt.Print(\"a\\n\")  "},
		{"letters of any script", "Übersicht 資料 … a -> b (?)", "Übersicht 資料 … a -> b (?)"},
		{"control characters", "a\x1b[31mb\x00\r\n", `a\x1b[31mb\x00\r\n`},
		{"invisible characters", "a\u202eb\u2028\ufeff\U000e0041", `a\u202eb\u2028\ufeff\U000e0041`},
		{"no text", "", ""},
	} {
		if got := Line(tt.line); got != tt.want {
			t.Errorf("%s: Line(%q) = %q, want %q", tt.rule, tt.line, got, tt.want)
		}
	}
}

func TestAppendJSON(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `""`,
		"a \"b\" \\":          `"a \"b\" \\"`,
		"\n\t\r":              `"\n\t\r"`,
		"\x00\x1b\x7f":        `"\u0000\u001b\u007f"`,
		"<&> / äöü 漢字 \u2028": "\"<&> / äöü 漢字 \u2028\"",
		"bad \xff\xfe":        "\"bad \ufffd\ufffd\"",
	} {
		if got := string(AppendJSON([]byte("x"), text)); got != "x"+want {
			t.Errorf("AppendJSON(x, %q) = %s, want x%s", text, got, want)
		}
	}
}

// The fuzz test compares AppendJSON with encoding/json: both must decode to the same text.
func FuzzAppendJSON(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<&>", "äöü 漢字 🙂", "\u2028\u2029", "bad \xff\xfe utf-8 \xe6\xbc", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		encoded := AppendJSON(nil, s)
		var got, want string
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatalf("%v in %q", err, encoded)
		}
		oracle := must.Get(json.Marshal(s))(t)
		must.Do(t, json.Unmarshal(oracle, &want))
		must.Equal(t, "got", want, got)
	})
}

func TestReason(t *testing.T) {
	cause := errors.New("no space left")
	for _, err := range []error{
		cause,
		&fs.PathError{Op: "open", Path: "/home/user/x", Err: cause},
		&os.LinkError{Op: "rename", Old: "/home/user/x", New: "y", Err: cause},
		&fs.PathError{Op: "write", Path: "/home/user/x", Err: &os.SyscallError{Syscall: "write", Err: cause}},
	} {
		must.Equal(t, "Reason", "no space left", Reason(err))
	}
	must.Equal(t, "a text of two lines", `disk on fire\nat sector 7`, Reason(errors.New("disk on fire\nat sector 7")))
}
