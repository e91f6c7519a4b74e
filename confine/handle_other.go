//go:build !linux

package confine

var openOSDir = openRootDir
