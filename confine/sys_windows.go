package confine

import (
	"syscall"
	"time"
)

// addSys sets no Dev and Ino: Windows tells them only for an open file.
func addSys(info *Info, sys any) {
	if data, ok := sys.(*syscall.Win32FileAttributeData); ok {
		info.Accessed = time.Unix(0, data.LastAccessTime.Nanoseconds())
	}
}
