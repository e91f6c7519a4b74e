// Package measure measures the cost of servers and requests for tests: scans of the
// commands, subscriptions to a catalog, and freed memory.
package measure

import (
	"path"
	"sync/atomic"

	"github.com/spf13/afero"
)

// A ScanFs is a filesystem that counts the scans of the directory "commands".
type ScanFs struct {
	afero.Fs
	opened atomic.Int32
}

// Open opens a file and counts the directory "commands".
func (f *ScanFs) Open(name string) (afero.File, error) {
	if path.Clean(name) == "commands" {
		f.opened.Add(1)
	}
	return f.Fs.Open(name)
}

// Scans returns the number of scans during request, in multiples of the scans during
// one list of the commands.
func (f *ScanFs) Scans(list, request func()) float64 {
	f.opened.Store(0)
	list()
	once := f.opened.Swap(0)
	request()
	return float64(f.opened.Load()) / float64(once)
}
