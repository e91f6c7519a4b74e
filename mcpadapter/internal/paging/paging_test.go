package paging

import (
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"pgregory.net/rapid"
)

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hash := rapid.SliceOfN(rapid.Byte(), 12, 32).Draw(t, "hash")
		list := Identify(hash)
		n := rapid.IntRange(1, 300).Draw(t, "n")
		place := rapid.IntRange(0, n-1).Draw(t, "place")
		cursor := list.Cursor(place)
		if got, ok := list.Offset(cursor, n); !ok || got != place {
			t.Fatalf("got %d, %t; want %d", got, ok, place)
		}
		if _, ok := list.Offset(cursor, place); ok {
			t.Fatal("a place beyond the end is found")
		}
		other := list
		other[rapid.IntRange(0, len(other)-1).Draw(t, "byte")]++
		if _, ok := other.Offset(cursor, n); ok {
			t.Fatal("another list has the place")
		}
	})
}

func TestAlteredCursorsLeadToNoOtherList(t *testing.T) {
	const n = 300
	list := Identify([]byte("the hash of a list"))
	genuine := make(map[string]int)
	for i := range n {
		genuine[list.Cursor(i)] = i
	}
	for _, cursor := range []string{list.Cursor(3), list.Cursor(200)} {
		for i := range len(cursor) {
			for b := range 256 {
				altered := cursor[:i] + string([]byte{byte(b)}) + cursor[i+1:]
				want, ok := genuine[altered]
				if got, accepted := list.Offset(altered, n); accepted != ok || got != want {
					t.Errorf("%q is the offset %d, %t; want %d, %t", altered, got, accepted, want, ok)
				}
			}
		}
	}
}

func FuzzOffset(f *testing.F) {
	list := Identify([]byte("the hash of a list"))
	for _, seed := range []string{"", "0", "50", "YWJj", list.Cursor(0), list.Cursor(2), list.Cursor(3), list.Cursor(1) + "=", list.Cursor(1) + "\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		place, ok := list.Offset(cursor, 3)
		if ok && (place < 0 || place > 2 || list.Cursor(place) != cursor) {
			t.Errorf("%q is place %d", cursor, place)
		}
	})
}

// TestStoredCursorsStayValid reads cursors of earlier versions of the package.
func TestStoredCursorsStayValid(t *testing.T) {
	list := Identify([]byte("\xfb\xff\xfe, a hash of a list"))
	for cursor, want := range map[string]int{"-__-LCBhIGhhc2ggAA": 0, "-__-LCBhIGhhc2ggMg": 50, "-__-LCBhIGhhc2ggrAI": 300} {
		must.Equal(t, "the cursor", cursor, list.Cursor(want))
		if got, ok := list.Offset(cursor, 400); !ok || got != want {
			t.Errorf("%s: got %d, %v; want %d", cursor, got, ok, want)
		}
	}
}
