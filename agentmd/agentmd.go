// Package agentmd reads Markdown files for agents: commands, skills and agents. A file is bytes,
// and the result is a value: the frontmatter, its typed fields, the body, and the defects. The
// package reads no filesystem and has no state.
//
// A header is the text between two fences at the beginning of a line. The fences are "---" for
// YAML, "+++" for TOML and ";;;" for JSON. A JSON object at the beginning of the file is a header
// too. [Parse] accepts every input: a broken header is read as its author meant, as far as
// possible, and each defect is a [Diagnostic]. [ParseSkill], [ParseCommand] and [ParseAgent] also
// check the fields of a kind of file, and their method Check tells whether a client rejects the
// file.
//
// [Frontmatter] keeps the fields of the author. [Frontmatter.Fields] has the fields that clients
// document, with types. [ParseToolRules] reads the rules of allowed-tools.
//
// Package toolshelf has catalogs of such files. The types [Frontmatter] and [Diagnostic] of both
// packages are the same.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package agentmd

import (
	"fmt"

	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// A Document is a Markdown file with its header.
type Document struct {
	Raw         []byte // the data of Parse, not a copy
	Frontmatter Frontmatter
	Body        []byte // the Markdown after the header; a part of the data, not a copy
	// Defects of the header, at most 50 warnings in the order of the file; nil without defects.
	Diagnostics []Diagnostic
}

// Parse reads a Markdown file. Parse accepts every input and executes nothing. Data without a
// header is a Body. A header has at most 64 KiB; a longer header is part of the body, with a
// diagnostic. The time is linear in the length of the data. Raw and Body refer to the data.
func Parse(data []byte) Document {
	doc, file := read("", "", data)
	doc.Diagnostics = newDiagnostics(file.Doc.Problems)
	return doc
}

// Set returns Raw with one top-level field of the header changed, or added after the last field.
// Every other byte stays. Data without a header gets a header in YAML. Of several fields with the
// key, Set changes the last. A dot in the key has no meaning. A value of several lines is one line
// in quotes. true and false are written as booleans, a number as a number if it replaces a number,
// and every other value as text.
//
// Set returns an error, and changes nothing, if the header cannot be read, if the value is a
// mapping, if another field would change, or if the key or the value is not UTF-8. The error says
// what to do.
func (d Document) Set(key, value string) ([]byte, error) {
	return set("", d.Raw, key, value)
}

func set(file string, data []byte, key, value string) ([]byte, error) {
	changed, err := edited(file, data, key, value)
	if err != nil {
		return nil, fmt.Errorf("cannot set the field %.100q: %w", key, err)
	}
	return changed, nil
}

// Frontmatter is the header of a Markdown file for an agent. Frontmatter keeps all
// fields of the author, including fields that no package of this module uses. A file
// without frontmatter has the zero Frontmatter.
//
// The text of a scalar is the text in the file: every method that returns text
// returns 3000, 007, yes and 2025-01-31 unchanged. Numbers in TOML have the text of
// their TOML value: 1_000 is 1000, and 1.10 is 1.1. If a key occurs twice, the last
// value counts.
type Frontmatter struct {
	Format string // "yaml", "toml" or "json"; "" without frontmatter
	Raw    string // the text between the fences, as written
	header matter.Frontmatter
}

// NewFrontmatter returns the Frontmatter of a parsed header. Only the packages of this module
// can call NewFrontmatter; use [Parse].
func NewFrontmatter(header matter.Frontmatter) Frontmatter {
	return Frontmatter{Format: string(header.Format), Raw: header.Header, header: header}
}

// Header returns the parsed header of a Frontmatter, for the packages of this module.
func Header(f *Frontmatter) *matter.Frontmatter { return &f.header }

// Keys returns the top-level keys in file order, each key once.
func (f Frontmatter) Keys() []string {
	var keys []string
	seen := make(map[string]bool, len(f.header.Fields))
	for _, field := range f.header.Fields {
		if !seen[field.Key] {
			seen[field.Key] = true
			keys = append(keys, field.Key)
		}
	}
	return keys
}

// Text returns the value of a key as text. The text of a scalar is the scalar as
// written. The text of a value in brackets, such as [file], includes the brackets,
// because authors who write brackets do not always mean a list. The text of any other
// list of scalars is its items joined by ", ". For all other values and for a missing
// key, Text returns "".
func (f Frontmatter) Text(key string) string {
	return f.value(key).String()
}

// List returns the items of a list of scalars. A single scalar is a list with one
// item. For all other values and for a missing key, List returns nil.
func (f Frontmatter) List(key string) []string {
	return f.value(key).Strings()
}

// Bool returns true for true, yes, on and 1, and false for false, no, off and 0.
// Letter case and quotes do not matter. For all other values, ok is false.
func (f Frontmatter) Bool(key string) (value, ok bool) {
	return f.value(key).Bool()
}

// value returns the last value of a key, or null.
func (f Frontmatter) value(key string) matter.Value {
	v, _ := f.header.Get(key)
	return v
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
	return f.header.AppendJSON(nil), nil
}
