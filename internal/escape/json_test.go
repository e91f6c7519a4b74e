package escape

import (
	"encoding/json"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

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
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
