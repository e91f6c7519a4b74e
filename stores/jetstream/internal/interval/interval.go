// Package interval has the intervals of a store, which the tests with a server shorten.
package interval

import "time"

var (
	// Feed is the time between the questions of Feed to the server.
	Feed = 10 * time.Second
	// MaxQuiet is the longest time from an agreement to the next change without a verification. A
	// client resumes a lost watch 10 seconds after the last heartbeat of 5 seconds.
	MaxQuiet = 4 * time.Second
)
