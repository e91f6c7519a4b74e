package index

import (
	"errors"
	"fmt"
	"slices"
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
}

// WithPlace returns the layer with the pattern and the rules of a place. A place without a pattern
// changes nothing.
func (l Layer) WithPlace(of Place) Layer {
	p := of.Place
	if p.Pattern == "" {
		return l
	}
	l.Rules, l.Prefix, l.Names = of.Rules, p.Prefix, p.Name
	if skillPlace(p) {
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

func skillPlace(p client.Place) bool { return p.Pattern == "*/SKILL.md" || p.Pattern == "**/SKILL.md" }

// checkCommands returns an error if the index cannot read commands in a place.
func checkCommands(p client.Place) error {
	if !filePlace(p) {
		return errors.New(`commands need a pattern such as "*.md" or "**/*.toml"`)
	}
	return nil
}

// filePlace reports whether each file of a place is a command or a skill.
func filePlace(p client.Place) bool {
	return strings.HasPrefix(p.Pattern, "*") && !strings.Contains(p.Suffix(), "/")
}

// checkSkills returns an error if the index cannot read skills in a place.
func checkSkills(p client.Place) error {
	if !skillPlace(p) && (!filePlace(p) || !strings.HasSuffix(p.Pattern, ".md")) {
		return errors.New(`skills need the pattern "*/SKILL.md" or "**/SKILL.md", or for files a pattern such as "*.md"`)
	}
	return nil
}

// Places returns the places of clients, highest precedence first: the places of the project, then
// the places of the user. A place with subdirectories includes the same place without
// subdirectories, and a place with parents the same place without parents. A place of several clients
// has the rules of the first client. A place that the index cannot read is an error.
func Places(clients []client.Client) (commands, skills []Place, err error) {
	for _, c := range clients {
		if err := c.Check(); err != nil {
			return nil, nil, err
		}
		if len(c.Commands)+len(c.Skills) == 0 {
			return nil, nil, fmt.Errorf("the client %q has no place of commands or skills; add a place, or use the row in WithStrict and LintFor only", c.Name)
		}
	}
	for _, inProject := range []bool{true, false} {
		add := func(all *[]Place, from client.Client, places []client.Place, rules client.Rules, check func(client.Place) error) {
			for _, p := range places {
				invalid := check(p)
				switch i := slices.IndexFunc(*all, func(other Place) bool { return samePlace(p, other.Place) }); {
				case err != nil:
				case invalid != nil:
					err = fmt.Errorf("the place %q of the client %q: %w", p.Path(), from.Name, invalid)
				case inProject != (p.Base == client.Project):
				case i < 0:
					*all = append(*all, Place{p, rules})
				default:
					(*all)[i] = Both((*all)[i], Place{p, rules})
				}
			}
		}
		for _, c := range clients {
			add(&commands, c, c.Commands, c.Rules, checkCommands)
			add(&skills, c, c.Skills, c.SkillRules, checkSkills)
		}
	}
	return commands, skills, err
}

// Both returns the place that includes the files of two places with the same directory, ending and
// names, and the rules of the first place.
func Both(p, q Place) Place {
	if q.Nested() {
		p.Pattern = q.Pattern
	}
	p.Parents = p.Parents || q.Parents
	return p
}

// samePlace reports whether two places have the same files and names, except files in
// subdirectories.
func samePlace(a, b client.Place) bool {
	return a.Path() == b.Path() && a.Suffix() == b.Suffix() && a.Name == b.Name && a.Prefix == b.Prefix
}
