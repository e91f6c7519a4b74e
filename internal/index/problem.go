package index

import (
	"fmt"
	"path"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

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

func shadowed(c *Config, e, by *Entry) problem.Problem {
	p := problem.Problem{
		Code:     problem.Shadowed,
		Severity: problem.Warning,
		Path:     c.place(e.Layer, e.Path),
		Message:  fmt.Sprintf("hidden by %s, which has the same name and comes first", c.place(by.Layer, by.Path)),
	}
	if e.Layer == by.Layer {
		p.Suggestion = "rename one of the two"
	}
	return p
}

func differsInCase(c *Config, e, from *Entry) problem.Problem {
	return problem.Problem{
		Code:       problem.NameDiffersInCase,
		Severity:   problem.Warning,
		Path:       c.place(e.Layer, e.Path),
		Message:    fmt.Sprintf("its name differs only in letter case from that of %s", c.place(from.Layer, from.Path)),
		Suggestion: "rename one of the two; on some systems they are the same file",
	}
}
