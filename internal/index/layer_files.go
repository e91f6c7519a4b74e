package index

import (
	"hash/maphash"
	"math/bits"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// layerFiles holds the contents of one layer, and is immutable once part of a
// Snapshot.
type layerFiles struct {
	read     bool              // a scan has read the layer's directory
	missing  bool              // the layer's directory does not exist, or is optional and cannot be read
	entries  []*Entry          // every file, in order of precedence
	problems []problem.Problem // problems without an entry: unusable names, links not followed
	plugins  *pluginParts      // nil in a layer without plugins
	hidden   []Hidden          // what the scan could not read

	// slots is a hash table of the paths and the parts with linear probing. A map of strings takes
	// six times as much memory. A slot has the position of an entry plus 1 in the low
	// bits, and bits of the hash of the path above. An empty slot is 0.
	slots []uint32
}

// newLayerFiles returns the contents of a layer after a scan.
func newLayerFiles(entries []*Entry, problems []problem.Problem) *layerFiles {
	f := &layerFiles{read: true, entries: entries, problems: problems}
	f.slots = make([]uint32, 1<<bits.Len(uint(len(entries)+len(entries)/3)))
	for i, e := range entries {
		at, tag := f.slot(e.Path, e.Part())
		for f.slots[at] != 0 {
			at = f.next(at)
		}
		f.slots[at] = tag | uint32(i+1)
	}
	return f
}

// find returns the entry with a path in a part, or nil. The part of a layer without plugins is nil.
func (f *layerFiles) find(path string, in *Part) *Entry {
	if len(f.entries) == 0 {
		return nil
	}
	position := f.positions()
	for at, tag := f.slot(path, in); f.slots[at] != 0; at = f.next(at) {
		if f.slots[at]&^position == tag {
			if e := f.entries[f.slots[at]&position-1]; e.Path == path && e.Part() == in {
				return e
			}
		}
	}
	return nil
}

// slot returns the first slot of a path in a part, and the bits of the hash in the slot.
func (f *layerFiles) slot(path string, in *Part) (at int, tag uint32) {
	hash := maphash.String(seed, path)
	if in != nil {
		hash ^= in.hash
	}
	return int(hash>>32) & (len(f.slots) - 1), uint32(hash) &^ f.positions()
}

func (f *layerFiles) next(at int) int { return (at + 1) & (len(f.slots) - 1) }

// positions returns the mask of the low bits of a slot.
func (f *layerFiles) positions() uint32 { return 1<<bits.Len(uint(len(f.entries))) - 1 }
