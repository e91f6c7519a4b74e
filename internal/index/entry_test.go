package index

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

func TestSetText(t *testing.T) {
	long := strings.Repeat("y", keptText+1)
	for _, want := range []Entry{
		{Name: "a", Path: "commands/a.md", Description: "Does a."},
		{Name: "a", Path: "a.md"},
		{Name: "x:a", Path: "commands/x/a.md", Description: "Does a."},
		{Name: "a", Path: "commands/a.md", Description: long},
		{Name: "x:a", Path: "commands/x/a.md", Description: long},
	} {
		var e Entry
		e.setText(want.Name, want.Path, want.Description)
		if e != want {
			t.Errorf("got %+v, want %+v", e, want)
		}
	}
}

// Callers may keep a name, and a name keeps its whole allocation in memory.
func TestNamesDoNotKeepLongDescriptions(t *testing.T) {
	const n, length = 100, 60_000
	var names []string
	before := heap()
	for range n {
		var e Entry
		e.setText("a", "commands/a.md", strings.Repeat("y", length))
		names = append(names, e.Name)
	}
	if kept := heap() - before; kept > n*length/2 {
		t.Errorf("%d names keep %d bytes", len(names), kept)
	}
	runtime.KeepAlive(names)
}

// A catalog has an Entry for each file. 112 bytes are a size of the allocator; the
// next size is 128 bytes.
func TestEntryIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Entry{}); size > 112 {
		t.Errorf("an Entry has %d bytes", size)
	}
}
