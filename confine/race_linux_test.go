package confine

import (
	"flag"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

const openOSDirNeedsRead = false

var raceCalls = flag.Int("confine.racecalls", 5_000, "how many calls to make for each kind and policy while directories and links are exchanged")

// TestSwapRace exchanges, as fast as possible, a directory and a file for links to the
// outside. Other goroutines read the directory and the file with all methods.
func TestSwapRace(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		for _, deny := range []bool{false, true} {
			raced(t, newFS, deny)
		}
	})
}

func raced(t *testing.T, newFS func(string, options) *FS, deny bool) {
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
	must(t, unix.Mkfifo(filepath.Join(root, ".directory"), 0o600))
	must(t, unix.Mkfifo(filepath.Join(root, ".plain"), 0o600))
	f := newFS(root, options{denySymlinks: deny})
	top, err := f.OpenDir(".")
	must(t, err)
	defer top.Close()

	var stop atomic.Bool
	var swapping, reading sync.WaitGroup
	swaps := 0
	swapping.Go(func() {
		for !stop.Load() {
			for _, name := range []string{"dir", "file", "near", "directory", "plain"} {
				if err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, name), unix.AT_FDCWD, filepath.Join(root, "."+name), unix.RENAME_EXCHANGE); err != nil {
					t.Error(err)
					return
				}
				swaps++
			}
		}
	})
	ways := []string{
		"open dir/name", "open dir/sub/name", "open file", "list dir", "list dir/sub", "readlink dir", "readlink file", "stat dir", "lstat dir/secret",
		"dir . open file", "dir . list dir", "dir . readlink dir", "dir dir open name", "dir dir list sub", "dir dir head secret",
		"open near", "dir . open near", "list directory", "stat directory/x", "open plain", "dir . head plain",
	}
	var calls, read atomic.Int64
	for range 2 {
		reading.Go(func() {
			for n := calls.Add(1); n < int64(*raceCalls); n = calls.Add(1) {
				way := ways[n%int64(len(ways))]
				got := call(f, way)
				switch got {
				case "inside", "[name sub]", "[name]", "directory", "[]", `"ins" of 6`:
					read.Add(1)
				case "by a link":
					if deny || strings.HasPrefix(way, "dir . ") {
						t.Errorf("%s followed a link", way)
					}
				case "escape", "symlink", "invalid", "not exist", "not dir", "not regular", "replaced", "link":
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
	if read.Load() == 0 || swaps < 100 {
		t.Errorf("no race: %d of %d calls read something, %d exchanges", read.Load(), calls.Load(), swaps)
	}
	t.Logf("%d calls, of which %d read something, during %d exchanges", calls.Load(), read.Load(), swaps)
}

// TestSwapRaceDefeatsChecksOfPaths shows that the exchange is fast enough to defeat a filesystem that
// checks a path and then uses the path.
func TestSwapRaceDefeatsChecksOfPaths(t *testing.T) {
	if testing.Short() {
		t.Skip("the test checks the swap race itself, not the package")
	}
	home := t.TempDir()
	root := filepath.Join(home, "proj")
	write(t, home, tree{"outside/name": "outside"})
	write(t, root, tree{"dir/name": "inside", ".dir": "-> ../outside"})
	// An FS made by Over checks a file before use.
	f := over(wrappedOsFs{}, root, options{})
	var stop atomic.Bool
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for !stop.Load() {
			unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, "dir"), unix.AT_FDCWD, filepath.Join(root, ".dir"), unix.RENAME_EXCHANGE)
		}
	})
	escapes := 0
	for n := 0; escapes == 0 && n < 200_000; n++ {
		if call(f, "open dir/name") == "outside" {
			escapes++
		}
	}
	stop.Store(true)
	swapping.Wait()
	if escapes == 0 {
		t.Skip("no swap fell between a check and its open")
	}
}

func TestCloseDuringUse(t *testing.T) {
	root := t.TempDir()
	write(t, root, tree{"x": "x", "sub/y": "y"})
	f := osFS(root, options{})
	for range 200 {
		dir, err := f.OpenDir(".")
		must(t, err)
		file, err := f.OpenRegular("x")
		must(t, err)
		var users sync.WaitGroup
		for range 4 {
			users.Go(func() {
				for {
					_, err := dir.Lstat("x")
					if err != nil {
						if word(err) != "closed" {
							t.Error(err)
						}
						return
					}
					dir.Each(ctx, func(string, fs.FileMode) error { return nil })
				}
			})
			users.Go(func() {
				for {
					if _, err := file.ReadAt(make([]byte, 1), 0); err != nil {
						if word(err) != "closed" {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		must(t, dir.Close())
		must(t, file.Close())
		users.Wait()
	}
}
