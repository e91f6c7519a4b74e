package plugin

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

func TestAMessageHasTheBeginningOfALongText(t *testing.T) {
	long := strings.Repeat("x", 199)
	for text, want := range map[string]string{
		"short": "short", long + "y": long + "y", long + "yz": long + "y…",
		long + "é": long + "…", // no part of a character
	} {
		if got := shortened(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzValues compares the values of a text with encoding/json.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "a" : [ 1 , "x\"}]" , { "b" : null } ] , "a\u0041":-1.5e3,"c":true}`, `{"a":1,"a":{"a":"\\"}}`, `{"":[[],{},""]}`, "\ufeff{\"a\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var problems []problem.Problem
		o, failed := parse("a.json", data, &problems)
		var want map[string]json.RawMessage
		if failed != nil {
			if utf8.Valid(data) && json.Unmarshal(data, &want) == nil && want != nil {
				t.Fatalf("%+v", failed)
			}
			return
		}
		must.Do(t, json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &want))
		if len(want) != len(o.members) || len(want) != len(o.keys) {
			t.Fatalf("%d members, want %d", len(o.members), len(want))
		}
		for key, value := range want {
			if string(o.members[key]) != string(value) {
				t.Errorf("%q: got %q, want %q", key, o.members[key], value)
			}
			var wantText string
			isText := value[0] == '"' && json.Unmarshal(value, &wantText) == nil
			if s, ok := Text(o.members[key]); s != wantText || ok != isText {
				t.Errorf("%q: got %q, want %q", key, s, wantText)
			}
			var wantItems []json.RawMessage
			isList := value[0] == '[' && json.Unmarshal(value, &wantItems) == nil
			items, ok := list(o.members[key])
			if ok != isList || len(items) != len(wantItems) {
				t.Fatalf("%q: got %q, want %q", key, items, wantItems)
			}
			for i := range items {
				if string(items[i]) != string(wantItems[i]) {
					t.Errorf("%q: got %q, want %q", key, items[i], wantItems[i])
				}
			}
		}
	})
}
