// Package lint checks the text of commands and skills. The package reads no
// files: a caller passes each text and two callbacks for the rest of a catalog.
package lint

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A File is the complete text of a command or of a SKILL.md.
type File struct {
	Name  string // directory name of a skill, or file name of a skill without a directory; unused for a command
	Alone bool   // the skill has no directory
	Path  string // path in problems
	Raw   []byte
	Doc   matter.Document // Raw, parsed as a whole file

	Rules client.Rules // the placeholder rules of the client of the layer
	Bare  string       // key of the globs of a rule, which need no quotes; or ""
	Named bool         // the path gives the file a name, so no client requires the field name

	// NFKC normalizes the name of a skill, as the reference validator does. Nil leaves the name
	// unchanged: this package does not link the tables of Unicode.
	NFKC func(string) string

	kind    client.Files
	profile *Profile
	rejects bool                    // only the errors of the file are of interest
	unique  []matter.Field          // last field of each key
	meant   map[string]matter.Field // key → field that supplies the value: with the key, or for a strict client with a misspelled key
}

// prepare sets the fields for the checks.
func (f *File) prepare(kind client.Files, profile *Profile) {
	f.kind, f.profile, f.meant = kind, profile, make(map[string]matter.Field)
	last := make(map[string]int)
	for i, field := range f.Doc.Fields {
		last[field.Key] = i
	}
	rank := func(field matter.Field, key string) (rank int) {
		if !blank(field) {
			rank = 2
		}
		if field.Key == key {
			rank++
		}
		return rank
	}
	for i, field := range f.Doc.Fields {
		if last[field.Key] != i {
			continue
		}
		f.unique = append(f.unique, field)
		key := field.Key
		if profile.client.Strict { // other clients do not read a misspelled key
			key = cmp.Or(f.spelling(key), key)
		}
		if other, ok := f.meant[key]; !ok || rank(field, key) > rank(other, key) {
			f.meant[key] = field
		}
	}
}

// blank reports whether a field has no value.
func blank(field matter.Field) bool {
	return field.Value.Kind < matter.Sequence && strings.TrimSpace(field.Value.Text) == ""
}

// at returns a problem at a field. A zero Line means the whole file.
func (f *File) at(field matter.Field, severity problem.Severity, code problem.Code, message, suggestion string) problem.Problem {
	return problem.Problem{Code: code, Severity: severity, Path: f.Path, Line: field.Line, Column: field.Column,
		Key: strings.Clone(field.Key), Message: message, Suggestion: suggestion}
}

// placeAfter returns the place that follows a text.
func placeAfter(text []byte) matter.Field {
	begin := bytes.LastIndexByte(text, '\n') + 1
	return matter.Field{Line: 1 + bytes.Count(text, []byte("\n")), Column: 1 + utf8.RuneCount(text[begin:])}
}

// header returns the problems of the frontmatter. A problem is an error if the
// frontmatter lost a value, and in a skill if the reference validator rejects the
// file. A suggestion to write a field with a misspelled key has the right key.
func (f *File) header() []problem.Problem {
	var found []problem.Problem
	for _, p := range f.Doc.Problems {
		p = p.In(f.Path)
		if p.Code == problem.FrontmatterRecovered && p.Key != "" && p.Key == f.Bare {
			continue
		}
		notation := p.Code == problem.FrontmatterRecovered || p.Code == problem.FrontmatterValueCut
		if key := f.spelling(p.Key); notation && key != "" {
			p.Suggestion = ""
			if p.Line >= f.meant[key].Line {
				p.Suggestion = f.respelled(p.Key, key)
			}
		}
		switch p.Code {
		case problem.FrontmatterValueCut, problem.AllowedToolsUnbalanced:
		case problem.FrontmatterUnterminated, problem.FrontmatterUnknownFence, problem.FrontmatterRefused, problem.FrontmatterInvalid:
			p.Severity = problem.Error
		default:
			if f.kind == client.Skills {
				p.Severity = problem.Error
			}
		}
		found = append(found, p)
	}
	return found
}

// explained reports whether a problem explains why the file has no fields.
func (f *File) explained() bool {
	return slices.ContainsFunc(f.Doc.Problems, func(p problem.Problem) bool {
		return slices.Contains(withoutFields, p.Code)
	})
}

// withoutFields are the problems of a file without fields.
var withoutFields = []problem.Code{problem.FrontmatterUnterminated, problem.FrontmatterNotAMapping,
	problem.FrontmatterUnknownFence, problem.FrontmatterInvalid}

// field returns the last field with a key, or else the field with a misspelled key for
// the key. If both are missing, ok is false and the field has the line of the opening
// fence.
func (f *File) field(key string) (field matter.Field, ok bool) {
	if field, ok = f.meant[key]; !ok {
		field = matter.Field{Key: key, Line: max(f.Doc.Line, 1)}
	}
	return field, ok
}

// shorten limits a text that a message quotes.
func shorten(s string) string {
	const limit = 60
	runes := []rune(s[:min(len(s), 4*limit)])
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}
