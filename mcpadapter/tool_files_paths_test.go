package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// failing is a filesystem on which an operation on a path fails. The error contains the
// full path, as errors of package os do.
type failing struct {
	afero.Fs
	operation, path string
	cause           error
}

func (f failing) fail(operation, name string) error {
	if operation != f.operation || filepath.Clean(name) != f.path {
		return nil
	}
	return &fs.PathError{Op: operation, Path: name, Err: f.cause}
}

func (f failing) Open(name string) (afero.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	file, err := f.Fs.Open(name)
	return failingFile{file, f, name}, err
}

func (f failing) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if flag != os.O_RDONLY {
		return f.Fs.OpenFile(name, flag, perm)
	}
	return f.Open(name)
}

func (f failing) Stat(name string) (os.FileInfo, error) {
	if err := f.fail("stat", name); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

func (f failing) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	if err := f.fail("lstat", name); err != nil {
		return nil, true, err
	}
	info, err := os.Lstat(name)
	return info, true, err
}

func (f failing) ReadlinkIfPossible(name string) (string, error) {
	if err := f.fail("readlink", name); err != nil {
		return "", err
	}
	return os.Readlink(name)
}

type failingFile struct {
	afero.File
	fsys failing
	name string
}

func (f failingFile) Read(p []byte) (int, error) {
	if err := f.fsys.fail("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f failingFile) Readdir(n int) ([]os.FileInfo, error) {
	if err := f.fsys.fail("readdir", f.name); err != nil {
		return nil, err
	}
	return f.File.Readdir(n)
}

func (f failingFile) Readdirnames(n int) ([]string, error) {
	if err := f.fsys.fail("readdir", f.name); err != nil {
		return nil, err
	}
	return f.File.Readdirnames(n)
}

func (f failingFile) Stat() (os.FileInfo, error) {
	if err := f.fsys.fail("fstat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// fileAnswers returns the texts and the structured contents of the tools for files.
func fileAnswers(t *testing.T, a *mcpadapter.Adapter) (answers []string) {
	t.Helper()
	for _, call := range []struct{ tool, arguments string }{
		{"list_directory", `"path":%q`}, {"list_directory", `"path":%q,"gitignore":true`}, {"list_directory", `"path":%q,"show_sizes":false`}, {"directory_tree", `"path":%q`},
		{"get_file_info", `"path":%q`}, {"search_files", `"path":%q,"pattern":"*"`}, {"search_text", `"path":%q,"pattern":"a"`}, {"read_file", `"path":%q`},
	} {
		for _, path := range []string{".", "src", "src/agent.lisp", "link", "link/x", "nothing"} {
			got := must.Get(a.Call(ctx, call.tool, json.RawMessage("{"+fmt.Sprintf(call.arguments, path)+"}")))(t)
			answers = append(answers, call.tool+" "+path+": "+got.Text, string(got.Structured))
		}
	}
	return answers
}

// The model does not know the path of the root, and has no use for the path.
func TestToolsForFilesNeverShowTheRoot(t *testing.T) {
	disks := map[string]func(t *testing.T, root string) afero.Fs{
		"missing": func(t *testing.T, root string) afero.Fs { remove(t, root, "."); return nil },
		"file": func(t *testing.T, root string) afero.Fs {
			remove(t, root, ".")
			must.Do(t, os.WriteFile(root, nil, 0o644))
			return nil
		},
		"loop": func(t *testing.T, root string) afero.Fs {
			remove(t, root, ".")
			hosttest.Symlink(t, root, root)
			return nil
		},
		"link to nothing": func(t *testing.T, root string) afero.Fs {
			remove(t, root, ".")
			hosttest.Symlink(t, root+"nothing", root)
			return nil
		},
		"loops below": func(t *testing.T, root string) afero.Fs {
			remove(t, root, "src")
			hosttest.Symlink(t, filepath.Join(root, "src"), filepath.Join(root, "src"))
			hosttest.Symlink(t, filepath.Join(root, "src"), filepath.Join(root, "link"))
			return nil
		},
		"link out of the root": func(t *testing.T, root string) afero.Fs {
			hosttest.Symlink(t, filepath.Dir(root), filepath.Join(root, "link"))
			return nil
		},
		"broken link": func(t *testing.T, root string) afero.Fs {
			hosttest.Symlink(t, root+"/nothing", filepath.Join(root, "link"))
			return nil
		},
	}
	causes := []error{fs.ErrNotExist, syscall.EACCES, syscall.ELOOP}
	if testing.Short() {
		causes = causes[:1]
	}
	for _, operation := range []string{"open", "stat", "lstat", "fstat", "readdir", "read", "readlink"} {
		for _, path := range []string{".", "src", "src/agent.lisp", "link"} {
			for _, cause := range causes {
				disks[fmt.Sprintf("%s of %s: %v", operation, path, cause)] = func(t *testing.T, root string) afero.Fs {
					if path == "link" || operation == "readlink" {
						hosttest.Symlink(t, "src", filepath.Join(root, "link"))
					} else {
						_ = os.Symlink("src", filepath.Join(root, "link")) // if the filesystem makes links
					}
					return failing{afero.NewOsFs(), operation, filepath.Join(root, path), cause}
				}
			}
		}
	}
	for name, disk := range disks {
		t.Run(name, func(t *testing.T) {
			top := onDisk(t, map[string]string{"root/src/agent.lisp": "a\n", "root/.gitignore": "*.log\n"})
			options := []toolshelf.Option{toolshelf.WithRoot(filepath.Join(top, "root"))}
			if fsys := disk(t, filepath.Join(top, "root")); fsys != nil {
				options = append(options, toolshelf.WithFs(fsys))
			}
			for _, answer := range containing(fileAnswers(t, adapterOf(t, opened(t, options...), mcpadapter.WithStructuredContent())), filepath.Base(filepath.Dir(top))) {
				t.Error(answer)
			}
		})
	}
}
