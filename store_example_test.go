package toolshelf_test

import (
	"context"
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
)

// A store with revisions. Real stores make a request in each method.
type revisions struct{ fs.FS }

func (r revisions) Open(name string) (fs.File, error) {
	file, err := r.FS.Open(name)
	return revisedFile{file}, err
}

func (r revisions) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.FS, name)
	for i, entry := range entries {
		info, _ := entry.Info() // never fails
		entries[i] = fs.FileInfoToDirEntry(revision{info})
	}
	return entries, err
}

type revisedFile struct{ fs.File }

func (f revisedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return revision{info}, err
}

// A revision is an fs.FileInfo with the version of the file.
type revision struct{ fs.FileInfo }

func (r revision) Version() string { return fmt.Sprint(r.Sys()) }

// A file with another version is read again, even if its size and its time are the same.
func ExampleVersioned() {
	files := fstest.MapFS{"review.md": {Data: []byte("Review the code.\n"), Sys: 1}}
	catalog, err := toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("store", revisions{files}))
	if err != nil {
		panic(err)
	}
	defer catalog.Close()
	for range 2 {
		command, err := catalog.Get(context.Background(), "review")
		fmt.Print(command.Content, err, "\n")
		files["review.md"] = &fstest.MapFile{Data: []byte("Review the docs.\n"), Sys: 2}
	}
	// Output:
	// Review the code.
	// <nil>
	// Review the docs.
	// <nil>
}

// A store that allows four requests at the same time.
func ExampleWithMaxReads() {
	catalog := open(toolshelf.WithMaxReads(4), toolshelf.WithCommandsFS("store", revisions{fstest.MapFS{"review.md": {Data: []byte("Review.\n"), Sys: 1}}}))
	defer catalog.Close()
	printNames(catalog)
	// Output: review
}
