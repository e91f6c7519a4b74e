package trust

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A limit on the size of files ends a write after each number of bytes, like a full disk.
func TestAWriteThatEndsEarlyLeavesTheOldStore(t *testing.T) {
	if file, at, ok := strings.Cut(os.Getenv("TEST_TRUST_CUT"), " "); ok {
		limited(t, file, at)
		return
	}
	file := storeFile(t)
	old := entry("old", "one")
	approve(t, open(t, file), old)
	before := must.Get(os.ReadFile(file))(t)
	cmd := child(t, "", "")
	cmd.Args = append(cmd.Args, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), "TEST_TRUST_CUT="+file+" "+strconv.Itoa(2*len(before)))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must.Equal(t, "the file has changed", string(before), string(must.Get(os.ReadFile(file))(t)))
}

func limited(t *testing.T, file, end string) {
	sizes := must.Get(strconv.Atoi(end))(t)
	var before syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)
	s, old, added := open(t, file), entry("old", "one"), entry("new", strings.Repeat("text ", sizes))
	for size := 0; size < sizes; size += 7 {
		limit := syscall.Rlimit{Cur: uint64(size), Max: before.Max}
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		if err := s.Approve(t.Context(), added); !errors.Is(err, syscall.EFBIG) {
			t.Fatalf("%d bytes: Approve returns %v", size, err)
		}
		if got := allowed(t, open(t, file), old, added); len(got) != 1 || got[0] != "old" {
			t.Fatalf("%d bytes: the store allows %q", size, got)
		}
	}
}
