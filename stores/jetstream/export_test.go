package jetstream

import (
	"testing"
	"time"
)

// SetFeedInterval sets the interval of Feed during a test.
func SetFeedInterval(t *testing.T, d time.Duration) {
	previous := feedInterval
	feedInterval = d
	t.Cleanup(func() { feedInterval = previous })
}

// SetMaxQuiet sets the time without an agreement after which a snapshot verifies the mirror.
func SetMaxQuiet(t *testing.T, d time.Duration) {
	previous := maxQuiet
	maxQuiet = d
	t.Cleanup(func() { maxQuiet = previous })
}
