// Package adaptertest counts scans and delays files, in the tests of an adapter and of its bindings.
package adaptertest

import (
	"context"
	"path"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A ScanFs is a filesystem that counts the scans of the directory "commands".
type ScanFs struct {
	afero.Fs
	opened atomic.Int32
}

// Open opens a file and counts the calls for the directory "commands".
func (f *ScanFs) Open(name string) (afero.File, error) {
	if path.Clean(name) == "commands" {
		f.opened.Add(1)
	}
	return f.Fs.Open(name)
}

// Scans returns the number of scans during request, in multiples of a call of
// list_commands. The adapter is an adapter of the filesystem.
func (f *ScanFs) Scans(t testing.TB, a *mcpadapter.Adapter, request func()) float64 {
	t.Helper()
	f.opened.Store(0)
	must.Get(a.Call(context.Background(), "list_commands", nil))(t)
	once := f.opened.Swap(0)
	request()
	return float64(f.opened.Load()) / float64(once)
}
