//go:build unix

package paths

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// foreign reports whether a file belongs to another user.
func (Root) foreign(_ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return false
	}
	caller, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32)
	return os.Geteuid() != 0 || err != nil || uint64(stat.Uid) != caller
}
