//go:build !unix && !windows

package paths

import "io/fs"

// foreign reports false: the system has no owners.
func (Root) foreign(string, fs.FileInfo) bool { return false }
