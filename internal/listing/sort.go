package listing

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/names"
)

// An Order is an order of entries. In every order, directories precede files, except that
// Options.MainFirst has main files first. Entries with equal keys are ordered by name.
type Order uint8

const (
	ByName     Order = iota
	BySize           // largest first
	ByModified       // newest first
)

// compareDirents compares by name. Main files come first, then main directories, other directories
// and other files.
func compareDirents(a, b dirent) int { return compareNamed(a, a.name, b) }

// compareNamed is compareDirents for a dirent whose name is in a buffer.
func compareNamed[S ~string | ~[]byte](a dirent, name S, b dirent) int {
	if a, b := a.rank(), b.rank(); a != b {
		return cmp.Compare(a, b)
	}
	return names.Compare(name, b.name)
}

// rank returns the position of the group of an entry.
func (e *dirent) rank() int {
	switch {
	case e.kind == KindDir && e.main:
		return 1
	case e.kind == KindDir:
		return 2
	case e.main:
		return 0
	}
	return 3
}

// A sortKey is a row of sortDirents: narrow and without pointers, because sorting moves
// rows.
type sortKey struct {
	key uint64 // orders most entries
	at  uint32 // index of the entry
}

// sortDirents sorts by compareDirents. If all names are ASCII, a number made of the
// eight letters after the common prefix decides most comparisons.
func sortDirents(entries []dirent) {
	if len(entries) < 2 {
		return
	}
	prefix, ascii := commonPrefix(entries)
	if !ascii || slices.ContainsFunc(entries, func(e dirent) bool { return e.main }) || uint64(len(entries)) > 1<<32 {
		slices.SortFunc(entries, compareDirents)
		return
	}
	var few [64]sortKey // on the stack
	keys := few[:]
	if len(entries) > len(few) {
		keys = make([]sortKey, len(entries))
	}
	keys = keys[:len(entries)]
	for i := range entries {
		keys[i] = sortKey{keyOf(&entries[i], prefix), uint32(i)}
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return names.Compare(entries[a.at].name, entries[b.at].name)
	})
	permute(entries, keys)
}

// commonPrefix returns the length of the longest common prefix of all names, and
// reports whether all names are ASCII.
func commonPrefix(entries []dirent) (prefix int, ascii bool) {
	first := entries[0].name
	prefix = len(first)
	for i := range entries {
		name := entries[i].name
		prefix = min(prefix, len(name))
		for j := range len(name) {
			if name[j] >= utf8.RuneSelf {
				return 0, false
			}
			if j < prefix && name[j] != first[j] {
				prefix = j
			}
		}
	}
	return prefix, true
}

// keyOf returns a number of the eight letters after the prefix, with the directories
// first.
func keyOf(e *dirent, prefix int) uint64 {
	var key uint64
	rest := e.name[prefix:]
	for j := range 8 {
		key <<= 8
		if j < len(rest) {
			key |= uint64(names.LowerASCII(rest[j]))
		}
	}
	if e.kind != KindDir {
		key |= 1 << 63 // no ASCII letter has this bit
	}
	return key
}

// permute moves the entry at keys[i].at to i, for all i. permute changes keys.
func permute(entries []dirent, keys []sortKey) {
	for i := range keys {
		first := entries[i]
		to := uint32(i)
		for keys[to].at != uint32(i) {
			from := keys[to].at
			entries[to], keys[to].at = entries[from], to
			to = from
		}
		entries[to], keys[to].at = first, to
	}
}

// compareRows compares in an order.
func compareRows(o Order, a, b *Row) int {
	if (a.Kind == KindDir) != (b.Kind == KindDir) {
		return cmp.Compare(a.Kind, b.Kind)
	}
	return cmp.Or(compareMetadata(o, a, b), names.Compare(a.Name, b.Name))
}

// compareMetadata compares the sizes or the times.
func compareMetadata(o Order, a, b *Row) int {
	switch o {
	case BySize:
		return cmp.Compare(b.Size, a.Size)
	case ByModified:
		return b.Modified.Compare(a.Modified)
	}
	return 0
}

// positionHeader is the length of a position without the name: whether the entry
// is a directory, the size or the time, and the nanoseconds of the time.
const positionHeader = 13

// Position encodes the fields of a row that compareRows compares.
func Position(o Order, r *Row) string {
	var b [positionHeader]byte
	if r.Kind == KindDir {
		b[0] = 1
	}
	switch o {
	case BySize:
		binary.BigEndian.PutUint64(b[1:], uint64(r.Size))
	case ByModified:
		binary.BigEndian.PutUint64(b[1:], uint64(r.Modified.Unix()))
		binary.BigEndian.PutUint32(b[9:], uint32(r.Modified.Nanosecond()))
	}
	return string(b[:]) + r.Name
}

func parsePosition(o Order, text string) (*Row, error) {
	if len(text) < positionHeader {
		return nil, ErrPosition
	}
	b := []byte(text[:positionHeader])
	r := &Row{Name: text[positionHeader:], Kind: KindFile}
	if b[0] == 1 {
		r.Kind = KindDir
	}
	switch n := int64(binary.BigEndian.Uint64(b[1:])); o {
	case BySize:
		r.Size = n
	case ByModified:
		r.Modified = time.Unix(n, int64(binary.BigEndian.Uint32(b[9:])))
	}
	return r, nil
}
