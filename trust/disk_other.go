//go:build !unix && !windows

package trust

import (
	"context"
	"os"
)

// private returns nil: the system has no owners.
func private(string) error { return nil }

// replace renames a file, and replaces any file with the new name.
func replace(_ context.Context, from, to string) error { return os.Rename(from, to) }

// syncDir does nothing: not each of the systems can open a directory for a sync.
func syncDir(string) error { return nil }
