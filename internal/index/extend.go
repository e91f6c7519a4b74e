package index

import (
	"context"
	"slices"

	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// Dirs keep the entries of the layers of Extend.
type Dirs struct{ Cache[*layerFiles] }

// Extend returns an index with further layers after the layers of x, and a snapshot with the
// contents of s, a snapshot of x, and of the further layers. Each call scans the further layers,
// and reads only the files that have changed since the call that has put the entries into kept,
// which may be nil. Calls with the same kept have the layer of a directory at the same position.
// Look watches the directories of the further layers. A further layer without a filesystem is
// empty. Without any file in the further layers, Extend returns x and s. If s is nil, the layers of
// x are empty. The new index has no other snapshot, and no call closes the new index.
func (x *Index) Extend(ctx context.Context, s *Snapshot, layers []Layer, kept *Dirs, look *watch.Look) (*Index, *Snapshot, error) {
	config := x.config
	config.Layers, config.look = slices.Concat(x.config.Layers, layers), look
	config.Watch, config.Feed, config.Changed = false, nil, nil
	extended, err := newIndex(config)
	if err != nil {
		return nil, nil, err
	}
	extended.free.Store(sharedMemory)
	all, found := make([]*layerFiles, len(x.config.Layers)), s == nil
	if s != nil {
		extended.free.Add(-s.memory)
		copy(all, s.layers)
	} else {
		for i := range all {
			all[i] = &layerFiles{missing: true}
		}
	}
	defer func() {
		extended.closeDirs()
		x.filesRead.Add(extended.filesRead.Load())
	}()
	for i := len(all); i < len(config.Layers); i++ {
		if config.Layers[i].FS == nil {
			all = append(all, &layerFiles{missing: true})
			continue
		}
		file := File{Layer: i, Path: config.Layers[i].Dir}
		if kept != nil {
			if last := kept.Take(file); last != nil { // no other call changes the entries now
				extended.states[i].files = last.Value
			}
		}
		now, _, err := extended.update(ctx, i, freshness{})
		if err != nil {
			return nil, nil, err
		}
		if kept != nil && now.read {
			kept.Put(&Cached[*layerFiles]{File: file, Value: now, Size: now.size()})
		}
		all, found = append(all, now), found || len(now.entries) > 0 || len(now.problems) > 0
	}
	if !found {
		return x, s, nil
	}
	merged := merge(&extended.config, all)
	extended.last.Store(merged)
	return extended, merged, nil
}

// size estimates the memory of the contents of a layer, in bytes.
func (f *layerFiles) size() int64 {
	n := int64(overhead)
	for _, e := range f.entries {
		n += e.memory() + int64(len(e.Path)) + overhead
	}
	return n
}
