package hosttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// recorder is a test that keeps the reason of its skip.
type recorder struct {
	testing.TB
	reason string
}

func (r *recorder) Skipf(format string, args ...any) {
	r.reason = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// reasonOf returns the reason for which a helper skips a test, or "".
func reasonOf(t *testing.T, need func(t testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		need(r)
	}()
	<-done
	return r.reason
}

// A system may report success and make no link.
func TestSymlinkSkipsATestWithoutALink(t *testing.T) {
	name := filepath.Join(t.TempDir(), "link")
	reason := reasonOf(t, func(t testing.TB) { hosttest.Symlink(t, "target", name) })
	info, err := os.Lstat(name)
	if made := err == nil && info.Mode().Type() == os.ModeSymlink; made == (reason != "") {
		t.Errorf("the link exists: %t; the reason of the skip is %q", made, reason)
	}
}

func TestAReasonNamesWhatTheSystemLacks(t *testing.T) {
	for want, need := range map[string]func(testing.TB){
		"symbolic link": func(t testing.TB) {
			hosttest.Symlink(t, strings.Repeat("x", 1<<20), filepath.Join(t.TempDir(), "link"))
		},
		`refuses a file name; "a\x00b"`:   func(t testing.TB) { hosttest.NeedsNames(t, "a\x00b") },
		`ignores letter case; "B" is "B"`: func(t testing.TB) { hosttest.NeedsNames(t, "a", "B", "B") },
	} {
		if got := reasonOf(t, need); !strings.Contains(got, want) || !strings.HasPrefix(got, runtime.GOOS) {
			t.Errorf("got %q, want the system and %q", got, want)
		}
	}
}

func TestNamesOfEverySystemAreNoReason(t *testing.T) {
	must.Equal(t, "skipped", "", reasonOf(t, func(t testing.TB) { hosttest.NeedsNames(t, "a", "b.md", "README") }))
}
