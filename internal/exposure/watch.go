package exposure

import (
	"maps"
	"slices"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// maxAsked bounds the directories of an asked. With more directories, an Observer watches none.
const maxAsked = 2000

// An asked has the Ways that calls have asked for, as first returned. A call looks at the files even
// if no change was reported, because the system may report a change later.
type asked struct {
	mu   sync.Mutex
	ways map[string]*Way // by the last directory on the way
}

func (a *asked) add(dir string, w *Way) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ways == nil {
		a.ways = map[string]*Way{}
	}
	if a.ways[dir] == nil && len(a.ways) < maxAsked {
		a.ways[dir] = w
	}
}

// A state identifies the content of a skill.
type state struct {
	stamp  stamp.Stamp
	digest string
}

// states returns the states of the shown entries of the directories on the way, by name.
func (w *Way) states(shown *index.Snapshot) map[string]state {
	all := map[string]state{}
	for _, e := range shown.Entries {
		if w.Has(e) {
			s := state{stamp: e.Stamp}
			if seal := e.Seal(); seal != nil {
				s.digest = seal.Digest
			}
			all[e.Name] = s
		}
	}
	return all
}

// Follow returns a function that asks again for each directory that calls have asked for, and adds
// the differences since its last call. Without an Observer, no call is known, and Follow returns
// nil. The function shown returns the entries that pass the filter.
func (b *Below) Follow(
	ask func(dir string) (*Way, error), shown func(*Way) *index.Snapshot,
) func(*changes.Names) {
	if b.Observer == nil {
		return nil
	}
	first := func() map[string]map[string]state {
		b.asked.mu.Lock()
		ways := maps.Clone(b.asked.ways)
		b.asked.mu.Unlock()
		all := map[string]map[string]state{}
		for dir, w := range ways {
			all[dir] = w.states(shown(w))
		}
		return all
	}
	again := func(last map[string]map[string]state) map[string]map[string]state {
		all := maps.Clone(last)
		for dir := range last {
			if w, err := ask(dir); err == nil {
				all[dir] = w.states(shown(w))
			}
		}
		return all
	}
	seen := again(first())
	return func(n *changes.Names) {
		last := first()
		maps.Copy(last, seen)
		current := again(last)
		changes.Add(n, joined(last), joined(current))
		seen = current // not after a panic of a filter
	}
}

// joined returns the states of all directories, by name.
func joined(all map[string]map[string]state) map[string]state {
	states := map[string]state{}
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		maps.Copy(states, all[dir])
	}
	return states
}
