//go:build !linux

package confine

// Local reports whether the folder is known to be on a disk of this machine,
// which only Linux is asked for.
func (d *Dir) Local() bool { return false }
