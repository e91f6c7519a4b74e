//go:build unix && !linux

package confine

const openOSFolderNeedsRead = true
