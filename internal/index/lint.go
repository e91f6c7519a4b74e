package index

import "iter"

// Files ranges over everything that a layer holds as a file, layer by layer,
// whether or not a list shows it: hidden, shadowed and broken ones too.
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

// Below is the path of an entry's file below its layer's folder.
func (x *Index) Below(e *Entry) string { return x.below(e) }
