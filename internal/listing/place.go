package listing

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Turns order the entries of a tree, so that the first entries show as much as possible of
// every level and of every directory:
//
//   - The directories of the top come first.
//   - Then the levels take turns. In each turn, each level adds a single entry, and higher
//     levels add their entries first.
//   - Each level chooses among the directories whose own turn has come. The level chooses the
//     directory of which the fewest entries have been added, and of several such directories
//     the first to be added.
//   - The entries of a directory keep their order.
//
// Entries of a deeper level do not change the order of the entries above.

// Siblings are the entries of a directory, with directories first.
type Siblings struct {
	Turn    int // of the directory; FirstTurn for the top
	Entries int
	Dirs    int   // number of the entries that are directories
	Turns   []int // of the first entries, ascending
}

// FirstTurn precedes the turns of all entries.
const FirstTurn = math.MinInt

// TakeTurns sets the turns of the entries of a level, at most limit entries. Directories
// without entries have no effect.
func TakeTurns(level []*Siblings, limit int) {
	waiting := slices.Clone(level)
	slices.SortFunc(waiting, func(a, b *Siblings) int { return cmp.Compare(a.Turn, b.Turn) })
	turn := 0
	if len(level) == 1 && level[0].Turn == FirstTurn {
		turn = -level[0].Dirs
	}
	var ready readyHeap
	for limit > 0 {
		for len(waiting) > 0 && waiting[0].Turn <= turn {
			if waiting[0].Entries > 0 {
				heap.Push(&ready, waiting[0])
			}
			waiting = waiting[1:]
		}
		if len(ready) == 0 {
			if len(waiting) == 0 {
				return
			}
			turn = waiting[0].Turn
			continue
		}
		s := ready[0]
		if s.Turns = append(s.Turns, turn); len(s.Turns) < s.Entries {
			heap.Fix(&ready, 0)
		} else {
			heap.Pop(&ready)
		}
		turn++
		limit--
	}
}

// A readyHeap is a heap of directories with the next directory at the top.
type readyHeap []*Siblings

func (h readyHeap) Len() int      { return len(h) }
func (h readyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *readyHeap) Push(x any)   { *h = append(*h, x.(*Siblings)) }

func (h readyHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(len(h[i].Turns), len(h[j].Turns)), cmp.Compare(h[i].Turn, h[j].Turn)) < 0
}

func (h *readyHeap) Pop() any {
	s := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return s
}

// A Turn is the place of an entry in the order of all entries of a tree.
type Turn struct{ Turn, Level int }

// Compare orders by turn, then by level.
func (t Turn) Compare(u Turn) int {
	return cmp.Or(cmp.Compare(t.Turn, u.Turn), cmp.Compare(t.Level, u.Level))
}

// keep drops the turns after last.
func (s *Siblings) keep(last Turn, level int) {
	n, _ := slices.BinarySearchFunc(s.Turns, last, func(turn int, last Turn) int {
		return cmp.Or(Turn{turn, level}.Compare(last), -1)
	})
	s.Turns = s.Turns[:n]
}
