// Package layers has the lists of the layers that the options of a catalog name, in order of
// precedence.
package layers

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// A Layer is a directory of the catalog's filesystem or, if FS is set, the top
// of another filesystem.
type Layer struct {
	Name  string
	FS    fs.FS
	Named bool // the program named the layer, so the layer is not optional
	// Of WithClient, where a missing directory is empty, or the pattern of a named directory.
	Place index.Place
	First int // the index of the first layer of the WithClient

	Parent string // the directory above the root that has the place, or ""

	Plugins *index.Plugins // of WithPlugins, or nil

	Immutable bool // the files of FS never change
}

// An Immutable is a filesystem whose files never change.
type Immutable struct{ fs.FS }

// A List has the layers of commands, of skills or of agents.
type List struct {
	All      []Layer // in order of precedence
	Replaced bool    // an option has replaced the default directory
}

// AddDefault adds the default directory, above all other layers, unless an option
// has replaced the default directory.
func (l *List) AddDefault(dir string) {
	if !l.Replaced {
		l.All = slices.Insert(l.All, 0, Layer{Name: dir})
	}
}

// AddPlaces adds the places of clients, except the directories that another option has added. A
// place with subdirectories includes the same place without subdirectories, and a place with
// parents the same place without parents. A place of several clients has the rules of the first
// client.
func (l *List) AddPlaces(places []index.Place) {
	l.Replaced = true
	first := len(l.All)
	for _, p := range places {
		if i := l.find(p.Path(), p); i < 0 {
			l.All = append(l.All, Layer{Name: p.Path(), Place: p, First: first})
		} else if !l.All[i].Named {
			l.All[i].Place = both(l.All[i].Place, p)
		}
	}
}

// find returns the index of the layer that has the directory of a place under the given name, or
// -1.
func (l *List) find(name string, p index.Place) int {
	return slices.IndexFunc(l.All, func(l Layer) bool {
		return l.Name == name && l.FS == nil && (l.Named || samePlace(l.Place.Place, p.Place))
	})
}

// AddParents adds the places of clients that look up, below the places of the project in the same
// option.
func (l *List) AddParents(parents []paths.Parent) {
	for begin := len(l.All); begin > 0; {
		begin--
		end, option := begin+1, l.All[begin]
		if option.Named || option.Plugins != nil || option.Place.Pattern == "" || option.Place.Base != client.Project {
			continue
		}
		begin = min(begin, option.First)
		var above []Layer
		for _, parent := range parents {
			for _, below := range l.All[begin:end] {
				if name := path.Join(parent.Name, below.Name); below.Place.Parents && l.find(name, below.Place) < 0 {
					above = append(above, Layer{Name: name, Place: below.Place, Parent: parent.Dir})
				}
			}
		}
		l.All = slices.Insert(l.All, end, above...)
	}
}

func (l *List) AddDirs(option string, dirs []string, place index.Place) error {
	l.Replaced = true
	for _, dir := range dirs {
		if dir == "" {
			return errors.New(option + `: a directory is ""; name a directory, or use "." for the root`)
		}
		l.All = append(l.All, Layer{Name: dir, Named: true, Place: place})
	}
	return nil
}

func (l *List) AddFS(option, name string, fsys fs.FS) error {
	marked, isMarked := fsys.(Immutable)
	if isMarked {
		fsys = marked.FS
	}
	if fsys == nil {
		return errors.New(option + ": the filesystem is nil")
	}
	if name == "" {
		return errors.New(option + `: the name is ""; choose a name for the layer, for example for diagnostics`)
	}
	l.All = append(l.All, Layer{Name: name, FS: fsys, Named: true, Immutable: isMarked || index.IsEmbedded(fsys)})
	return nil
}

// User returns the directories of the user by their bases, if a layer is below one, or if they are
// needed, and removes the layers below unknown directories from the lists.
func User(lists []*List, needed bool, find func() (home, config string)) map[client.Base]string {
	user := map[client.Base]string{}
	ofUser := func(l Layer) bool { return l.Place.Base != client.Project }
	if needed || slices.ContainsFunc(lists, func(l *List) bool { return slices.ContainsFunc(l.All, ofUser) }) {
		user[client.Home], user[client.Config] = find()
	}
	for _, l := range lists {
		l.All = slices.DeleteFunc(l.All, func(l Layer) bool { return ofUser(l) && user[l.Place.Base] == "" })
	}
	return user
}

// Existing returns the names of the layers that the program has named, or whose opened directory
// exists or cannot be read. If the catalog is closed, no directory exists.
func Existing(all []Layer, opened []index.Layer, closed bool) (existing []string) {
	for i, l := range all {
		exists := l.Named
		if !exists && !closed {
			_, err := opened[i].FS.Info(opened[i].Dir)
			exists = err == nil || index.IsFault(err)
		}
		// A place of files has the name of the place of directories.
		if exists && !slices.Contains(existing, l.Name) {
			existing = append(existing, l.Name)
		}
	}
	return existing
}

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
