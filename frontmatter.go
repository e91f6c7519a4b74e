package toolshelf

import "github.com/toolshelf-go/toolshelf/internal/matter"

// Frontmatter is the header of a command or skill file. Frontmatter keeps all
// fields of the author, including fields that this package does not use. A file
// without frontmatter has the zero Frontmatter.
//
// The text of a scalar is the text in the file: every method that returns text
// returns 3000, 007, yes and 2025-01-31 unchanged. Numbers in TOML have the text of
// their TOML value: 1_000 is 1000, and 1.10 is 1.1. If a key occurs twice, the last
// value counts.
type Frontmatter struct {
	Format string // "yaml", "toml" or "json"; "" without frontmatter
	Raw    string // the text between the fences, as written
	doc    matter.Frontmatter
}

func newFrontmatter(doc matter.Frontmatter) Frontmatter {
	return Frontmatter{Format: string(doc.Format), Raw: doc.Header, doc: doc}
}

// Keys returns the top-level keys in file order, each key once.
func (f Frontmatter) Keys() []string {
	var keys []string
	seen := make(map[string]bool, len(f.doc.Fields))
	for _, field := range f.doc.Fields {
		if !seen[field.Key] {
			seen[field.Key] = true
			keys = append(keys, field.Key)
		}
	}
	return keys
}

// Has reports whether the frontmatter contains the key, with or without a value.
func (f Frontmatter) Has(key string) bool {
	_, ok := f.doc.Get(key)
	return ok
}

// Text returns the value of a key as text. The text of a scalar is the scalar as
// written. The text of a value in brackets, such as [file], includes the brackets,
// because authors who write brackets do not always mean a list. The text of any other
// list of scalars is its items joined by ", ". For all other values and for a missing
// key, Text returns "".
func (f Frontmatter) Text(key string) string {
	v, _ := f.doc.Get(key)
	return v.String()
}

// List returns the items of a list of scalars. A single scalar is a list with one
// item. For all other values and for a missing key, List returns nil.
func (f Frontmatter) List(key string) []string {
	v, _ := f.doc.Get(key)
	return v.Strings()
}

// Bool returns true for true, yes, on and 1, and false for false, no, off and 0.
// Letter case and quotes do not matter. For all other values, ok is false.
func (f Frontmatter) Bool(key string) (value, ok bool) {
	v, _ := f.doc.Get(key)
	return v.Bool()
}

// Equal reports whether two files have the same header, byte for byte. The package
// github.com/google/go-cmp uses Equal to compare commands and skills.
func (f Frontmatter) Equal(other Frontmatter) bool {
	return f.Format == other.Format && f.Raw == other.Raw
}

// MarshalJSON returns the frontmatter as a JSON object with the keys in file
// order. Numbers have their value in YAML 1.2: 007 becomes 7, and 0x1F becomes 31. A
// number keeps its digits if JSON allows the notation: 1.50 stays 1.50. Booleans and
// nulls keep their type. All other scalars become strings, and so do the numbers that a
// float64 cannot hold, such as .inf and 1e400. A key that occurs twice has its last value
// at its first position. Without frontmatter, the object is {}. The JSON form cannot be
// converted back.
func (f Frontmatter) MarshalJSON() ([]byte, error) {
	return f.doc.AppendJSON(nil), nil
}
