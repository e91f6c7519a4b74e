//go:build unix

package confine

import "syscall"

const nonblock = syscall.O_NONBLOCK
