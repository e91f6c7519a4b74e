package index

import (
	"iter"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// An Entry is one command or skill, and is immutable.
type Entry struct {
	Name        string
	Layer       int               // index in Config.Layers
	Path        string            // path of the file, relative to the layer's FS
	Linked      bool              // the file is a link; Info describes the target
	Info        confine.Info      // metadata of the file at the time of the read
	Description string            // the author's description, unchanged, or else the first paragraph
	Dependency  bool              // served by name only
	UserOnly    bool              // models must not choose the entry: disable-model-invocation
	Header      matter.Document   // skills only: the frontmatter
	Problems    []problem.Problem // the problems of the file
	Broken      error             // why the file cannot be loaded, or nil; a broken entry still claims its name

	version version
	shared  int64 // bytes that the entry takes from sharedMemory; see limitMemory
	missing int64 // bytes that the whole entry needs if limitMemory has cut the entry; otherwise 0
}

// A Snapshot holds the contents of the layers at one moment.
type Snapshot struct {
	Generation uint64            // changes whenever another field changes
	Entries    []*Entry          // the listed entries, in the order of names.Compare
	Problems   []problem.Problem // problems of all files, listed or not, in the order of problem.Compare

	byName  map[string]*Entry   // the winning entry of each name, including dependencies and broken entries
	shadows map[*Entry][]*Entry // the entries that a winning entry shadows
	layers  []layerFiles        // the merged layers; the next validation starts from them
	memory  int64               // sum of Entry.shared
}

// Lookup returns the entry for the first of the names that an entry has, even if
// the entry is a dependency or broken. If no entry has any of the names, Lookup
// returns nil.
func (s *Snapshot) Lookup(names ...string) *Entry {
	for _, name := range names {
		if e := s.byName[name]; e != nil {
			return e
		}
	}
	return nil
}

// Where returns a copy of the snapshot that contains only the entries that keep
// accepts. The copy has the problems of all files.
func (s *Snapshot) Where(keep func(*Entry) bool) *Snapshot {
	shown := &Snapshot{
		Generation: s.Generation,
		Entries:    make([]*Entry, 0, len(s.Entries)),
		Problems:   s.Problems,
		byName:     make(map[string]*Entry, len(s.byName)),
		shadows:    s.shadows,
		layers:     s.layers,
	}
	for name, e := range s.byName {
		if keep(e) {
			shown.byName[name] = e
		}
	}
	for _, e := range s.Entries {
		if shown.byName[e.Name] != nil {
			shown.Entries = append(shown.Entries, e)
		}
	}
	return shown
}

// Shadows returns the entries that e shadows, in order of precedence.
func (s *Snapshot) Shadows(e *Entry) []*Entry { return s.shadows[e] }

// Has reports whether a layer has an entry for the file.
func (s *Snapshot) Has(layer int, file string) bool { return s.layers[layer].byPath[file] != nil }

// HasSkill reports whether a directory of a layer has a SKILL.md.
func (s *Snapshot) HasSkill(layer int, dirPath string) bool {
	for _, base := range skillFiles {
		if e := s.layers[layer].byPath[below(dirPath, base)]; e != nil && hasSkillFile(e) {
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

// layerFiles holds the contents of one layer, and is immutable once part of a
// Snapshot.
type layerFiles struct {
	missing  bool              // the layer's directory does not exist, or is optional and cannot be read
	entries  []*Entry          // every file, in order of precedence
	problems []problem.Problem // problems without an entry: unusable names, links not followed
	byPath   map[string]*Entry // the entries, by Path
}

// merge makes a snapshot of the layers. The first of the entries with the same
// name wins.
func merge(config *Config, layers []layerFiles) *Snapshot {
	n := 0
	for _, f := range layers {
		n += len(f.entries)
	}
	s := &Snapshot{
		Generation: 1,
		Entries:    make([]*Entry, 0, n),
		byName:     make(map[string]*Entry, n),
		shadows:    make(map[*Entry][]*Entry),
		layers:     layers,
	}
	for _, f := range layers {
		s.Problems = append(s.Problems, f.problems...)
		for _, e := range f.entries {
			s.Problems = append(s.Problems, e.Problems...)
			s.memory += e.shared
			if first, taken := s.byName[e.Name]; taken {
				s.Problems = append(s.Problems, shadowed(config, e, first))
				s.shadows[first] = append(s.shadows[first], e)
				continue
			}
			s.byName[e.Name] = e
			if !e.Dependency && (e.Broken == nil || config.Broken) {
				s.Entries = append(s.Entries, e)
			}
		}
	}
	slices.SortFunc(s.Entries, func(a, b *Entry) int { return names.Compare(a.Name, b.Name) })
	for i := 1; i < len(s.Entries); i++ {
		if strings.EqualFold(s.Entries[i].Name, s.Entries[i-1].Name) {
			s.Problems = append(s.Problems, differsInCase(config, s.Entries[i], s.Entries[i-1]))
		}
	}
	slices.SortFunc(s.Problems, problem.Compare)
	return s
}
