//go:build !windows

package confine

import "syscall"

// errNameOfNoFile is the error of the system for a name that no file can have.
const errNameOfNoFile = syscall.EINVAL

func (d *rootDir) checkSpelling(string) error { return nil }
