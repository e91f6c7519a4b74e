package mcpadapter_test

import (
	"fmt"
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A versionedFS is a store with versions that counts the opened files.
type versionedFS struct {
	files fstest.MapFS
	opens *atomic.Int64
}

func (v versionedFS) Open(name string) (fs.File, error) {
	v.opens.Add(1)
	f, err := v.files.Open(name)
	return versionedFile{f}, err
}

func (v versionedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := v.files.ReadDir(name)
	for i, entry := range entries {
		info, _ := entry.Info() // never fails
		entries[i] = fs.FileInfoToDirEntry(versionedInfo{info})
	}
	return entries, err
}

type versionedFile struct{ fs.File }

func (f versionedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return versionedInfo{info}, err
}

type versionedInfo struct{ fs.FileInfo }

func (versionedInfo) Version() string { return "1" }

// A page of prompts opens each file of the store once, for the list of commands.
func TestAPageOfPromptsOpensNoFileOfAStore(t *testing.T) {
	store := versionedFS{fstest.MapFS{}, new(atomic.Int64)}
	for i := range 120 {
		store.files[fmt.Sprintf("c%03d.md", i)] = &fstest.MapFile{Data: []byte("Do $1.\n")}
	}
	c := must.Get(toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("store", store)))(t)
	defer c.Close()
	a := must.Get(mcpadapter.New(c))(t)
	for _, want := range []int64{120, 0} {
		before := store.opens.Load()
		list, err := a.ListPrompts(t.Context(), nil)
		if err != nil || len(list.Prompts) != 120 || len(list.Prompts[119].Arguments) != 1 {
			t.Fatalf("%v, %v", list.Prompts, err)
		}
		if got := store.opens.Load() - before; got != want {
			t.Errorf("%d opened files, want %d", got, want)
		}
	}
}
