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
