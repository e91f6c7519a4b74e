package listing

import (
	"strings"
	"testing"
)

// TestNameBuffer adds names that fill several blocks, and a name longer than a block.
func TestNameBuffer(t *testing.T) {
	var b nameBuffer
	var want, got []string
	for i := range 300 {
		want = append(want, strings.Repeat(string(rune('a'+i%26)), 1+i*7%250))
	}
	want = append(want, strings.Repeat("long", nameBlock), "last")
	name := []byte{}
	for _, w := range want {
		name = append(name[:0], w...) // like the buffer of a directory
		got = append(got, b.add(name))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("name %d is %q, want %q", i, got[i], want[i])
		}
	}
}
