package mcpadapter

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// heldOf returns an entry with n files whose digest is "one".
func heldOf(skill string, n int) SkillEntry {
	e := SkillEntry{URI: skillScheme + skill + "/" + skillFile}
	for i := range n {
		e.Resources = append(e.Resources, SkillResource{URI: fmt.Sprintf("%s%s/%d", skillScheme, skill, i), Digest: "one"})
	}
	return e
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
				h := heldEntries{lifetime: time.Minute}
				h.hold(heldOf("first", tt.first))
				time.Sleep(tt.wait)
				h.hold(heldOf("other", tt.other))
				h.hold(heldOf("last", 1))
				if _, known := h.stale(skillScheme+"other/0", "one"); known != tt.remembered {
					t.Errorf("the entry is remembered: %t", known)
				}
				if _, known := h.stale(skillScheme+"last/0", "one"); !known {
					t.Error("the last entry is forgotten")
				}
			})
		})
	}
}

func TestAHeldEntryIsStaleUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short, long := heldEntries{lifetime: time.Minute}, heldEntries{}
		entry := heldOf("pdf", 1)
		short.hold(entry)
		long.hold(entry)
		check := func(h *heldEntries, digest, want string, wantKnown bool) {
			t.Helper()
			if skill, known := h.stale(skillScheme+"pdf/0", digest); skill != want || known != wantKnown {
				t.Errorf("%q, %t; want %q, %t", skill, known, want, wantKnown)
			}
		}
		check(&short, "one", "", true)
		check(&short, "two", entry.URI, true)
		time.Sleep(time.Minute)
		check(&short, "two", entry.URI, true)
		time.Sleep(time.Nanosecond)
		check(&short, "two", "", false)
		check(&long, "two", entry.URI, true)
	})
}
