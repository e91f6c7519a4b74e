package index

import (
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

// placed are the places of the kinds of files, with the rules of their texts, and the reason why an
// index cannot read a place.
var placed = []struct {
	kind   client.Files
	of     func(client.Client) ([]client.Place, client.Rules)
	reads  func(client.Place) bool
	reason string
}{
	{client.Commands, func(c client.Client) ([]client.Place, client.Rules) { return c.Commands, c.Rules }, filePlace,
		`commands need a pattern such as "*.md" or "**/*.toml"`},
	{client.Skills, func(c client.Client) ([]client.Place, client.Rules) { return c.Skills, c.SkillRules }, func(p client.Place) bool { return directoryPlace(p) || markdownPlace(p) },
		`skills need the pattern "*/SKILL.md" or "**/SKILL.md", or for files a pattern such as "*.md"`},
	{client.Agents, func(c client.Client) ([]client.Place, client.Rules) { return c.Agents, client.Rules{} }, markdownPlace,
		`agents need a pattern such as "*.md" or "**/*.agent.md"`},
	{client.Instructions, func(c client.Client) ([]client.Place, client.Rules) {
		return slices.DeleteFunc(slices.Clone(c.Instructions), client.Place.Single), client.Rules{}
	}, filePlace, `rules need a pattern such as "*.md" or "**/*.mdc"`},
}

// Places returns the places of clients by the kind of files, highest precedence first: the places
// of the project, then the places of the user. A place with subdirectories includes the same place
// without subdirectories, and a place with parents the same place without parents. A place of
// several clients has the rules of the first client. A place that the index cannot read is an
// error.
func Places(clients []client.Client) (map[client.Files][]Place, error) {
	for _, c := range clients {
		if err := c.Check(); err == nil && len(c.Commands)+len(c.Skills)+len(c.Agents)+len(c.Servers.Files) == 0 {
			return nil, fmt.Errorf("the client %q has no place of commands, skills, agents or MCP servers; add a place, or use the row in WithStrict and LintFor only", c.Name)
		}
	}
	return places(clients)
}

// Rules returns the places of rules of clients, in the order of Places. Package instruction reads
// the single files.
func Rules(clients []client.Client) ([]Place, error) {
	for _, c := range clients {
		if err := c.Check(); err == nil && len(c.Instructions) == 0 {
			return nil, fmt.Errorf("the client %q has no place of instructions; add a place, or remove the client", c.Name)
		}
	}
	all, err := places(clients)
	return all[client.Instructions], err
}

// PluginPlaces returns the places of plugins of valid clients, in the order of Places.
func PluginPlaces(clients []client.Client) (all []Place) {
	for _, inProject := range []bool{true, false} {
		for _, c := range clients {
			for _, p := range c.Plugins {
				if inProject == (p.Base == client.Project) {
					all = append(all, Place{Place: p})
				}
			}
		}
	}
	return all
}

func places(clients []client.Client) (map[client.Files][]Place, error) {
	all := map[client.Files][]Place{}
	for _, c := range clients {
		if err := c.Check(); err != nil {
			return nil, err
		}
		for _, k := range placed {
			places, _ := k.of(c)
			if i := slices.IndexFunc(places, func(p client.Place) bool { return !k.reads(p) }); i >= 0 {
				return nil, fmt.Errorf("the place %q of the client %q: %s", places[i].Path(), c.Name, k.reason)
			}
		}
	}
	for _, inProject := range []bool{true, false} {
		for _, c := range clients {
			for _, k := range placed {
				places, rules := k.of(c)
				for _, p := range places {
					switch i := slices.IndexFunc(all[k.kind], func(other Place) bool { return SamePlace(p, other.Place) }); {
					case inProject != (p.Base == client.Project):
					case i < 0:
						all[k.kind] = append(all[k.kind], Place{p, rules, c.Name})
					default:
						all[k.kind][i] = Both(all[k.kind][i], Place{p, rules, c.Name})
					}
				}
			}
		}
	}
	return all, nil
}

// Both returns the place that includes the files of two places with the same directory, ending and
// names, and the rules of the first place.
func Both(p, q Place) Place {
	if q.Nested() {
		p.Pattern = q.Pattern
	}
	p.Parents, p.Below, p.AnyDepth = p.Parents || q.Parents, p.Below || q.Below, p.AnyDepth || q.AnyDepth
	return p
}

// SamePlace reports whether two places have the same files and names, except files in
// subdirectories.
func SamePlace(a, b client.Place) bool {
	return a.Path() == b.Path() && a.Suffix() == b.Suffix() && a.Name == b.Name && a.Prefix == b.Prefix
}
