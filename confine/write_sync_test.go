package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A recordedFs records the syncs and the changes of names in a tree.
type recordedFs struct {
	afero.Fs
	calls *[]string
}

func (f recordedFs) Open(name string) (afero.File, error) { return f.recorded(f.Fs.Open(name)) }

func (f recordedFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	return f.recorded(f.Fs.OpenFile(name, flag, mode))
}

func (f recordedFs) recorded(file afero.File, err error) (afero.File, error) {
	return recordedFile{file, f.calls}, err
}

func (f recordedFs) Mkdir(name string, mode fs.FileMode) error {
	*f.calls = append(*f.calls, "mkdir "+name)
	return f.Fs.Mkdir(name, mode)
}

func (f recordedFs) Rename(from, to string) error {
	*f.calls = append(*f.calls, "rename to "+to)
	return f.Fs.Rename(from, to)
}

type recordedFile struct {
	afero.File
	calls *[]string
}

func (f recordedFile) Sync() error {
	*f.calls = append(*f.calls, "sync "+f.Name())
	return f.File.Sync()
}

func TestEachNewNameIsSynced(t *testing.T) {
	var calls []string
	f := must.Get(Over(recordedFs{afero.NewMemMapFs(), &calls}, "/"))(t)
	d := must.Get(f.MakeDir("sub"))(t)
	defer d.Close()
	must.Do(t, d.WriteNew(ctx, "a.md", "text"))
	want := []string{"mkdir /sub", "sync /", "sync /sub/.a.md.tmp", "rename to /sub/a.md", "sync /sub"}
	if !slices.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
}

func TestADirectoryThatCannotBeSyncedIsNoError(t *testing.T) {
	for _, tt := range []struct{ err, want error }{
		{nil, nil},
		{&fs.PathError{Op: "sync", Err: syscall.EINVAL}, nil},
		{fmt.Errorf("sync: %w", errors.ErrUnsupported), nil},
		{syscall.EIO, syscall.EIO},
	} {
		if err := ignoreNoSync(tt.err); err != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, err, tt.want)
		}
	}
}

func TestTheSyncOfAClosedDirectoryFails(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		d := must.Get(newFS(t.TempDir(), options{}).OpenDir("."))(t)
		w := d.handle.(writableDir)
		if err := w.sync(); err != nil {
			t.Error(err)
		}
		must.Do(t, d.Close())
		if err := w.sync(); !errors.Is(err, fs.ErrClosed) && !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
