package toolshelf_test

import (
	"errors"
	"io"
	"io/fs"
	"runtime"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// An endless filesystem has a file without an end.
type endless struct {
	afero.Fs
	name string
	read chan struct{} // a value for each Read
}

func (f *endless) Open(name string) (afero.File, error) {
	file, err := f.Fs.Open(name)
	if err == nil && name == f.name {
		file = &endlessFile{file, f.read}
	}
	return file, err
}

func (f *endless) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	return f.Open(name)
}

type endlessFile struct {
	afero.File
	read chan struct{}
}

func (f *endlessFile) Read(p []byte) (int, error) {
	f.read <- struct{}{}
	if len(p) == 0 {
		return 0, io.ErrShortBuffer
	}
	return 1, nil
}

func TestCloseEndsADigest(t *testing.T) {
	memory := memoryOf(t, map[string]string{"skills/zed/SKILL.md": skillFile("zed"), "skills/zed/big.bin": string(make([]byte, 1<<20))})
	fsys := &endless{memory, "skills/zed/big.bin", make(chan struct{})}
	c := catalog(t, toolshelf.WithFs(fsys))
	got := make(chan error)
	go func() {
		_, err := c.GetSkill(t.Context(), "zed", toolshelf.Digests())
		got <- err
	}()
	<-fsys.read
	closed := make(chan struct{})
	go func() {
		c.Close()
		close(closed)
	}()
	for _, err := c.List(t.Context(), toolshelf.Page{}); !errors.Is(err, toolshelf.ErrClosed); _, err = c.List(t.Context(), toolshelf.Page{}) {
		runtime.Gosched()
	}
	reads := 0
	for done := 0; done < 2; {
		select {
		case <-fsys.read:
			if reads++; reads == 2 { // a read may have begun before Close
				t.Error("it is read on after Close")
			}
		case err := <-got:
			if !errors.Is(err, toolshelf.ErrClosed) {
				t.Errorf("got %v", err)
			}
			done++
		case <-closed:
			closed = nil
			done++
		}
	}
}
