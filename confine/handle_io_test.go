package confine

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A requestedFS records the calls of an fs.FS without links. Its files have the mode
// fs.ModeIrregular.
type requestedFS struct {
	files fstest.MapFS
	calls *[]string
}

func (f requestedFS) record(call, name string) { *f.calls = append(*f.calls, call+" "+name) }

func (f requestedFS) Open(name string) (fs.File, error) {
	f.record("open", name)
	return f.files.Open(name)
}

func (f requestedFS) Stat(name string) (fs.FileInfo, error) {
	f.record("stat", name)
	return f.files.Stat(name)
}

// ReadDir returns the entries in reverse order.
func (f requestedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.record("readdir", name)
	entries, err := f.files.ReadDir(name)
	slices.Reverse(entries)
	return entries, err
}

// Each call of an fs.FS can be a request to a remote store.
func TestAnIOFSIsCalledAsRarelyAsPossible(t *testing.T) {
	var calls []string
	fsys := over(afero.FromIOFS{FS: requestedFS{fstest.MapFS{
		"a.md":          {Data: []byte("hello"), Mode: fs.ModeIrregular},
		"pdf/SKILL.md":  {Data: []byte("skill"), Mode: fs.ModeIrregular},
		"pdf/doc/x.txt": {Data: []byte("x"), Mode: fs.ModeIrregular},
	}, &calls}}, ".", options{})
	top := panicking(fsys.OpenDir("."))
	for _, tt := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"the listing of OpenDir", func() error { return top.Each(ctx, func(string, fs.FileMode) error { return nil }) }, []string{"readdir ."}},
		{"another listing", func() error { return top.Each(ctx, func(string, fs.FileMode) error { return nil }) }, []string{"readdir ."}},
		{"metadata of a listed file", func() error { return onlyError(top.Lstat("a.md")) }, nil},
		{"head of a listed file", func() error { return onlyError2(top.ReadHead("a.md", make([]byte, 3))) }, []string{"open a.md"}},
		{"a listed directory", func() error { return onlyError(top.OpenDir("pdf")) }, nil},
		{"a file by its path", func() error { return onlyError(fsys.OpenRegular("pdf/doc/x.txt")) }, []string{"open pdf/doc/x.txt"}},
		{"metadata by the path", func() error { return onlyError(fsys.Info("pdf/doc/x.txt")) }, []string{"stat pdf/doc/x.txt"}},
		{"a directory by its path", func() error { return onlyError(fsys.OpenDir("pdf/doc")) }, []string{"readdir pdf/doc"}},
	} {
		if err := tt.do(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", tt.name, diff)
		}
		calls = nil
	}
}

// Within of an fs.FS without links makes the same calls as the FS.
func TestAnIOFSIsCalledAsRarelyThroughWithin(t *testing.T) {
	var calls []string
	files := requestedFS{fstest.MapFS{"pdf/SKILL.md": {Data: []byte("skill")}, "pdf/doc/x.txt": {Data: []byte("x")}}, &calls}
	whole := over(afero.FromIOFS{FS: files}, ".", options{})
	for _, tt := range []struct {
		name string
		do   func(f *FS) error
	}{
		{"a directory", func(f *FS) error { return onlyError(f.OpenDir("pdf")) }},
		{"a file", func(f *FS) error { return onlyError(f.OpenRegular("pdf/doc/x.txt")) }},
		{"metadata", func(f *FS) error { return onlyError(f.Info("pdf/doc/x.txt")) }},
		{"metadata of the directory", func(f *FS) error { return onlyError(f.Info("pdf")) }},
	} {
		must.Do(t, tt.do(whole))
		want := slices.Clone(calls)
		calls = nil
		must.Do(t, tt.do(whole.Within("pdf")))
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("%s: calls (-without +with Within):\n%s", tt.name, diff)
		}
		calls = nil
	}
}

// A headsFS knows the head of each file.
type headsFS struct{ fstest.MapFS }

func (f headsFS) ReadHead(name string) ([]byte, fs.FileInfo, error) {
	info, err := fs.Stat(f.MapFS, name)
	return []byte("head of " + name), info, err
}

func TestWithinKnowsHeads(t *testing.T) {
	f := over(afero.FromIOFS{FS: headsFS{fstest.MapFS{"pdf/SKILL.md": {Data: []byte("skill")}}}}, ".", options{}).Within("pdf")
	if !f.KnowsHeads() {
		t.Error("it does not know heads")
	}
	dir := panicking(f.OpenDir("pdf"))
	defer dir.Close()
	buf := make([]byte, 100)
	n, _, err := dir.ReadHead("SKILL.md", buf)
	if got := string(buf[:n]); got != "head of pdf/SKILL.md" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if over(afero.FromIOFS{FS: fstest.MapFS{}}, ".", options{}).Within("pdf").KnowsHeads() {
		t.Error("it knows heads that the filesystem does not know")
	}
}

func onlyError[T any](_ T, err error) error          { return err }
func onlyError2[A, B any](_ A, _ B, err error) error { return err }

// A file with the version of its content is an Info with the version.
func TestInfoHasTheVersion(t *testing.T) {
	file := fstest.MapFS{"a": {Data: []byte("text"), Sys: 1}}
	info := panicking(fs.Stat(file, "a"))
	if got := infoOf(info).Version; got != "" {
		t.Errorf("a file without a version has version %q", got)
	}
	if got := infoOf(taggedInfo{info}).Version; got != fmt.Sprint(info.Size()) {
		t.Errorf("version %q", got)
	}
}

type taggedInfo struct{ fs.FileInfo }

func (i taggedInfo) Version() string { return fmt.Sprint(i.Size()) }
