//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package trust

import "os"

// tryLock reports true: the system has no lock that ends with an open file.
func tryLock(*os.File) (bool, error) { return true, nil }
