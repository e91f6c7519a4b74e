package index

import (
	"fmt"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// shadowed describes an entry that a catalog does not serve, because another entry has the same
// name.
func shadowed(c *Config, e, by *Entry) problem.Problem {
	p := problem.Problem{
		Code:     problem.Shadowed,
		Severity: problem.Warning,
		Path:     c.place(e.Layer(), e.Spelled()),
		Message: fmt.Sprintf("shadowed by %s, which has the same name and takes precedence",
			c.place(by.Layer(), by.Spelled())),
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
		Code:     problem.NameDiffersInCase,
		Severity: problem.Warning,
		Path:     c.place(e.Layer(), e.Spelled()),
		Message: fmt.Sprintf("the name differs only in letter case from the name of %s",
			c.place(from.Layer(), from.Spelled())),
		Suggestion: "rename one of the files; on some systems both names are the same file",
	}
}
