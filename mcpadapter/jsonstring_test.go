package mcpadapter

import (
	"encoding/json"
	"testing"
)

// encoding/json is the oracle: what it reads back is what went in.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<&>", "äöü 漢字 🙂", "\u2028\u2029", "bad \xff\xfe utf-8 \xe6\xbc", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		encoded := appendString(nil, s)
		var got, want string
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatalf("%v in %q", err, encoded)
		}
		oracle, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(oracle, &want); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
