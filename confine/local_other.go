//go:build !linux

package confine

// Local reports whether the folder is known to be on a disk of this machine,
// which only Linux is asked for.
func (d *Dir) Local() bool { return false }

// Names reports whether full paths lead to a directory without a link. No
// directory is Local here, so there is nothing to report.
func Names([]string, Info) bool { return false }
