package index

import (
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

const dependencyKey = "is_dependency"

// IsDependency reads is_dependency from the header of a file that begins with
// head. If a broken header leaves the value unclear, the command is a dependency.
func IsDependency(doc matter.Document, head []byte) bool {
	if v, ok := doc.Get(dependencyKey); ok {
		if v.Kind == matter.Null {
			return false
		}
		dependency, clear := v.Bool()
		return dependency || !clear
	}
	unclear := false
	for _, p := range doc.Problems {
		switch p.Code {
		case problem.FrontmatterRecovered, problem.FrontmatterRefused, problem.FrontmatterInvalid,
			problem.FrontmatterNotAMapping, problem.FrontmatterUnterminated,
			problem.FrontmatterUnknownFence:
			unclear = true
		}
	}
	if !unclear {
		return false
	}
	header := doc.Header
	if doc.Format == "" {
		header = string(head) // without a parsed header, search the first bytes
	}
	for line := range strings.Lines(header) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t\"'{,"), dependencyKey) {
			return true
		}
	}
	return false
}
