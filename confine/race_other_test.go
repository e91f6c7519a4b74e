//go:build unix && !linux

package confine

const openOSDirNeedsRead = true
