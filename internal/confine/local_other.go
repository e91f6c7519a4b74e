//go:build !linux

package confine

// Local reports whether the folder is known to be on a disk of this machine,
// which only Linux is asked for.
func (d *Dir) Local() bool { return false }

// Names reports whether a full path, links in it followed, names the very file
// that info describes. It is not asked for where no folder is Local.
func Names(path string, info Info) bool { return false }
