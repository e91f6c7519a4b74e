// Package lint checks the text of commands and skills. It reads no files.
package lint

import (
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A File is one file that was read in full.
type File struct {
	Name string // of the skill's directory
	Path string // as diagnostics have it
	Raw  []byte
	Doc  matter.Document
}

// at is a diagnostic of a file, at a field of its frontmatter.
func (f *File) at(field matter.Field, severity problem.Severity, code problem.Code, message, suggestion string) problem.Problem {
	return problem.Problem{Code: code, Severity: severity, Path: f.Path, Line: field.Line, Column: field.Column,
		Key: strings.Clone(field.Key), Message: message, Suggestion: suggestion}
}

// header is the problems of a file's frontmatter. Those that lost what it says
// are errors; of a skill, all are that the reference validator refuses too.
func (f *File) header(skill bool) []problem.Problem {
	var found []problem.Problem
	for _, p := range f.Doc.Problems {
		d := p.In(f.Path)
		switch {
		case p.Code == problem.FrontmatterValueCut, p.Code == problem.AllowedToolsUnbalanced:
		case skill, p.Code == problem.FrontmatterUnterminated, p.Code == problem.FrontmatterUnknownFence, p.Code == problem.FrontmatterRefused, p.Code == problem.FrontmatterInvalid:
			d.Severity = problem.Error
		}
		found = append(found, d)
	}
	return found
}

// field returns the field that counts of those with a key, and else one that
// stands for the whole frontmatter.
func (f *File) field(key string) (field matter.Field, ok bool) {
	for _, field := range slices.Backward(f.Doc.Fields) {
		if field.Key == key {
			return field, true
		}
	}
	return matter.Field{Key: key, Line: max(f.Doc.Line, 1)}, false
}
