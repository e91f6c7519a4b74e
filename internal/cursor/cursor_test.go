package cursor

import (
	"strings"
	"testing"
)

func TestDecodeReturnsTheKeyOfTheSameList(t *testing.T) {
	for _, key := range []string{"", "review", "a b\x00\n", "\xff\xfe", strings.Repeat("é", 10_000)} {
		if got, ok := Decode("commands", Encode("commands", key)); !ok || got != key {
			t.Errorf("key %.20q: got %.20q, %v", key, got, ok)
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	valid := Encode("commands", "review")
	for _, tt := range []struct{ name, scope, cursor string }{
		{"no cursor", "commands", ""},
		{"another list", "skills", valid},
		{"a scope that takes bytes of the key", "commands\x00r", Encode("commands", "r\x00eview")},
		{"a shorter cursor", "commands", valid[:len(valid)-1]},
		{"a longer cursor", "commands", valid + "A"},
		{"less than a checksum", "commands", "AQAA"},
		{"padding", "commands", valid + "="},
		{"a line break", "commands", valid[:4] + "\n" + valid[4:]},
		{"a line break at the end", "commands", valid + "\r\n"},
		{"the standard alphabet", "commands", "++//"},
		{"text", "commands", "../../etc/passwd"},
	} {
		if key, ok := Decode(tt.scope, tt.cursor); ok || key != "" {
			t.Errorf("%s: got %q, %v", tt.name, key, ok)
		}
	}
}

func TestDecodeRejectsEveryAlteredCharacter(t *testing.T) {
	valid := Encode("commands", "review") // 11 bytes, so the last character has unused bits
	for i := range valid {
		for c := range 128 {
			altered := valid[:i] + string(rune(c)) + valid[i+1:]
			if altered == valid {
				continue
			}
			if key, ok := Decode("commands", altered); ok {
				t.Errorf("%q in place of character %d: got %q", rune(c), i, key)
			}
		}
	}
}
