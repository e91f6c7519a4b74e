//go:build unix

package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestAFileThatOthersCanChangeAllowsNothing changes the owner or the mode of a file or a directory
// of a good store.
func TestAFileThatOthersCanChangeAllowsNothing(t *testing.T) {
	const other = 65534
	for name, tt := range map[string]struct {
		change func(dir string) error // the file is dir/above/private/trust
		broken error
	}{
		"file writable by the group":      {func(dir string) error { return os.Chmod(dir+"/above/private/trust", 0o620) }, ErrForeign},
		"file writable by all":            {func(dir string) error { return os.Chmod(dir+"/above/private/trust", 0o602) }, ErrForeign},
		"file readable by all":            {func(dir string) error { return os.Chmod(dir+"/above/private/trust", 0o644) }, nil},
		"file of another user":            {func(dir string) error { return os.Chown(dir+"/above/private/trust", other, -1) }, ErrForeign},
		"directory writable by the group": {func(dir string) error { return os.Chmod(dir+"/above/private", 0o770) }, ErrForeign},
		"directory writable by all":       {func(dir string) error { return os.Chmod(dir+"/above/private", fs.ModeSticky|0o777) }, ErrForeign},
		"directory readable by all":       {func(dir string) error { return os.Chmod(dir+"/above/private", 0o755) }, nil},
		"directory of another user":       {func(dir string) error { return os.Chown(dir+"/above/private", other, -1) }, ErrForeign},
		"directory above writable by all": {func(dir string) error { return os.Chmod(dir+"/above", 0o777) }, ErrForeign},
		"directory above writable by another group": {func(dir string) error {
			return errors.Join(os.Chown(dir+"/above", -1, other), os.Chmod(dir+"/above", 0o770))
		}, ErrForeign},
		"directory above writable by the group of the user only": {func(dir string) error {
			return errors.Join(os.Chown(dir+"/above", -1, os.Getuid()), os.Chmod(dir+"/above", 0o770))
		}, nil},
		"directory above with the sticky bit": {func(dir string) error { return os.Chmod(dir+"/above", fs.ModeSticky|0o777) }, nil},
		"directory above of another user":     {func(dir string) error { return os.Chown(dir+"/above", other, -1) }, ErrForeign},
		"link in place of the file":           {func(dir string) error { return relink(dir+"/above/private/trust", dir+"/target") }, ErrBroken},
		"link in place of the directory":      {func(dir string) error { return relink(dir+"/above/private", dir+"/target") }, nil},
		"link to a directory below a public one": {func(dir string) error {
			return errors.Join(os.MkdirAll(dir+"/public", 0o777), os.Chmod(dir+"/public", 0o777), relink(dir+"/above/private", dir+"/public/target"))
		}, ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			if (strings.Contains(name, "another") || strings.Contains(name, "group of the user")) && os.Getuid() != 0 {
				t.Skip("only root changes owners")
			}
			dir := filepath.Dir(storeFile(t))
			must.Do(t, errors.Join(os.Mkdir(dir+"/above", 0o700), os.Mkdir(dir+"/above/private", 0o700)))
			file := dir + "/above/private/trust"
			p := entry("deploy", "one")
			approve(t, open(t, file), p)
			must.Do(t, tt.change(dir))
			s, err := Open(file)
			must.Is(t, "Open", tt.broken, err)
			if got := allowed(t, s, p); len(got) > 0 != (tt.broken == nil) {
				t.Errorf("the store allows %q", got)
			}
			must.Is(t, "Approve", tt.broken, s.Approve(t.Context(), entry("other", "one")))
		})
	}
}

// relink moves a file or a directory and leaves a link.
func relink(name, target string) error {
	return errors.Join(os.Rename(name, target), os.Symlink(target, name))
}

func TestApproveWritesNothingIntoAPublicDirectory(t *testing.T) {
	file := storeFile(t)
	s := open(t, file)
	must.Do(t, os.Chmod(filepath.Dir(file), 0o777))
	must.Is(t, "Approve", ErrForeign, s.Approve(t.Context(), entry("deploy", "one")))
	if entries, err := os.ReadDir(filepath.Dir(file)); len(entries) > 0 || err != nil {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

func TestTheFileIsPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	file := filepath.Join(filepath.Dir(storeFile(t)), "new", "trust")
	approve(t, open(t, file), entry("deploy", "one"))
	for name, want := range map[string]fs.FileMode{file: 0o600, file + ".lock": 0o600, filepath.Dir(file): 0o700 | fs.ModeDir} {
		must.Equal(t, name, want, must.Get(os.Stat(name))(t).Mode())
	}
	if _, err := os.Stat(file + ".tmp"); !isMissing(err) {
		t.Error("the temporary file remains")
	}
}

func TestAPipeInPlaceOfTheFileIsNotOpened(t *testing.T) {
	file := storeFile(t)
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Skip(err)
	}
	must.Fail(Open(file))(t, "Open", ErrBroken)
}
