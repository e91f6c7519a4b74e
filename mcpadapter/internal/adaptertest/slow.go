package adaptertest

import (
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// slowFs takes 400 ms to open each file, opens one file at a time, and takes 100 ms to stat
// each file.
type slowFs struct {
	afero.Fs
	slot chan struct{}
}

func (s slowFs) Open(name string) (afero.File, error) {
	s.slot <- struct{}{}
	time.Sleep(400 * time.Millisecond) // of the clock of synctest
	<-s.slot
	return s.Fs.Open(name)
}

func (s slowFs) Stat(name string) (fs.FileInfo, error) {
	time.Sleep(100 * time.Millisecond)
	return s.Fs.Stat(name)
}

// SlowProject returns an adapter of a large project on a slow filesystem, for a test with
// synctest.
func SlowProject(t testing.TB, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	files := map[string]string{}
	for i := range 5 {
		for j := range 50 {
			files[fmt.Sprintf("dir-%d/file-%03d.md", i, j)] = "x"
		}
		files[fmt.Sprintf("commands/c%d.md", i)] = "Review the code.\n"
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = "Review the code.\n"
	}
	fsys := slowFs{catalogtest.Memory(t, files), make(chan struct{}, 1)}
	a := must.Get(mcpadapter.New(catalogtest.Open(t, toolshelf.WithFs(fsys)), opts...))(t)
	t.Cleanup(func() { time.Sleep(time.Hour) }) // ends the calls of the filesystem, because Catalog.Close waits for them
	return a
}
