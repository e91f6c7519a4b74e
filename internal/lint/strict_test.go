package lint

import (
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/matter"
)

func TestStrictIsOfYAMLOnly(t *testing.T) {
	for _, text := range []string{"", "text", "+++\na = [1]\n+++\n", "{\"a\": [1]}\n"} {
		doc, _ := matter.Parse([]byte(text), true)
		if got := strictProblems(&doc); got != nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// checkStrict compares the fast path of strictProblems with the nodes of the YAML library.
func checkStrict(t *testing.T, header string) matter.Document {
	doc, _ := matter.Parse([]byte("---\n"+header+"---\n"), true)
	if found := ofNodes(&doc); doc.Plain && isStrict(&doc) && len(found) > 0 {
		t.Fatalf("%q is not strict: %v", header, found)
	}
	return doc
}

func FuzzStrict(f *testing.F) {
	for _, header := range []string{"a: b\n", "a:\n  b: c\n  b: d\n", "a:\n  b: c\nd:\n   e: f\n", "a:\n  - b: [c]\n", "a: >\n  b\nc:\n- d # e\n"} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) { checkStrict(t, header) })
}
