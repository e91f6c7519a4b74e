//go:build darwin || freebsd || netbsd

package confine

import (
	"syscall"
	"time"
)

func addSys(info *Info, sys any) {
	if st, ok := sys.(*syscall.Stat_t); ok {
		info.Accessed = time.Unix(st.Atimespec.Unix())
		info.Changed = time.Unix(st.Ctimespec.Unix())
		info.Dev, info.Ino = uint64(st.Dev), uint64(st.Ino)
	}
}
