package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A hostileName is a name of the table "Names of Windows" in docs/platforms.md.
type hostileName struct {
	name             string
	windows, catalog string // the documented answers
	elsewhere        string
}

func hostileNames(t *testing.T) (names []hostileName) {
	t.Helper()
	page := must.Get(os.ReadFile("../docs/platforms.md"))(t)
	_, section, _ := strings.Cut(string(page), "\n## Names of Windows\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		for _, name := range regexp.MustCompile("`[^`]+`").FindAllString(cells[1], -1) {
			h := hostileName{strings.Trim(name, "`"), cells[2], cells[3], cells[4]}
			if strings.Contains(h.windows, "if Windows reserves the name") && filepath.IsLocal(h.name) {
				h.windows, h.catalog = "an ordinary name", "an ordinary name"
			}
			names = append(names, h)
		}
	}
	if len(names) < 40 {
		t.Fatalf("docs/platforms.md has %d names", len(names))
	}
	return names
}

// doors opens a name with each method that takes a name.
var doors = map[string]func(f *FS, name string) (content string, err error){
	"Lstat":       func(f *FS, name string) (string, error) { _, err := f.Lstat(name); return "", err },
	"Info":        func(f *FS, name string) (string, error) { _, err := f.Info(name); return "", err },
	"OpenRegular": func(f *FS, name string) (string, error) { return textOf(f.OpenRegular(name)) },
	"OpenDir": func(f *FS, name string) (string, error) {
		dir, err := f.OpenDir(name)
		return "", errors.Join(err, closed(dir))
	},
	"ReadLink": func(f *FS, name string) (string, error) { _, err := f.ReadLink(name); return "", err },
	"Within": func(f *FS, name string) (string, error) {
		_, err := f.Within(name).Lstat(name)
		return "", err
	},
	"Lstat of a Dir": func(f *FS, name string) (string, error) {
		return "", inTop(f, func(dir *Dir) error { _, err := dir.Lstat(name); return err })
	},
	"OpenRegular of a Dir": func(f *FS, name string) (content string, err error) {
		err = inTop(f, func(dir *Dir) (err error) { content, err = textOf(dir.OpenRegular(name)); return err })
		return content, err
	},
	"OpenDir of a Dir": func(f *FS, name string) (string, error) {
		return "", inTop(f, func(dir *Dir) error { child, err := dir.OpenDir(name); return errors.Join(err, closed(child)) })
	},
	"ReadHead of a Dir": func(f *FS, name string) (content string, err error) {
		buf := make([]byte, 9)
		err = inTop(f, func(dir *Dir) error {
			n, _, err := dir.ReadHead(name, buf)
			content = string(buf[:n])
			return err
		})
		return content, err
	},
	"ReadLink of a Dir": func(f *FS, name string) (string, error) {
		return "", inTop(f, func(dir *Dir) error { _, err := dir.ReadLink(name); return err })
	},
	"ReadFile of fs.FS": func(f *FS, name string) (string, error) {
		content, err := fs.ReadFile(f.IOFS(), name)
		return string(content), err
	},
	"Open of fs.FS": func(f *FS, name string) (string, error) {
		file, err := f.IOFS().Open(name)
		return "", errors.Join(err, closed(file))
	},
	"Stat of fs.FS":     func(f *FS, name string) (string, error) { _, err := fs.Stat(f.IOFS(), name); return "", err },
	"Lstat of fs.FS":    func(f *FS, name string) (string, error) { _, err := fs.Lstat(f.IOFS(), name); return "", err },
	"ReadDir of fs.FS":  func(f *FS, name string) (string, error) { _, err := fs.ReadDir(f.IOFS(), name); return "", err },
	"ReadLink of fs.FS": func(f *FS, name string) (string, error) { _, err := fs.ReadLink(f.IOFS(), name); return "", err },
	"Sub of fs.FS": func(f *FS, name string) (string, error) {
		sub, err := fs.Sub(f.IOFS(), name)
		if err == nil {
			_, err = fs.Stat(sub, ".")
		}
		return "", err
	},
	"ReadFile of afero.Fs": func(f *FS, name string) (string, error) {
		content, err := afero.ReadFile(f, name)
		return string(content), err
	},
	"Stat of afero.Fs":  func(f *FS, name string) (string, error) { _, err := f.Stat(name); return "", err },
	"Lstat of afero.Fs": func(f *FS, name string) (string, error) { _, _, err := f.LstatIfPossible(name); return "", err },
	"ReadDir of afero.Fs": func(f *FS, name string) (string, error) {
		_, err := afero.ReadDir(f, name)
		return "", err
	},
	"Readlink of afero.Fs": func(f *FS, name string) (string, error) { _, err := f.ReadlinkIfPossible(name); return "", err },
}

func inTop(f *FS, do func(*Dir) error) error {
	dir, err := f.OpenDir(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir)
}

func closed(c interface{ Close() error }) error {
	switch c := c.(type) {
	case *Dir:
		if c == nil {
			return nil
		}
	case nil:
		return nil
	}
	return c.Close()
}

func textOf(file *File, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return contents(file, nil), nil
}

// hostileRoot returns a directory with the files that the names of the table would find, beside a
// directory that no name may find.
func hostileRoot(t *testing.T) string {
	return onDisk(t, tree{"file.txt": "inside", "dir/in.txt": "inside"}, &options{})
}

func TestEachHostileNameHasTheDocumentedAnswer(t *testing.T) {
	for _, h := range hostileNames(t) {
		t.Run(h.name, func(t *testing.T) {
			root := hostileRoot(t)
			answer := h.windows
			if runtime.GOOS != "windows" {
				answer = h.elsewhere
			}
			if strings.Contains(answer, "an ordinary name") {
				made := filepath.Join(root, filepath.FromSlash(h.name))
				if os.MkdirAll(filepath.Dir(made), 0o755) != nil || os.WriteFile(made, []byte("inside"), 0o644) != nil {
					t.Skip("the filesystem has no such name")
				}
			}
			for kind, f := range map[string]*FS{"New": osFS(root, options{}), "os.Root": rootFS(root, options{}), "Over": over(wrappedOsFs{}, root, options{})} {
				for door, open := range doors {
					content, err := open(f, h.name)
					if err == nil && content != "" && content != "inside" {
						t.Errorf("%s, %s: reads %q", kind, door, content)
					}
					if got, want := h.answerOf(err), h.wanted(kind, door, answer); want != "" && !strings.Contains(want, got) {
						t.Errorf("%s, %s: %s (%v), documented as %s", kind, door, got, err, want)
					}
				}
			}
		})
	}
}

// answerOf names a result as the table does. For some methods, a file that is not a link or a
// directory is an error.
func (h hostileName) answerOf(err error) string {
	switch {
	case errors.Is(err, ErrEscape):
		return "`ErrEscape`"
	case errors.Is(err, fs.ErrNotExist):
		return "`fs.ErrNotExist`"
	case errors.Is(err, fs.ErrInvalid):
		return "`fs.ErrInvalid`"
	default:
		return "the file"
	}
}

// wanted returns the answers that a method may have.
func (h hostileName) wanted(kind, door, answer string) string {
	found := strings.Contains(answer, "the file") || strings.Contains(answer, "an ordinary name")
	switch {
	case strings.Contains(answer, "depends"):
		return ""
	case found && strings.Contains(strings.ToLower(door), "readlink"):
		return "the file, `fs.ErrInvalid`" // not a link
	case strings.HasSuffix(door, "of a Dir") && strings.Contains(h.name, "/"):
		return "`ErrEscape`, `fs.ErrInvalid`" // not an element
	case strings.HasSuffix(door, "of afero.Fs") && runtime.GOOS == "windows" && strings.Contains(h.name, `\`):
		if strings.Contains(h.catalog, "the file") {
			return "the file, `fs.ErrInvalid`"
		}
		return "`ErrEscape`, `fs.ErrInvalid`"
	case found:
		return "the file"
	case door == "Within":
		return "`ErrEscape`" + answer
	case strings.HasSuffix(door, "of fs.FS") && !strings.Contains(answer, "fs.ErrNotExist"):
		return "`fs.ErrInvalid`"
	case strings.Contains(answer, "outside"):
		return "`ErrEscape`"
	default:
		return answer
	}
}
