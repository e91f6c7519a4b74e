package confine

import (
	"strings"

	"golang.org/x/sys/unix"
)

// A location is the path of a directory, and the directory that had the path when
// the location was made.
type location struct {
	path     string // full path
	root     int    // length of the part of path that belongs to the host program
	dev, ino uint64
}

// Current reports whether the path of the directory still leads to the directory,
// without a symbolic link below the root. Current reports false if the check
// could wait for a network or another program: on filesystems that are not known
// to be local, on all systems other than Linux, and for an FS made by Over.
func (d *Dir) Current() bool {
	f, ok := d.handle.(*fdDir)
	if !ok || !f.use() {
		return false
	}
	defer f.done()
	l := d.location.Load()
	if l == nil {
		l = &location{}
		if info, err := fstat(f.fd); err == nil && isLocal(f.fd) {
			*l = location{path: d.RealPath(), root: len(strings.TrimSuffix(d.tree, "/")), dev: info.Dev, ino: info.Ino}
		}
		d.location.Store(l)
	}
	return l.path != "" && l.current()
}

func (l *location) current() bool {
	if len(l.path) == l.root {
		var s unix.Stat_t
		return unix.Stat(l.path, &s) == nil && s.Ino == l.ino && uint64(s.Dev) == l.dev
	}
	var info Info
	for end := l.root; end < len(l.path); {
		end++ // the slash
		if i := strings.IndexByte(l.path[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(l.path)
		}
		var err error
		if info, err = lstatat(unix.AT_FDCWD, l.path[:end]); err != nil || !info.Mode.IsDir() {
			return false
		}
	}
	return info.Ino == l.ino && info.Dev == l.dev
}

// isLocal reports whether an open file is known to be on a disk or in the memory
// of this machine.
func isLocal(fd int) bool {
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return false
	}
	switch int64(s.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfsMagic:
		return true
	}
	return false
}

// zfsMagic is from the ZFS sources; the kernel's headers do not have it.
const zfsMagic = 0x2fc12fc1
