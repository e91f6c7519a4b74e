package toolshelf

import "github.com/toolshelf-go/toolshelf/internal/matter"

// Frontmatter is the header of a command or skill file. All that its author
// wrote is kept, fields that this package has no use for included. The zero
// Frontmatter is that of a file without one.
//
// Scalars are read as text, as their author wrote them: 3000, 007, yes and
// 2025-01-31 are these very characters wherever a text is asked for. (Numbers in
// TOML are as TOML means them: 1_000 is 1000, and 1.10 is 1.1.) Where a key is
// there twice, the last one counts.
type Frontmatter struct {
	Format string // "yaml", "toml" or "json"; "" for none
	Raw    string // the text between the fences, as written
	doc    matter.Document
}

func newFrontmatter(doc matter.Document) Frontmatter {
	f := Frontmatter{Format: string(doc.Format), Raw: string(doc.Header)}
	doc.Header = nil // it would keep the whole file in memory
	f.doc = doc
	return f
}

// Keys returns the top-level keys in the order of the file, each once.
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

// Has reports whether the key is there, with or without a value.
func (f Frontmatter) Has(key string) bool {
	_, ok := f.doc.Get(key)
	return ok
}

// Text returns the text of a scalar; of what is in brackets, such as [file],
// the text as written, brackets included, which is what an author means who
// does not mean a list; of another list of scalars, its items joined by ", ".
// For anything else and for a key that is not there, it is "".
func (f Frontmatter) Text(key string) string {
	v, _ := f.doc.Get(key)
	return v.String()
}

// List returns the items of a list of scalars; a single scalar is a list of
// one. For anything else and for a key that is not there, it is nil.
func (f Frontmatter) List(key string) []string {
	v, _ := f.doc.Get(key)
	return v.Strings()
}

// Bool reads true, yes, on and 1, and false, no, off and 0, in any letter
// case, quoted or not; ok is false for anything else.
func (f Frontmatter) Bool(key string) (value, ok bool) {
	v, _ := f.doc.Get(key)
	return v.Bool()
}

// Equal reports whether two files have the same header, to the byte. Comparisons
// of commands and skills by github.com/google/go-cmp use it.
func (f Frontmatter) Equal(other Frontmatter) bool {
	return f.Format == other.Format && f.Raw == other.Raw
}

// MarshalJSON returns the whole frontmatter as one JSON object: the keys in
// the order of the file, numbers to the digit where JSON has them and a float64
// can hold them, and everything else that is no truth value or null as text. A
// key that is there twice has its last value in its first place. It is {} for
// none.
// There is no way back from it.
func (f Frontmatter) MarshalJSON() ([]byte, error) {
	return f.doc.AppendJSON(nil), nil
}
