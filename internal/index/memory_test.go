package index

import (
	"strings"
	"testing"
)

func TestShortenEndsWithAWholeCharacter(t *testing.T) {
	y := strings.Repeat("y", keptText-1)
	for in, want := range map[string]string{"": "", "y": "y", y + "y": y + "y", y + "é": y + "…", y + "yé": y + "y…"} {
		if got := shorten(in); got != want {
			t.Errorf("%d bytes become %d, want %d", len(in), len(got), len(want))
		}
	}
}
