package listing

import (
	"io/fs"
	"testing"

	"github.com/toolshelf-go/toolshelf/confine"
)

func TestDescribe(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0o644: "file x 7", fs.ModeDir: "dir x", fs.ModeSymlink: "link x", fs.ModeNamedPipe: "other x", fs.ModeDevice: "other x",
	} {
		if got := line(Describe("x", confine.Info{Mode: mode, Size: 7})); got != want {
			t.Errorf("%v: got %s, want %s", mode, got, want)
		}
	}
}
