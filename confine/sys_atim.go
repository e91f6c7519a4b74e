//go:build linux || openbsd || dragonfly || solaris

package confine

import (
	"syscall"
	"time"
)

func addSys(info *Info, sys any) {
	if st, ok := sys.(*syscall.Stat_t); ok {
		info.Accessed = time.Unix(st.Atim.Unix())
		info.Changed = time.Unix(st.Ctim.Unix())
		info.Dev, info.Ino = uint64(st.Dev), uint64(st.Ino)
	}
}
