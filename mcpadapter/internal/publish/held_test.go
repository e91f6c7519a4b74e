package publish

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// heldOf returns the URI of a skill, and n files whose digest is "one".
func heldOf(skill string, n int) (uri string, files []File) {
	for i := range n {
		files = append(files, File{URI: fmt.Sprintf("%s%s/%d", scheme, skill, i), Digest: "one"})
	}
	return scheme + skill + "/" + skillFile, files
}

func TestHeldEntriesAreBounded(t *testing.T) {
	for _, tt := range []struct {
		name         string
		first, other int // numbers of files
		wait         time.Duration
		remembered   bool // the other entry, after one more file
	}{
		{"few", 10, 10, 0, true},
		{"the maximum", maxHeld - 11, 10, 0, true},
		{"more than the maximum", maxHeld - 10, 10, 0, false},
		{"more than the maximum, and half of the files are expired", maxHeld / 2, maxHeld / 2, time.Hour, true},
		{"more than the maximum, and less than half of the files are expired", maxHeld/2 - 1, maxHeld/2 + 1, time.Hour, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := Held{lifetime: time.Minute}
				h.hold(heldOf("first", tt.first))
				time.Sleep(tt.wait)
				h.hold(heldOf("other", tt.other))
				h.hold(heldOf("last", 1))
				if _, known := h.stale(scheme+"other/0", "one"); known != tt.remembered {
					t.Errorf("the entry is remembered: %t", known)
				}
				if _, known := h.stale(scheme+"last/0", "one"); !known {
					t.Error("the last entry is forgotten")
				}
			})
		})
	}
}

func TestAHeldEntryIsStaleUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short, long := Held{lifetime: time.Minute}, Held{}
		skill, files := heldOf("pdf", 1)
		short.hold(skill, files)
		long.hold(skill, files)
		check := func(h *Held, digest, want string, wantKnown bool) {
			t.Helper()
			if stale, known := h.stale(scheme+"pdf/0", digest); stale != want || known != wantKnown {
				t.Errorf("%q, %t; want %q, %t", stale, known, want, wantKnown)
			}
		}
		check(&short, "one", "", true)
		check(&short, "two", skill, true)
		time.Sleep(time.Minute)
		check(&short, "two", skill, true)
		time.Sleep(time.Nanosecond)
		check(&short, "two", "", false)
		check(&long, "two", skill, true)
	})
}
