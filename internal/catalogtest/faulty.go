package catalogtest

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// Faulty is a filesystem with faults at certain paths.
type Faulty struct {
	afero.Fs
	Opens map[string]error // of Open, by the base name
	Stats map[string]error // of Stat, by the base name
	Hang  chan struct{}    // Open waits for this, if not nil
}

// Open opens a file, or returns its fault.
func (f Faulty) Open(name string) (afero.File, error) {
	if f.Hang != nil {
		<-f.Hang
	}
	if err := f.Opens[filepath.Base(name)]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: "/host/" + name, Err: err}
	}
	return f.Fs.Open(name)
}

// Stat returns the metadata of a file, or its fault.
func (f Faulty) Stat(name string) (fs.FileInfo, error) {
	if err := f.Stats[filepath.Base(name)]; err != nil {
		return nil, &fs.PathError{Op: "stat", Path: "/host/" + name, Err: err}
	}
	return f.Fs.Stat(name)
}

// CheckError checks the kind and, to the byte, the message of an error.
func CheckError(t testing.TB, call string, err error, want *toolshelf.Error, message string) {
	t.Helper()
	if want == nil {
		if err != nil {
			t.Errorf("%s: %v, want no error", call, err)
		}
		return
	}
	var e *toolshelf.Error
	if !errors.Is(err, want) || !errors.As(err, &e) || e.Message != message {
		t.Errorf("%s: %v, want %s (%s)", call, err, message, want.Code)
	}
}

// Archive returns a filesystem whose files can only be read in order.
func Archive(t testing.TB, files map[string]string) fs.FS {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range files {
		must.Get(io.WriteString(must.Get(w.Create(name))(t), content))(t)
	}
	must.Do(t, w.Close())
	return must.Get(zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
}

// HostileFiles returns the files that hostile names would find, and files beside the root and the
// skill.
func HostileFiles(t testing.TB, more ...string) (root string) {
	t.Helper()
	files := map[string]string{
		"outside/secret.txt": "a secret", "outside/secret.md": "a secret",
		"proj/file.txt": "inside", "proj/dir/in.txt": "inside",
		"proj/commands/file.md": "inside", "proj/commands/dir/in.md": "inside",
		"proj/agents/file.md": "inside", "proj/skills/outside/secret.txt": "a secret",
		"proj/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\ninside\n",
		"proj/skills/s/file.txt": "inside", "proj/skills/s/dir/in.txt": "inside",
	}
	root = filepath.Join(Disk(t, files), "proj")
	for _, name := range more {
		for _, dir := range []string{root, filepath.Join(root, "skills", "s")} {
			full := filepath.Join(dir, filepath.FromSlash(name))
			if os.MkdirAll(filepath.Dir(full), 0o755) != nil || os.WriteFile(full, []byte("inside"), 0o644) != nil {
				t.Skip("the filesystem has no such name")
			}
		}
	}
	return root
}
