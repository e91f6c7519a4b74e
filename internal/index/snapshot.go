package index

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// A Snapshot holds the contents of the layers at one moment.
type Snapshot struct {
	Generation uint64   // changes whenever another field changes
	Entries    []*Entry // the listed entries, in the order of names.Compare
	Loadable   []*Entry // the entries of Entries that are not broken

	winners  []*Entry                 // see Winners
	shadows  map[*Entry][]*Entry      // the entries that a winning entry shadows
	layers   []*layerFiles            // the merged layers
	problems func() []problem.Problem // see Problems
	memory   int64                    // sum of details.shared
	bare     *bareNames               // of winners
}

// bareNames has the entries of plugins by the names without the name of the plugin.
type bareNames struct {
	once    sync.Once
	of      map[string][]*Entry
	entries []*Entry // the entries of plugins in Snapshot.Loadable
}

// OfPlugins returns the entries of plugins in Loadable, in the same order. The caller must not
// change the slice.
func (s *Snapshot) OfPlugins() []*Entry { return s.bareNames().entries }

// bareNames returns the bare names, computed by the first call.
func (s *Snapshot) bareNames() *bareNames {
	s.bare.once.Do(func() {
		s.bare.of = bareOf(s.winners)
		for _, e := range s.Loadable {
			if e.Part() != nil {
				s.bare.entries = append(s.bare.entries, e)
			}
		}
	})
	return s.bare
}

// Lookup returns the entry for the first of the names that an entry has, even if
// the entry is a dependency or broken. If no entry has any of the names, Lookup
// returns nil.
func (s *Snapshot) Lookup(wanted ...string) *Entry {
	for _, name := range wanted {
		if e := find(s.winners, name); e != nil {
			return e
		}
	}
	return nil
}

// Find returns the entry that Lookup returns. If no entry has any of the names, Find returns the
// only entry of a plugin with the bare name. A skill of a plugin also has the name of its
// directory, unless a skill of the plugin declares the name. If several entries have the bare name,
// Find returns them as the candidates.
func (s *Snapshot) Find(wanted ...string) (e *Entry, candidates []*Entry) {
	if e := s.Lookup(wanted...); e != nil {
		return e, nil
	}
	for _, name := range wanted {
		switch found := s.bareNames().of[name]; len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return nil, found
		}
	}
	return nil, nil
}

// Hidden returns a file or a directory that the scan could not read, and that can have the entry
// that Find would return for the names in place of e, or nil. The entry e is nil if no entry has
// the names.
func (s *Snapshot) Hidden(e *Entry, wanted ...string) *Hidden {
	for _, f := range s.layers {
		for i := range f.hidden {
			h := &f.hidden[i]
			precedes := e == nil || !h.known && (h.layer < e.Layer() || !slices.Contains(wanted, e.Name))
			if precedes && slices.ContainsFunc(wanted, h.canHave) {
				return h
			}
		}
	}
	return nil
}

// bareOf returns the bare names of sorted entries.
func bareOf(entries []*Entry) map[string][]*Entry {
	all := make(map[string][]*Entry)
	for _, e := range entries {
		p := e.Part()
		if p == nil {
			continue
		}
		bare := e.Bare()
		all[bare] = append(all[bare], e)
		if dir := path.Base(path.Dir(e.Path)); !p.Files && find(entries, p.Prefix+dir) == nil {
			all[dir] = append(all[dir], e)
			all[p.Prefix+dir] = append(all[p.Prefix+dir], e)
		}
	}
	return all
}

// Plugin returns the name of the plugin of the entry with a name, or "".
func (s *Snapshot) Plugin(name string) string {
	if e := s.Lookup(name); e != nil {
		return e.Plugin()
	}
	return ""
}

// Missing reports whether the directory of a layer does not exist, or is optional and cannot be
// read.
func (s *Snapshot) Missing(layer int) bool { return s.layers[layer].missing }

// Winners ranges over the winning entry of each name, including dependencies and broken entries, in
// the order of names.Compare.
func (s *Snapshot) Winners() iter.Seq[*Entry] { return slices.Values(s.winners) }

// Named returns the winning entry of each name without the dependencies, in the order of
// names.Compare, including broken entries.
func (s *Snapshot) Named() []*Entry {
	return without(s.winners, func(e *Entry) bool { return e.Dependency })
}

// Listed returns the entry of a name in Entries, or nil.
func (s *Snapshot) Listed(name string) *Entry { return find(s.Entries, name) }

// find returns the entry of a name in sorted entries, or nil.
func find(entries []*Entry, name string) *Entry {
	i, ok := sort.Find(len(entries), func(i int) int { return names.Compare(name, entries[i].Name) })
	if !ok {
		return nil
	}
	return entries[i]
}

// Where returns a copy of the snapshot that contains only the entries that keep
// accepts. The copy has the problems of all files.
func (s *Snapshot) Where(keep func(*Entry) bool) *Snapshot {
	shown := *s
	shown.bare = new(bareNames)
	shown.Entries = make([]*Entry, 0, len(s.Entries))
	shown.winners = make([]*Entry, 0, len(s.winners))
	listed := s.Entries
	for _, e := range s.winners {
		isListed := len(listed) > 0 && listed[0] == e
		if isListed {
			listed = listed[1:]
		}
		if keep(e) {
			shown.winners = append(shown.winners, e)
			if isListed {
				shown.Entries = append(shown.Entries, e)
			}
		}
	}
	shown.Loadable = without(shown.Entries, broken)
	return &shown
}

func broken(e *Entry) bool { return e.Broken() != nil }

// without returns the entries for which omit returns false. If no entry is omitted, the result
// is the argument itself.
func without(entries []*Entry, omit func(*Entry) bool) []*Entry {
	if !slices.ContainsFunc(entries, omit) {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), omit)
}

// Shadows returns the entries that e shadows, in order of precedence.
func (s *Snapshot) Shadows(e *Entry) []*Entry { return s.shadows[e] }

// Problems returns the problems of all files, listed or not, in the order of
// problem.Compare. The time is linear in the number of files.
func (s *Snapshot) Problems() []problem.Problem { return s.problems() }

// HasFile reports whether a layer has an entry with the file. A further layer of Extend is no layer
// of the snapshot.
func (s *Snapshot) HasFile(f File) bool {
	if f.Layer >= len(s.layers) {
		return false
	}
	e := s.layers[f.Layer].find(f.Path, f.part)
	return e != nil && hasSkillFile(e)
}

// HasSkill reports whether a directory of a layer has a SKILL.md.
func (s *Snapshot) HasSkill(layer int, dirPath string) bool {
	if layer >= len(s.layers) {
		return false
	}
	for _, base := range skilldir.Names {
		if e := s.layers[layer].find(access.Below(dirPath, base), nil); e != nil && hasSkillFile(e) {
			return true
		}
	}
	return false
}

// Files ranges over the entries of all files, layer by layer. Files includes
// entries that a list omits: dependencies, shadowed and broken entries.
func (s *Snapshot) Files() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, f := range s.layers {
			for _, e := range f.entries {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// merge makes a snapshot of the layers. The first of the entries with the same
// name wins. A directory without a SKILL.md wins only if no skill has the name, and
// shadows nothing.
func merge(config *Config, layers []*layerFiles) *Snapshot {
	s := &Snapshot{Generation: 1, layers: layers, shadows: make(map[*Entry][]*Entry), bare: new(bareNames)}
	s.problems = func() []problem.Problem { return s.collectProblems(config) }
	n := 0
	for _, f := range layers {
		n += len(f.entries)
	}
	all := make([]*Entry, 0, n)
	for e := range s.Files() {
		s.memory += e.get().shared
		if e.Broken() != ErrNotListed {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *Entry) int {
		if order := names.Compare(a.Name, b.Name); order != 0 {
			return order
		}
		switch bare := isBare(a); {
		case bare == isBare(b):
		case bare:
			return 1
		default:
			return -1
		}
		return cmp.Or(cmp.Compare(a.layer, b.layer), config.comparePrecedence(layers[a.layer].plugins, a, b))
	})
	s.winners = all[:0]
	for _, e := range all {
		if n := len(s.winners); n > 0 && s.winners[n-1].Name == e.Name {
			if !isBare(e) {
				s.shadows[s.winners[n-1]] = append(s.shadows[s.winners[n-1]], e)
			}
			continue
		}
		s.winners = append(s.winners, e)
	}
	s.Entries = without(s.winners, func(e *Entry) bool {
		return e.Dependency || !config.Broken && broken(e)
	})
	s.Loadable = without(s.Entries, broken)
	return s
}

// collectProblems is Problems.
func (s *Snapshot) collectProblems(config *Config) []problem.Problem {
	var all []problem.Problem
	for _, f := range s.layers {
		all = append(all, f.problems...)
		for _, e := range f.entries {
			if served := s.Lookup(e.Name); isBare(e) && served != nil && !isBare(served) {
				all = append(all, bareBeside(config, e, served))
				continue
			}
			all = append(all, e.Problems()...)
		}
	}
	if config.kind.unnamed {
		slices.SortFunc(all, problem.Compare)
		return all
	}
	for first, hidden := range s.shadows {
		for _, e := range hidden {
			all = append(all, shadowed(config, e, first))
		}
	}
	for i := 1; i < len(s.Entries); i++ {
		same := s.Entries[i].Plugin() == s.Entries[i-1].Plugin() // in different plugins, no system has one file for both names
		if same && strings.EqualFold(s.Entries[i].Name, s.Entries[i-1].Name) {
			all = append(all, differsInCase(config, s.Entries[i], s.Entries[i-1]))
		}
	}
	slices.SortFunc(all, problem.Compare)
	return all
}

// Similar returns the name of the entry whose name, with or without the name of its plugin, is most
// similar to a name that no entry has, or "".
func Similar(entries []*Entry, name string) string {
	for _, of := range []func(*Entry) string{func(e *Entry) string { return e.Name }, (*Entry).Bare} {
		named := func(yield func(string) bool) {
			for _, e := range entries {
				// A removed command may still be in the snapshot.
				if e.Name != name && !yield(of(e)) {
					return
				}
			}
		}
		if similar := names.Similar(name, named); similar != "" {
			i := slices.IndexFunc(entries, func(e *Entry) bool {
				return e.Name != name && of(e) == similar
			})
			return entries[i].Name
		}
	}
	return ""
}
