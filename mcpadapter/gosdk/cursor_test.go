package gosdk

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCursorLeadsBackToItsPlaceInItsListAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfNDistinct(rapid.String(), 1, 300, rapid.ID[string]).Draw(t, "items")
		list, err := identify("tools", items)
		if err != nil {
			t.Fatal(err)
		}
		place := rapid.IntRange(0, len(items)-1).Draw(t, "place")
		cursor := list.cursor(place)
		if got, ok := list.offset(cursor, len(items)); !ok || got != place {
			t.Fatalf("got %d, %t; want %d", got, ok, place)
		}
		if _, ok := list.offset(cursor, place); ok {
			t.Fatal("a place beyond the end is found")
		}
		shorter, _ := identify("tools", items[1:])
		prompts, _ := identify("prompts", items)
		for name, other := range map[string]identity{"a shorter list": shorter, "a list of another kind": prompts} {
			if _, ok := other.offset(cursor, len(items)); ok {
				t.Fatalf("%s has the place", name)
			}
		}
	})
}

func FuzzOffset(f *testing.F) {
	list, err := identify("tools", []int{1, 2, 3})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "0", "50", "YWJj", list.cursor(0), list.cursor(2), list.cursor(3), list.cursor(1) + "=", list.cursor(1) + "\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		place, ok := list.offset(cursor, 3)
		if ok && (place < 0 || place > 2 || list.cursor(place) != cursor) {
			t.Errorf("%q is place %d", cursor, place)
		}
	})
}
