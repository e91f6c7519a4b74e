//go:build !linux

package confine

var openOSFolder = openRootFolder
