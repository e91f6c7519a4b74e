package confine

import (
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

const openOSDirNeedsRead = false

var raceCalls = flag.Int("confine.racecalls", 5_000, "how many calls to make for each kind and policy while directories and links are exchanged")

// TestSwapRace exchanges, as fast as possible, a directory and a file for links to the
// outside. Other goroutines read the directory and the file with all methods.
func TestSwapRace(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		for _, deny := range []bool{false, true} {
			raced(t, deny, func(root string, o options) *FS { return newFS(root, o) })
		}
	})
}

// TestSwapRaceWithin is TestSwapRace for links out of the directory of Within to a directory
// that the outer FS reads.
func TestSwapRaceWithin(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		for _, deny := range []bool{false, true} {
			raced(t, deny, func(root string, o options) *FS {
				home := newFS(filepath.Dir(root), o)
				expect(t, home, "open outside/secret = outside")
				return home.within(filepath.Base(root), ".")
			})
		}
	})
}

func raced(t *testing.T, deny bool, newFS func(root string, o options) *FS) {
	home := t.TempDir()
	root := filepath.Join(home, "proj")
	write(t, home, tree{"outside/secret": "outside", "outside/name": "outside", "outside/sub/name": "outside"})
	write(t, root, tree{
		"dir/name": "inside", "dir/sub/name": "inside", "file": "inside",
		".dir": "-> " + home + "/outside", ".file": "-> ../outside/secret",
		// A link that stays inside, for DenySymlinks, and a named pipe.
		"near": "inside", "other": "by a link", ".near": "-> other",
		"directory/": "", "plain": "inside",
	})
	makeFIFO(t, filepath.Join(root, ".directory"))
	makeFIFO(t, filepath.Join(root, ".plain"))
	needsExchange(t, root)
	f := newFS(root, options{denySymlinks: deny})
	top := must.Get(f.OpenDir("."))(t)
	defer top.Close()

	var stop atomic.Bool
	var swaps atomic.Int64
	var swapping, reading sync.WaitGroup
	swapping.Go(func() {
		for !stop.Load() {
			for _, name := range []string{"dir", "file", "near", "directory", "plain"} {
				if err := exchange(root, name); err != nil {
					t.Error(err)
					return
				}
				swaps.Add(1)
			}
		}
	})
	ways := []string{
		"open dir/name", "open dir/sub/name", "open file", "list dir", "list dir/sub", "readlink dir", "readlink file", "stat dir", "lstat dir/secret",
		"dir . open file", "dir . list dir", "dir . readlink dir", "dir dir open name", "dir dir list sub", "dir dir head secret",
		"open near", "dir . open near", "list directory", "stat directory/x", "open plain", "dir . head plain",
	}
	var calls, read, refused atomic.Int64
	most := int64(*raceCalls)
	raced := func() bool { return read.Load() > 0 && refused.Load() > 0 && swaps.Load() >= 100 }
	for range 2 {
		reading.Go(func() {
			// On a busy machine, the first calls can miss the exchanges.
			for n := calls.Add(1); n < most || n < 100*most && !raced(); n = calls.Add(1) {
				way := ways[n%int64(len(ways))]
				got := call(f, way)
				switch got {
				case "inside", "[name sub]", "[name]", "directory", "[]", `"ins" of 6`:
					read.Add(1)
				case "by a link":
					if deny || strings.HasPrefix(way, "dir . ") {
						t.Errorf("%s followed a link", way)
					}
				case "escape", "symlink":
					refused.Add(1)
				case "invalid", "not exist", "not dir", "not regular", "replaced", "link":
				default:
					if strings.Contains(got, "replaced during the call") {
						continue
					}
					t.Errorf("%s: %s", way, got)
				}
			}
		})
	}
	reading.Wait()
	stop.Store(true)
	swapping.Wait()
	result := fmt.Sprintf("%d calls, of which %d read something and %d met a link, during %d exchanges", calls.Load(), read.Load(), refused.Load(), swaps.Load())
	if !raced() {
		t.Error("no race: " + result)
	}
	t.Log(result)
}

// exchange exchanges a file and the file with a dot before the name.
func exchange(root, name string) error {
	return unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, name), unix.AT_FDCWD, filepath.Join(root, "."+name), unix.RENAME_EXCHANGE)
}

// needsExchange skips the test if the filesystem exchanges no files.
func needsExchange(t *testing.T, root string) {
	t.Helper()
	for range 2 { // the second exchange restores the files
		if err := exchange(root, "dir"); err != nil {
			t.Skip("the filesystem exchanges no files:", err)
		}
	}
}

// TestSwapRaceDefeatsChecksOfPaths shows that the exchange defeats a filesystem that checks a
// path and then uses the path, and that the calls of TestSwapRace report an escape.
func TestSwapRaceDefeatsChecksOfPaths(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "proj")
	write(t, home, tree{"outside/name": "outside"})
	write(t, root, tree{"dir/name": "inside", ".dir": "-> ../outside"})
	needsExchange(t, root)
	var stop atomic.Bool
	var swaps atomic.Int64
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for !stop.Load() {
			if err := exchange(root, "dir"); err != nil {
				t.Error(err)
				return
			}
			swaps.Add(1)
		}
	})
	// An FS made by Over checks a file before use.
	f := over(slowOpenFs{swaps: &swaps}, root, options{})
	escaped := false
	for n := 0; !escaped && n < 10_000; n++ {
		escaped = call(f, "open dir/name") == "outside"
	}
	stop.Store(true)
	swapping.Wait()
	if !escaped {
		t.Errorf("no call read the file outside during %d exchanges", swaps.Load())
	}
}

// slowOpenFs is the operating system's filesystem on which an exchange precedes each open. The
// exchange therefore falls between the check of a path and its use.
type slowOpenFs struct {
	wrappedOsFs
	swaps *atomic.Int64
}

func (s slowOpenFs) Open(name string) (afero.File, error) {
	before := s.swaps.Load()
	for n := 0; n < 1_000_000 && s.swaps.Load() == before; n++ {
		runtime.Gosched()
	}
	return s.wrappedOsFs.Open(name)
}

func TestCloseDuringUse(t *testing.T) {
	root := t.TempDir()
	write(t, root, tree{"x": "x", "sub/y": "y"})
	f := osFS(root, options{})
	for range 200 {
		dir := must.Get(f.OpenDir("."))(t)
		file := must.Get(f.OpenRegular("x"))(t)
		var users sync.WaitGroup
		for range 4 {
			users.Go(func() {
				for {
					_, err := dir.Lstat("x")
					if err != nil {
						must.Equal(t, "word(err)", "closed", word(err))
						return
					}
					dir.Each(ctx, func(string, fs.FileMode) error { return nil })
				}
			})
			users.Go(func() {
				for {
					if _, err := file.ReadAt(make([]byte, 1), 0); err != nil {
						must.Equal(t, "word(err)", "closed", word(err))
						return
					}
				}
			})
		}
		must.Do(t, dir.Close())
		must.Do(t, file.Close())
		users.Wait()
	}
}
