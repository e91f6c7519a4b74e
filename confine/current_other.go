//go:build !linux

package confine

type location struct{}

// Current reports whether the path of the directory still leads to the directory,
// without a symbolic link below the root. Current reports false if the check
// could wait for a network or another program: on filesystems that are not known
// to be local, on all systems other than Linux, and for an FS made by Over.
func (d *Dir) Current() bool { return false }
