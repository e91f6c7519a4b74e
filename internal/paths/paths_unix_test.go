//go:build unix

package paths

import "testing"

func TestABackslashIsNoSeparator(t *testing.T) {
	for _, root := range []Root{{Dir: "/home/project", OnOS: true}, {Dir: "/home/project"}} {
		if got, ok := root.Relative(`..\a`); !ok || got != `..\a` {
			t.Errorf("on the operating system %t: got %q, %v", root.OnOS, got, ok)
		}
	}
}
