package mutants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// mutantsOf returns the changes of a function with a body, and the text of its file with number 1,
// 2 …
func mutantsOf(t *testing.T, body string) (keys []string, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.go")
	must.Do(t, os.WriteFile(file, []byte("package p\n\nfunc f(a, b int, c, d bool) (int, error) {\n"+body+"\n}\n"), 0o600))
	s := parse("p", "p", []string{file}, nil)[0]
	s.find()
	for i, m := range s.mutants {
		m.number = i + 1
		keys = append(keys, strings.TrimPrefix(m.key, "p f "))
	}
	return keys, s.mutated(s.mutants)
}

func TestOperators(t *testing.T) {
	for _, tt := range []struct {
		body string
		want []string
	}{
		{"for a < b { }; return 0, nil", []string{"negate: a < b", "boundary: a < b"}},
		{"for a == b { }; return 0, nil", []string{"negate: a == b"}},
		{"for c { }; return 0, nil", []string{"negate: c"}},
		{"for c && !d { }; return 0, nil", []string{"negate: c", "negate: !d", "swap: c && !d"}},
		{"switch { case c: }; return 0, nil", []string{"negate: c"}},
		{"switch c { case d: }; return 0, nil", nil},
		{"a = b; return 0, nil", []string{"remove: a = b"}},
		{"a++; return 0, nil", []string{"remove: a++"}},
		{"println(a); return 0, nil", []string{"remove: println(a)"}},
		{"e := b; println(e); println(e); return 0, nil", []string{"remove: println(e)", "remove: println(e) #2"}},
		{"panic(a)", nil},
		{"if c { return 0, nil }; return *new(int), error(nil)", []string{"zero: return *new(int), error(nil)", "negate: c"}},
		{"return b, nil", []string{"zero: return b, nil"}},
		{"return b - 1, nil", []string{"zero: return b - 1, nil", "+1: 1", "-1: 1"}},
		{"const n = 5; x := make([]int, 5); _ = x; return 0, nil", nil},
		{"g := func() bool { return c }; _ = g; return 0, nil", []string{"negate: c"}},
	} {
		keys, _ := mutantsOf(t, tt.body)
		must.Match(t, tt.body, tt.want, keys)
	}
}

func TestAMutatedFileHasBothVersions(t *testing.T) {
	_, text := mutantsOf(t, "if c && a < b-1 {\n\ta = b\n}\nreturn a, nil")
	want := `package p; import "github.com/toolshelf-go/toolshelf/internal/dev/mutants/mutant"

func f(a, b int, c, d bool) (int, error) {
if (mutant.On(3) && ((c) || (a < b-1)) || !mutant.On(3) && ((mutant.On(2) != (c)) && ` +
		`(mutant.On(4) != ((mutant.On(5) && ((a) <= (b-1)) || !mutant.On(5) && ` +
		`(a < b-mutant.Add(6, 1, int(mutant.Add(7, -1, int(1)))))))))) {
	if !mutant.On(8) { a = b }
}
if mutant.On(1) { return *new(int), *new(error) }; return a, nil
}
`
	must.Match(t, "result", want, text)
}

func TestATableHasAReasonForEachMutant(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"# comment\np f remove: a = b\tspeed\ta cache\n": {"p f remove: a = b": "speed"},
		"p f remove: a = b\tspeed\t\n":                   nil,
		"p f remove: a = b\tboring\ta cache\n":           nil,
		"p f remove: a = b\n":                            nil,
	} {
		file := filepath.Join(t.TempDir(), "table")
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		got, err := readTable(file)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %s", text, err, diff)
		}
	}
}
