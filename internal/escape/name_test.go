package escape

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestName(t *testing.T) {
	for _, tt := range []struct{ rule, name, want string }{
		{"an ordinary name", "a-b_c (1).tar.gz", "a-b_c (1).tar.gz"},
		{"letters of any script", "Übersicht 資料 данные 📁.md", "Übersicht 資料 данные 📁.md"},
		{"quotes", `it's "quoted"`, `it's "quoted"`},
		{"a backslash", `a\nb`, `a\\nb`},
		{"line breaks and tabs", "a\nb\rc\td", `a\nb\rc\td`},
		{"a forged line", "x\n[DIR]  injected", `x\n[DIR]  injected`},
		{"an ANSI escape", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"NUL and DEL", "a\x00b\x7f", `a\x00b\x7f`},
		{"C1 controls", "a\u0085b\u009b", `a\u0085b\u009b`},
		{"bidi overrides", "txt.\u202egpj.exe\u202c", `txt.\u202egpj.exe\u202c`},
		{"bidi isolates and marks", "\u2066a\u2069\u200e\u200f\u061c", `\u2066a\u2069\u200e\u200f\u061c`},
		{"line and paragraph separators", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"zero width characters", "a\u200bb\u200cc\u200dd\u2060\ufeff", `a\u200bb\u200cc\u200dd\u2060\ufeff`},
		{"invisible letters", "a\u3164\u115f\u00ad\U000e0041", `a\u3164\u115f\u00ad\U000e0041`},
		{"invalid UTF-8", "a\xff\xc3(", `a\xff\xc3(`},
		{"the replacement character itself", "a\ufffd", "a\ufffd"},
		{"blanks at the ends", "  a b ", `\x20\x20a b\x20`},
		{"only blanks", "  ", `\x20\x20`},
		{"other white space at the ends", "\u3000a\u00a0b\u2003", `\u3000a` + "\u00a0" + `b\u2003`},
		{"the arrow of a link", "a -> b", `a -\x3e b`},
		{"the last line of a list", "… and 99999 more", `\u2026 and 99999 more`},
		{"an ellipsis elsewhere", "and so on … .md", "and so on … .md"},
		{"the mark of a link to the outside", "a (outside root)", `a \x28outside root)`},
		{"the mark of an unknown target", "a (?)", `a \x28?)`},
		{"a mark within a name", "a (outside root).md", "a (outside root).md"},
		{"an escape in a name", `\x41`, `\\x41`},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := Name(tt.name); got != tt.want {
				t.Errorf("Name(%q) = %s, want %s", tt.name, got, tt.want)
			}
			if got := Decode(tt.want); got != tt.name {
				t.Errorf("Decode(%s) = %q, want %q", tt.want, got, tt.name)
			}
		})
	}
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
