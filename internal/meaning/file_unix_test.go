//go:build unix

package meaning

import (
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A call that waits for a writer of the named pipe never returns, and the test fails by its time.
func TestANamedPipeCostsOnlyTheFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"pipe", fileName, tempName} {
		if err := unix.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	for name, dir := range map[string]string{"in place of the directory": filepath.Join(dir, "pipe"), "in place of the files": dir} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, new(model), dir, "a")
			vectors := documents(s, 3)
			fill(s)
			must.Equal(t, "known(vectors)", 3, known(vectors))
			if err := s.load(); (err != nil) != (filepath.Base(dir) == "pipe") {
				t.Error(err)
			}
			if s.save() == nil {
				t.Error("the file is written")
			}
			runtime.KeepAlive(vectors)
		})
	}
}
