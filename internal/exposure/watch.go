package exposure

import (
	"fmt"

	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// states returns the states of the shown entries of the directories on the way, by name.
func (w *Way) states(shown *index.Snapshot) map[string]string {
	all := map[string]string{}
	for _, e := range shown.Entries {
		if w.Has(e) {
			digest := ""
			if seal := e.Seal(); seal != nil {
				digest = seal.Digest
			}
			all[e.Name] = fmt.Sprint(e.Stamp, digest)
		}
	}
	return all
}

// Follow returns the changes.Asked.Follow of the directories that calls have asked for. Without an
// Observer, no call is known, and Follow returns nil. The function shown returns the entries that
// pass the filter.
func (b *Below) Follow(
	ask func(dir string) (*Way, error), shown func(*Way) *index.Snapshot,
) func(*changes.Names) {
	if b.Observer == nil {
		return nil
	}
	return b.asked.Follow(ask, func(w *Way) map[string]string { return w.states(shown(w)) })
}
