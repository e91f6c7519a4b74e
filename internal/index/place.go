package index

import (
	"errors"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
)

// maxPlaceDepth is the depth of a place of skills with subdirectories, which is the maximum of the
// client guide of the Agent Skills format.
const maxPlaceDepth = 6

// A Place is a place of a client, with the placeholder rules of the client.
type Place struct {
	client.Place
	Rules client.Rules
	Of    string // the name of the client, or in a plugin the manifest of the format
}

// WithPlace returns the layer with the pattern and the rules of a place. A place without a pattern,
// or of plugins, changes nothing.
func (l Layer) WithPlace(of Place) Layer {
	p := of.Place
	if p.Pattern == "" || l.Plugins != nil {
		return l
	}
	l.Rules, l.RulesOf, l.Prefix, l.Names = of.Rules, of.Of, p.Prefix, p.Name
	if directoryPlace(p) {
		if l.Depth = 1; p.Nested() {
			l.Depth = maxPlaceDepth
		}
		return l
	}
	if l.Suffix = p.Suffix(); l.Suffix == ".md" {
		l.Suffix = "" // in any letter case
	}
	l.Nested, l.Files = p.Nested(), true
	return l
}

func directoryPlace(p client.Place) bool {
	return p.Pattern == "*/SKILL.md" || p.Pattern == "**/SKILL.md"
}

// filePlace reports whether each file of a place is an entry.
func filePlace(p client.Place) bool {
	return strings.HasPrefix(p.Pattern, "*") && !strings.Contains(p.Suffix(), "/")
}

// markdownPlace reports whether each Markdown file of a place is an entry.
func markdownPlace(p client.Place) bool { return filePlace(p) && strings.HasSuffix(p.Pattern, ".md") }

// readable are the places that an index of a kind reads, and the reason why other places are errors.
var readable = map[client.Files]struct {
	reads  func(client.Place) bool
	reason string
}{
	client.Commands: {filePlace, `commands need a pattern such as "*.md" or "**/*.toml"`},
	client.Skills: {func(p client.Place) bool { return directoryPlace(p) || markdownPlace(p) },
		`skills need the pattern "*/SKILL.md" or "**/SKILL.md", or for files a pattern such as "*.md"`},
	client.Agents:       {markdownPlace, `agents need a pattern such as "*.md" or "**/*.agent.md"`},
	client.Instructions: {filePlace, `rules need a pattern such as "*.md" or "**/*.mdc"`},
}

// CheckPlace returns an error if an index of a kind cannot read a valid place.
func CheckPlace(kind client.Files, p client.Place) error {
	if r := readable[kind]; !r.reads(p) {
		return errors.New(r.reason)
	}
	return nil
}
