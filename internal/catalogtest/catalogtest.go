// Package catalogtest opens catalogs over files of a test, and invents files like the public ones.
package catalogtest

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// Open is toolshelf.New for tests. The end of the test closes the catalog.
func Open(t testing.TB, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c := must.Get(toolshelf.New(opts...))(t)
	t.Cleanup(func() { must.Is(t, "Close", nil, c.Close()) })
	return c
}

// Written is the modification time of the files of Memory.
var Written = time.Date(2025, 11, 20, 10, 30, 0, 0, time.UTC)

// Memory returns a filesystem in memory with the files.
func Memory(t testing.TB, files map[string]string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for path, content := range files {
		must.Do(t, afero.WriteFile(fsys, path, []byte(content), 0o644))
		must.Do(t, fsys.Chtimes(path, Written, Written))
	}
	return fsys
}

// Disk returns a directory on the disk with the files.
func Disk(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range files {
		Write(t, content, dir, filepath.FromSlash(path))
	}
	return dir
}

// Write writes a file on the disk, and creates its directory.
func Write(t testing.TB, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
}

// NeedsChangeTimes skips a test of a cache if the library trusts no change times of the filesystem
// of temporary files, so that no file of the filesystem stays in the cache.
func NeedsChangeTimes(t testing.TB) {
	t.Helper()
	fsys := must.Get(confine.New(Disk(t, map[string]string{"a": ""})))(t)
	if must.Get(fsys.Info("a"))(t).Changed.IsZero() {
		t.Skip("the filesystem has no change times")
	}
}

// Replace replaces a file of the disk at once. Windows replaces no open file, so the old file can
// stay on Windows.
func Replace(file, text string) error {
	if err := os.WriteFile(file+".new", []byte(text), 0o644); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil && runtime.GOOS != "windows" {
		return err
	}
	return nil
}

// Patience limits the wait for an event that should take milliseconds.
const Patience = 20 * time.Second

// Eventually waits until check reports "" and fails with its last report.
func Eventually(t testing.TB, check func() string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(Patience); ; <-tick.C {
		report := check()
		if report == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(report)
		}
	}
}

// Rounds returns the number of rounds of a test that repeats a random or a racy case. A run with
// TOOLSHELF_NIGHTLY makes more rounds, and a run with -short a quarter of the rounds. The checks of
// a round are the same in each run. A value for package rapid, which lowers its number with -short,
// is set before flags are parsed.
func Rounds(usual, nightly int) int {
	switch {
	case os.Getenv("TOOLSHELF_NIGHTLY") != "":
		return nightly
	case flag.Parsed() && testing.Short():
		return usual / 4
	}
	return usual
}

// Corpus returns the directory of public files that TOOLSHELF_CORPUS names.
func Corpus(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TOOLSHELF_CORPUS")
	if dir == "" {
		t.Skip("TOOLSHELF_CORPUS is not set; set the variable to a directory of public command and skill files")
	}
	return dir
}

// Heap returns the number of bytes in use after a run of the garbage collector.
func Heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
