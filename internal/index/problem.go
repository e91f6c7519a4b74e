package index

import (
	"fmt"
	"path"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// place returns the path of a file for problems: the result of join in a single
// line.
func (c *Config) place(layer int, file string) string { return escape.Path(c.join(layer, file)) }

// join joins the layer's name and the path below the layer's directory.
func (c *Config) join(layer int, file string) string {
	l := c.Layers[layer]
	if l.Dir != "." {
		file = strings.TrimPrefix(strings.TrimPrefix(file, l.Dir), "/")
	}
	return path.Join(l.Name, file)
}

func shadowed(c *Config, e, by *Entry) problem.Problem {
	p := problem.Problem{
		Code:     problem.Shadowed,
		Severity: problem.Warning,
		Path:     c.place(e.Layer(), e.Spelled()),
		Message:  fmt.Sprintf("shadowed by %s, which has the same name and takes precedence", c.place(by.Layer(), by.Spelled())),
	}
	if e.layer == by.layer {
		p.Suggestion = "rename one of the files"
	}
	return p
}

// bareBeside describes a directory without a SKILL.md that has the name of a skill.
func bareBeside(c *Config, e, served *Entry) problem.Problem {
	p := e.Problems()[0]
	p.Message += fmt.Sprintf("; the skill with this name is %s", c.place(served.Layer(), served.Spelled()))
	p.Suggestion = "remove the directory, or add a SKILL.md, which then hides the other skill"
	if served.layer < e.layer {
		p.Suggestion = "remove the directory, or rename the directory and add a SKILL.md"
	}
	return p
}

func differsInCase(c *Config, e, from *Entry) problem.Problem {
	return problem.Problem{
		Code:       problem.NameDiffersInCase,
		Severity:   problem.Warning,
		Path:       c.place(e.Layer(), e.Spelled()),
		Message:    fmt.Sprintf("the name differs only in letter case from the name of %s", c.place(from.Layer(), from.Spelled())),
		Suggestion: "rename one of the files; on some systems both names are the same file",
	}
}

// Unread returns the problem of a file that could not be read after the scan.
func (x *Index) Unread(e *Entry, err error) problem.Problem {
	return problem.Problem{Code: problem.FileRead, Severity: problem.Error, Path: x.Place(e),
		Message: "cannot read the file: " + escape.Reason(err), Suggestion: x.Layer(e.Layer()).ReadAdvice(err)}
}
