package budget

// The places of entries order the entries of a tree, so that the first entries show many
// directories, not the content of a few:
//
//   - The main files and the subdirectories of the top come first, at negative places.
//   - The first entry of any other directory has the place of the directory plus
//     placesPerLevel. For a subdirectory of the top, the place of the directory counts as 0.
//   - The next entry has the next place after a main file or a subdirectory, and placesPerFile
//     more after another entry. Main files come first, then subdirectories, then other files.
//   - Entries with the same place are ordered by level, then by the order of their directories.
//
// The place of an entry depends only on the numbers of these entries before the
// entry and before its parents. Entries of a deeper level do not change the order of the
// entries above.

const (
	placesPerFile  = 16
	placesPerLevel = 64
)

// Siblings are the entries of a directory, with main files and directories first.
type Siblings struct {
	First   int // place of the first entry
	Entries int
	Leading int // number of the entries that are main files or directories
}

// TopSiblings returns the entries of the top of a tree.
func TopSiblings(entries, leading int) Siblings { return Siblings{-leading, entries, leading} }

// Below returns the entries of the subdirectory with an index.
func (s Siblings) Below(i, entries, leading int) Siblings {
	return Siblings{max(s.Place(i), 0) + placesPerLevel, entries, leading}
}

// Place returns the place of the entry with an index.
func (s Siblings) Place(i int) int {
	return s.First + i + (placesPerFile-1)*max(0, i-s.Leading)
}

// until returns the number of entries up to a place.
func (s Siblings) until(place int) int {
	n := place - s.First + 1
	if n > s.Leading {
		n = s.Leading + (n-s.Leading+placesPerFile-1)/placesPerFile
	}
	return max(0, min(n, s.Entries))
}

// FirstEntries returns the numbers of entries of each directory that are within the first
// limit entries of all directories. The directories are ordered by level.
func FirstEntries(dirs []Siblings, limit int) []int {
	count := func(place int) (n int) {
		for _, s := range dirs {
			n += s.until(place)
		}
		return n
	}
	low, high := 0, 0 // the first place with more entries than the limit is in [low, high)
	for _, s := range dirs {
		if s.Entries > 0 {
			low, high = min(low, s.First), max(high, s.Place(s.Entries-1)+1)
		}
	}
	for low < high {
		if middle := low + (high-low)/2; count(middle) > limit {
			high = middle
		} else {
			low = middle + 1
		}
	}
	rest := limit - count(low-1)
	shown := make([]int, len(dirs))
	for i, s := range dirs {
		shown[i] = s.until(low - 1)
		if rest > 0 && s.until(low) > shown[i] {
			shown[i]++
			rest--
		}
	}
	return shown
}
