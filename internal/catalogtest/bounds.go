package catalogtest

import (
	"maps"
	"runtime"
	"sync"
	"testing"

	"github.com/spf13/afero"
)

// Reads is a filesystem that counts the bytes that are read from each file.
type Reads struct {
	afero.Fs
	mu    sync.Mutex
	bytes map[string]int
}

func (r *Reads) Open(name string) (afero.File, error) {
	f, err := r.Fs.Open(name)
	return &readFile{f, r, name}, err
}

type readFile struct {
	afero.File
	reads *Reads
	name  string
}

func (f *readFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.reads.mu.Lock()
	defer f.reads.mu.Unlock()
	if f.reads.bytes == nil {
		f.reads.bytes = make(map[string]int)
	}
	f.reads.bytes[f.name] += n
	return n, err
}

// Take returns the number of bytes read from each file since the last call.
func (r *Reads) Take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.bytes = nil }()
	return maps.Clone(r.bytes)
}

// A Cost is the memory that a function allocates. The bytes are at least the growth of the heap at
// each time of the call.
type Cost struct{ Bytes, Allocations int }

// CostOf calls a function.
func CostOf(f func()) Cost {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return Cost{int(after.TotalAlloc - before.TotalAlloc), int(after.Mallocs - before.Mallocs)}
}

// Bounded fails unless a cost is at most 4 times the bytes read and returned and 16 MiB.
func (c Cost) Bounded(t testing.TB, bytes int) {
	t.Helper()
	if most := 4*bytes + 16<<20; c.Bytes > most {
		t.Errorf("%d bytes allocated for %d bytes read and returned; at most %d", c.Bytes, bytes, most)
	}
}

// Linear fails if the cost of four times the input is more than five times the cost. The allowance
// covers what does not depend on the input.
func (c Cost) Linear(t testing.TB, fourfold Cost) {
	t.Helper()
	if fourfold.Bytes > 5*c.Bytes+1<<20 || fourfold.Allocations > 5*c.Allocations+1000 {
		t.Errorf("%d bytes in %d allocations, and for four times the input %d bytes in %d allocations", c.Bytes, c.Allocations, fourfold.Bytes, fourfold.Allocations)
	}
}
