//go:build !(linux || freebsd || openbsd || dragonfly || solaris || darwin || netbsd || windows)

package confine

func addSys(*Info, any) {}
