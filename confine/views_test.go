package confine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestIOFS(t *testing.T) {
	files := tree{"a.txt": "hello", "sub/b.txt": "b", "sub/deep/c.txt": "c", "empty/": "", "nothing": ""}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			if err := fstest.TestFS(k.make(t, files, options{}).IOFS(), "a.txt", "sub/deep/c.txt", "empty"); err != nil {
				t.Error(err)
			}
			if !k.links {
				return
			}
			linked := tree{"a.txt": "hello", "sub/b.txt": "b", "link": "-> sub/b.txt", "dir": "-> sub", "sub/self": "-> ."}
			f := k.make(t, linked, options{}).IOFS()
			if err := fstest.TestFS(f, "a.txt", "sub/self", "link", "dir"); err != nil {
				t.Error(err)
			}
			linked["sub/up"] = "-> ../a.txt" // TestFS would open this link in fs.Sub(f, "sub")
			f = k.make(t, linked, options{}).IOFS()
			for name, want := range map[string]string{"sub/up": "../a.txt", "link": "sub/b.txt", "dir": "sub", "dir/up": "../a.txt", "sub/self": "."} {
				if got, err := fs.ReadLink(f, name); got != want || err != nil {
					t.Errorf("ReadLink %s: %q, %v; want %q", name, got, err, want)
				}
			}
		})
	}
}

// The fs.Sub of an IOFS is the IOFS of Within, with names relative to the directory.
func TestSubOfIOFS(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			files := tree{"a.txt": "a", "sub/b.txt": "b", "sub/deep/c.txt": "c"}
			if k.links {
				files["sub/link"], files["sub/out"], files["sub/deep/up"] = "-> deep/c.txt", "-> ../a.txt", "-> ../b.txt"
			}
			f := k.make(t, files, options{})
			sub := panicking(fs.Sub(f.IOFS(), "sub"))
			deep := panicking(fs.Sub(sub, "deep"))
			for name, want := range map[string]string{"b.txt": "b", "deep/c.txt": "c", "link": "c"} {
				if name == "link" && !k.links {
					continue
				}
				if data, err := fs.ReadFile(sub, name); string(data) != want || err != nil {
					t.Errorf("%s: %q, %v; want %q", name, data, err, want)
				}
			}
			if data, err := fs.ReadFile(deep, "c.txt"); string(data) != "c" || err != nil {
				t.Errorf("c.txt of the second Sub: %q, %v", data, err)
			}
			_, err := fs.Stat(deep, "missing/x")
			var failed *fs.PathError
			if !errors.As(err, &failed) || failed.Path != "missing/x" || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the error has another name: %v", err)
			}
			for _, dir := range []string{"..", "/sub", "sub/../..", ""} {
				if _, err := f.IOFS().(fs.SubFS).Sub(dir); !errors.Is(err, fs.ErrInvalid) {
					t.Errorf("Sub(%q): %v", dir, err)
				}
			}
			if !k.links {
				return
			}
			within := f.Within("sub").IOFS()
			for view, names := range map[fs.FS]map[string]string{
				sub: {"link": "deep/c.txt", "deep/up": "../b.txt"}, within: {"sub/link": "deep/c.txt", "sub/deep/up": "../b.txt"},
			} {
				for name, want := range names {
					if target, err := fs.ReadLink(view, name); target != want || err != nil {
						t.Errorf("ReadLink %s: %q, %v; want %q", name, target, err, want)
					}
				}
			}
			for _, refused := range []error{onlyError(fs.ReadFile(sub, "out")), onlyError(fs.ReadLink(sub, "out")), onlyError(fs.ReadFile(deep, "up"))} {
				if !errors.Is(refused, ErrEscape) {
					t.Errorf("a link out of the directory: %v", refused)
				}
			}
		})
	}
}

func TestIOFSRejectsNamesOutside(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"sub/a.txt": ""}, options{}).IOFS()
			for _, name := range []string{"..", "../outside/secret.txt", "/etc/passwd", "sub/../..", "sub/", ""} {
				_, openErr := f.Open(name)
				_, statErr := fs.Stat(f, name)
				_, lstatErr := fs.Lstat(f, name)
				_, readErr := fs.ReadFile(f, name)
				_, dirErr := fs.ReadDir(f, name)
				_, linkErr := fs.ReadLink(f, name)
				for _, err := range []error{openErr, statErr, lstatErr, readErr, dirErr, linkErr} {
					if !errors.Is(err, fs.ErrInvalid) {
						t.Errorf("%q: %v", name, err)
					}
				}
			}
			if !k.links {
				return
			}
			f = k.make(t, tree{"out": "-> ../outside/secret.txt", "outdir": "-> ../outside"}, options{}).IOFS()
			for _, name := range []string{"out", "outdir", "outdir/secret.txt"} {
				if _, err := f.Open(name); !errors.Is(err, ErrEscape) {
					t.Errorf("Open %s: %v", name, err)
				}
			}
			if text, err := fs.ReadLink(f, "out"); text != "" || !errors.Is(err, ErrEscape) {
				t.Errorf("ReadLink: %q, %v", text, err)
			}
		})
	}
}

func TestAfero(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			f := k.make(t, tree{"a.txt": "hello", "sub/b.txt": "b", "sub/c.txt": ""}, options{})

			t.Run("reads", func(t *testing.T) {
				for _, name := range []string{"a.txt", "./a.txt", "sub/../a.txt"} {
					if data, err := afero.ReadFile(f, name); string(data) != "hello" || err != nil {
						t.Errorf("%s: %q, %v", name, data, err)
					}
				}
				var walked []string
				must.Do(t, afero.Walk(f, "", func(path string, fi fs.FileInfo, err error) error {
					walked = append(walked, filepath.ToSlash(path)) // afero joins names by package filepath
					return err
				}))
				must.Match(t, "result", []string{"", "a.txt", "sub", "sub/b.txt", "sub/c.txt"}, walked)
			})

			t.Run("returns directories in parts", func(t *testing.T) {
				dir := must.Get(f.Open("sub/"))(t)
				defer dir.Close()
				if dir.Name() != "sub" {
					t.Errorf("its name is %q", dir.Name())
				}
				var names []string
				for range 2 {
					for {
						some, err := dir.Readdirnames(1)
						names = append(names, some...)
						if err == io.EOF {
							break
						}
						must.Do(t, err)
					}
					must.Get(dir.Seek(0, io.SeekStart))(t)
				}
				must.Match(t, "result", []string{"b.txt", "c.txt", "b.txt", "c.txt"}, names)
				infos, err := dir.Readdir(-1)
				if err != nil || len(infos) != 2 || infos[0].Size() != 1 {
					t.Errorf("%v, %v", infos, err)
				}
			})

			t.Run("does not write", func(t *testing.T) {
				file := must.Get(f.Open("a.txt"))(t)
				defer file.Close()
				_, create := f.Create("new")
				for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_APPEND, os.O_CREATE, os.O_TRUNC} {
					if _, err := f.OpenFile("a.txt", flag, 0); !errors.Is(err, fs.ErrPermission) {
						t.Errorf("OpenFile with %#x: %v", flag, err)
					}
				}
				_, write := file.Write([]byte("x"))
				_, writeAt := file.WriteAt([]byte("x"), 0)
				_, writeString := file.WriteString("x")
				for what, err := range map[string]error{
					"Create": create, "Write": write, "WriteAt": writeAt,
					"WriteString": writeString, "Truncate": file.Truncate(0), "Mkdir": f.Mkdir("new", 0o755), "MkdirAll": f.MkdirAll("new/x", 0o755),
					"Remove": f.Remove("a.txt"), "RemoveAll": f.RemoveAll("sub"), "Rename": f.Rename("a.txt", "b.txt"), "Chmod": f.Chmod("a.txt", 0),
					"Chown": f.Chown("a.txt", 0, 0), "Chtimes": f.Chtimes("a.txt", time.Now(), time.Now()),
				} {
					if !errors.Is(err, fs.ErrPermission) {
						t.Errorf("%s: %v", what, err)
					}
				}
			})

			t.Run("rejects names outside", func(t *testing.T) {
				for _, name := range []string{"..", "../outside/secret.txt", "/etc/passwd", "sub/../../outside"} {
					if _, err := f.Open(name); !errors.Is(err, ErrEscape) {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		})
	}
}

func TestLstatIfPossibleReportsLinkSupport(t *testing.T) {
	for _, k := range kinds {
		files := tree{"a.txt": "hello"}
		if k.links {
			files["link"], files["sub/out"] = "-> a.txt", "-> ../../outside"
		}
		f := k.make(t, files, options{})
		_, told, err := f.LstatIfPossible("a.txt")
		if told != k.links || err != nil {
			t.Errorf("%s: %v, %v", k.name, told, err)
		}
		if !k.links {
			continue
		}
		fi, _, err := f.LstatIfPossible("link")
		if err != nil || fi.Mode().Type() != fs.ModeSymlink || fi.Size() != 0 {
			t.Errorf("%s: %v, %v", k.name, fi, err)
		}
		if target, err := f.ReadlinkIfPossible("link"); target != "a.txt" || err != nil {
			t.Errorf("%s: %q, %v", k.name, target, err)
		}
		if target, err := f.ReadlinkIfPossible("sub/out"); target != "" || !errors.Is(err, ErrEscape) {
			t.Errorf("%s: %q, %v", k.name, target, err)
		}
	}
}

func TestRelative(t *testing.T) {
	for _, test := range []struct{ at, target, want string }{
		{".", "a", "a"},
		{".", "a/b", "a/b"},
		{".", ".", "."},
		{"a", "b", "../b"},
		{"a", "a/b", "b"},
		{"a", "a", "."},
		{"a/b", "a", ".."},
		{"a/b", ".", "../.."},
		{"a/b", "a/c/d", "../c/d"},
		{"ab", "a", "../a"},
	} {
		if got := relative(test.at, test.target); got != test.want {
			t.Errorf("from %s to %s: got %s, want %s", test.at, test.target, got, test.want)
		}
		if back := filepath.ToSlash(filepath.Join(test.at, relative(test.at, test.target))); back != test.target {
			t.Errorf("from %s to %s: leads to %s", test.at, test.target, back)
		}
	}
}

func TestOpenFileOpensForReading(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			file := must.Get(k.make(t, tree{"a.txt": "hello"}, options{}).OpenFile("a.txt", os.O_RDONLY, 0))(t)
			defer file.Close()
			if data, err := io.ReadAll(file); string(data) != "hello" || err != nil {
				t.Errorf("%q, %v", data, err)
			}
		})
	}
}

// A dirWithoutType is an afero.Fs whose modes of directories have no type.
type dirWithoutType struct{ afero.Fs }

func (f dirWithoutType) Stat(name string) (fs.FileInfo, error) {
	fi, err := f.Fs.Stat(name)
	return infoWithoutType{fi}, err
}

type infoWithoutType struct{ fs.FileInfo }

func (i infoWithoutType) Mode() fs.FileMode { return i.FileInfo.Mode().Perm() }

func TestIsDirOfAFilesystemMakesADirectory(t *testing.T) {
	m := afero.NewMemMapFs()
	must.Do(t, afero.WriteFile(m, "/sub/a.txt", nil, 0o644))
	f := must.Get(Over(dirWithoutType{m}, "/"))(t)
	for name, want := range map[string]bool{"sub": true, "sub/a.txt": false} {
		if info, err := f.Info(name); err != nil || info.Mode.IsDir() != want {
			t.Errorf("%s: %v, %v", name, info.Mode, err)
		}
	}
}

func TestALinkWithEmptyElementsLeadsInside(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		above := t.TempDir()
		write(t, filepath.Join(above, "root"), tree{"a.txt": "inside"})
		f := newFS(filepath.Join(above, "root"), options{})
		for i, target := range []string{"/root/a.txt", "//root//a.txt", "/./root/./a.txt", "/././root/.//./a.txt"} {
			link := fmt.Sprint("link", i)
			hosttest.Symlink(t, above+target, filepath.Join(above, "root", link))
			if info, err := f.Info(link); err != nil || info.Size != int64(len("inside")) {
				t.Errorf("%s: %v, %v", target, info, err)
			}
		}
	})
}

func TestALinkToAnotherSpellingOfTheRootLeadsOutside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows ignores the case of names")
	}
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		above := t.TempDir()
		write(t, filepath.Join(above, "root"), tree{"a.txt": "inside"})
		hosttest.Symlink(t, filepath.Join(above, "ROOT", "a.txt"), filepath.Join(above, "root", "link"))
		if _, err := newFS(filepath.Join(above, "root"), options{}).Info("link"); !errors.Is(err, ErrEscape) {
			t.Errorf("%v", err)
		}
	})
}
