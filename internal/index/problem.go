package index

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// A Problem is something about a file that its author may want to mend.
type Problem struct {
	Code       string // what kind, in upper case
	Severity   string // Error: the file is not served as it is; Warning: it is
	Path       string // the layer's name and the path below it
	Line       int    // 1-based; 0 where the problem is the file itself
	Column     int    // 1-based, in characters; 0 where unknown
	Key        string // the frontmatter key concerned
	Message    string
	Suggestion string // what to write instead, where that is known
}

const (
	Error   = "error"
	Warning = "warning"
)

// FromHeader is a problem of the frontmatter of the file at place.
func FromHeader(p matter.Problem, place string) Problem {
	return Problem{
		Code:       string(p.Class),
		Severity:   Warning,
		Path:       place,
		Line:       p.Line,
		Column:     p.Column,
		Key:        strings.Clone(p.Key), // the header may be long
		Message:    p.Message,
		Suggestion: p.Suggestion,
	}
}

// CompareProblems is the order of problems: by path, then by place in the file.
func CompareProblems(a, b Problem) int {
	return cmp.Or(
		strings.Compare(a.Path, b.Path),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		strings.Compare(a.Code, b.Code),
		strings.Compare(a.Key, b.Key),
		strings.Compare(a.Message, b.Message),
	)
}

// place is the path of a file as problems have it.
func (c *Config) place(layer int, file string) string { return c.escaped(c.join(layer, file)) }

func (c *Config) escaped(place string) string {
	if c.Escape == nil {
		return place
	}
	return c.Escape(place)
}

// join is the layer's name and the path below it.
func (c *Config) join(layer int, file string) string {
	l := c.Layers[layer]
	if l.Dir != "." {
		file = strings.TrimPrefix(strings.TrimPrefix(file, l.Dir), "/")
	}
	return path.Join(l.Name, file)
}

func shadowed(c *Config, e, by *Entry) Problem {
	p := Problem{
		Code:     "SHADOWED",
		Severity: Warning,
		Path:     c.place(e.Layer, e.Path),
		Message:  fmt.Sprintf("hidden by %s, which has the same name and comes first", c.place(by.Layer, by.Path)),
	}
	if e.Layer == by.Layer {
		p.Suggestion = "rename one of the two"
	}
	return p
}

func differsInCase(c *Config, e, from *Entry) Problem {
	return Problem{
		Code:       "NAME_DIFFERS_IN_CASE",
		Severity:   Warning,
		Path:       c.place(e.Layer, e.Path),
		Message:    fmt.Sprintf("its name differs only in letter case from that of %s", c.place(from.Layer, from.Path)),
		Suggestion: "rename one of the two; on some systems they are the same file",
	}
}
