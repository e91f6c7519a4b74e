package confine

import "golang.org/x/sys/unix"

// Local reports whether the folder is known to be on a disk of this machine or
// in its memory, so that asking for an entry does not wait for a network or
// for another program.
func (d *Dir) Local() bool {
	f, ok := d.folder.(*fdFolder)
	if !ok || !f.use() {
		return false
	}
	defer f.done()
	var s unix.Statfs_t
	if err := unix.Fstatfs(f.fd, &s); err != nil {
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

// Names reports whether the last of these full paths names the directory that
// info describes, and no path after the first is a link. The first path is that
// of a root, and each path is in the directory before.
func Names(paths []string, info Info) bool {
	var s unix.Stat_t
	if len(paths) == 1 && unix.Stat(paths[0], &s) != nil {
		return false
	}
	for _, path := range paths[1:] {
		if err := unix.Lstat(path, &s); err != nil || s.Mode&unix.S_IFMT != unix.S_IFDIR {
			return false
		}
	}
	return s.Ino == info.Ino && uint64(s.Dev) == info.Dev
}
