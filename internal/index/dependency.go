package index

import (
	"bytes"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// IsDependency reads is_dependency from the header of a file that begins with
// head. If a broken header leaves the value unclear, the command is a dependency.
func IsDependency(doc matter.Document, head []byte) bool {
	const key = "is_dependency"
	if v, ok := doc.Get(key); ok {
		if v.Kind == matter.Null {
			return false
		}
		dependency, clear := v.Bool()
		return dependency || !clear
	}
	unclear := false
	for _, p := range doc.Problems {
		switch p.Code {
		case problem.FrontmatterRecovered, problem.FrontmatterRefused, problem.FrontmatterInvalid, problem.FrontmatterNotAMapping, problem.FrontmatterUnterminated, problem.FrontmatterUnknownFence:
			unclear = true
		}
	}
	if !unclear {
		return false
	}
	header := doc.Header
	if doc.Format == "" {
		header = head // without a parsed header, search the first bytes
	}
	for line := range bytes.Lines(header) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t\"'{,"), []byte(key)) {
			return true
		}
	}
	return false
}
