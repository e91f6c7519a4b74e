package confine

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A cName is a name with a NUL at the end, on the stack. The functions of package unix
// allocate a name for each call. The allocations take a tenth of the time of a listing.
type cName [unix.NAME_MAX + 1]byte

// set returns false if the name does not fit.
func (c *cName) set(name string) bool {
	if len(name) >= len(c) || strings.IndexByte(name, 0) >= 0 {
		return false
	}
	c[copy(c[:], name)] = 0
	return true
}

func sysStatx(fd int, name string, flags, mask int, st *unix.Statx_t) error {
	var c cName
	if !c.set(name) {
		return unix.Statx(fd, name, flags, mask, st)
	}
	_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&c)), uintptr(flags), uintptr(mask),
		uintptr(unsafe.Pointer(st)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func sysOpenat(fd int, name string, flags int) (int, error) {
	var c cName
	if !c.set(name) {
		return unix.Openat(fd, name, flags, 0)
	}
	// O_LARGEFILE is for 32-bit systems, and 0 on other systems.
	opened, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(fd), uintptr(unsafe.Pointer(&c)), uintptr(flags|unix.O_LARGEFILE), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(opened), nil
}

func sysOpenat2(fd int, name string, how *unix.OpenHow) (int, error) {
	var c cName
	if !c.set(name) {
		return unix.Openat2(fd, name, how)
	}
	opened, _, errno := unix.Syscall6(unix.SYS_OPENAT2, uintptr(fd), uintptr(unsafe.Pointer(&c)),
		uintptr(unsafe.Pointer(how)), unix.SizeofOpenHow, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(opened), nil
}
