package layers

import (
	"fmt"
	"slices"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// Places returns the places of clients by the kind of files, highest precedence first: the places
// of the project, then the places of the user. List.AddPlaces joins equal places. A place that the
// index cannot read is an error.
func Places(clients []client.Client) (map[client.Files][]index.Place, error) {
	for _, c := range clients {
		files := len(c.Commands) + len(c.Skills) + len(c.Agents) + len(c.Servers.Files)
		if err := c.Check(); err == nil && files == 0 {
			return nil, fmt.Errorf("the client %q has no place of commands, skills, agents or MCP "+
				"servers; add a place, or use the row in WithStrict and LintFor only", c.Name)
		}
	}
	return places(clients)
}

// Rules returns the places of rules of clients, in the order of Places. Package instruction reads
// the single files.
func Rules(clients []client.Client) ([]index.Place, error) {
	for _, c := range clients {
		if err := c.Check(); err == nil && len(c.Instructions) == 0 {
			return nil, fmt.Errorf("the client %q has no place of instructions; "+
				"add a place, or remove the client", c.Name)
		}
	}
	all, err := places(clients)
	return all[client.Instructions], err
}

// PluginPlaces returns the places of plugins of valid clients, in the order of Places.
func PluginPlaces(clients []client.Client) (all []index.Place) {
	for _, c := range clients {
		for _, p := range c.Plugins {
			all = append(all, index.Place{Place: p})
		}
	}
	slices.SortStableFunc(all, projectFirst)
	return all
}

func places(clients []client.Client) (map[client.Files][]index.Place, error) {
	all := map[client.Files][]index.Place{}
	for _, c := range clients {
		if err := c.Check(); err != nil {
			return nil, err
		}
		for _, k := range []struct {
			kind   client.Files
			places []client.Place
			rules  client.Rules // of the texts
		}{
			{client.Commands, c.Commands, c.Rules},
			{client.Skills, c.Skills, c.SkillRules},
			{client.Agents, c.Agents, client.Rules{}},
			{client.Instructions, slices.DeleteFunc(slices.Clone(c.Instructions), client.Place.Single),
				client.Rules{}},
		} {
			for _, p := range k.places {
				if err := index.CheckPlace(k.kind, p); err != nil {
					return nil, fmt.Errorf("the place %q of the client %q: %w", p.Path(), c.Name, err)
				}
				all[k.kind] = append(all[k.kind], index.Place{Place: p, Rules: k.rules, Of: c.Name})
			}
		}
	}
	for _, places := range all {
		slices.SortStableFunc(places, projectFirst)
	}
	return all, nil
}

func projectFirst(p, q index.Place) int {
	return min(int(p.Base), 1) - min(int(q.Base), 1) // all directories of the user are equal
}

// both returns the place that includes the files of two places with the same directory, ending and
// names, and the rules of the first place.
func both(p, q index.Place) index.Place {
	if q.Nested() {
		p.Pattern = q.Pattern
	}
	p.Parents, p.Below = p.Parents || q.Parents, p.Below || q.Below
	p.AnyDepth = p.AnyDepth || q.AnyDepth
	return p
}

// samePlace reports whether two places have the same files and names, except files in
// subdirectories.
func samePlace(a, b client.Place) bool {
	return a.Path() == b.Path() && a.Suffix() == b.Suffix() &&
		a.Name == b.Name && a.Prefix == b.Prefix
}
