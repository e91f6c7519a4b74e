package confine

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/afero"
	"golang.org/x/sys/windows"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// An open handle without FILE_SHARE_DELETE prevents both operations.
func TestAnOpenRootCanBeRenamedAndRemoved(t *testing.T) {
	for name, open := range map[string]func(f *FS) (interface{ Close() error }, error){
		"as a directory": func(f *FS) (interface{ Close() error }, error) { return f.OpenDir(".") },
		"during a resolution": func(f *FS) (interface{ Close() error }, error) {
			handle, err := f.openTop(f.dir, false)
			return closer{handle}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			root, moved := filepath.Join(parent, "root"), filepath.Join(parent, "moved")
			must.Do(t, os.Mkdir(root, 0o755))
			opened := must.Get(open(osFS(root, options{})))(t)
			defer opened.Close()
			must.Do(t, os.Rename(root, moved))
			must.Do(t, os.Remove(moved))
		})
	}
}

type closer struct{ dirHandle }

func (c closer) Close() error { return c.close() }

func TestAFileHasNoChangeTimeAndNoIdentity(t *testing.T) {
	f := osFS(onDisk(t, tree{"file.txt": "inside"}, &options{}), options{})
	info := must.Get(f.Info("file.txt"))(t)
	if !info.Changed.IsZero() || info.Dev != 0 || info.Ino != 0 || info.Modified.IsZero() {
		t.Errorf("got %+v", info)
	}
}

func TestLinkTextsOfWindows(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, `\\?\`: false, `a\b`: false, `..\a`: false,
		`\a`: true, `C:\a`: true, `C:a`: true, `\\?\C:\a`: true, `\\server\share\a`: true,
	} {
		if absolute, _ := (&FS{}).linkTarget(text); absolute != want {
			t.Errorf("%q: absolute is %t, want %t", text, absolute, want)
		}
	}
}

// A link to another drive, in each of the notations of Windows, is followed with TrustAll only.
func TestLinksToOtherVolumes(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(outside, "a.txt"), []byte("a"), 0o644))
	rooted := outside[len(filepath.VolumeName(outside)):]
	for name, target := range map[string]string{"drive": outside, "rooted": rooted, "slashes": filepath.ToSlash(outside)} {
		hosttest.Symlink(t, filepath.Join(target, "a.txt"), filepath.Join(root, name))
		if _, err := osFS(root, options{}).Info(name); err == nil {
			t.Errorf("%s: followed without TrustAll", name)
		}
		if _, err := osFS(root, options{trustAll: true}).Info(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// shortName returns the short name of a file, and skips the test if the filesystem makes none.
func shortName(t *testing.T, file string) string {
	t.Helper()
	full := must.Get(windows.UTF16PtrFromString(file))(t)
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n := must.Get(windows.GetShortPathName(full, &buf[0], uint32(len(buf))))(t)
	short := filepath.Base(windows.UTF16ToString(buf[:n]))
	if short == filepath.Base(file) {
		t.Skip("the filesystem has no short names")
	}
	return short
}

func TestAShortNameIsTheNameOfNoFile(t *testing.T) {
	root := onDisk(t, tree{
		"a directory with a long name/in.txt": "inside", "a file with a long name.markdown": "inside",
		"x~1.txt": "inside", "X~1": "inside", "x~1.d/in.txt": "inside",
	}, &options{})
	dir := shortName(t, filepath.Join(root, "a directory with a long name"))
	file := shortName(t, filepath.Join(root, "a file with a long name.markdown"))
	f := osFS(root, options{})
	for _, name := range []string{dir, strings.ToLower(dir), dir + "/in.txt", file, strings.ToLower(file)} {
		for door, open := range doors {
			if strings.HasSuffix(door, "of a Dir") && strings.Contains(name, "/") {
				continue
			}
			if _, err := open(f, name); (hostileName{}).answerOf(err) != "`fs.ErrNotExist`" {
				t.Errorf("%s of %q: %v, want fs.ErrNotExist", door, name, err)
			}
		}
	}
	for line, want := range map[string]string{
		"open x~1.txt": "inside", "open X~1": "inside", "open x~1": "inside", "open x~1.d/in.txt": "inside",
		"list x~1.d": "[in.txt]", "dir . open x~1.txt": "inside", "dir . head X~1": `"ins" of 6`, "lstat y~1.txt": "not exist",
	} {
		must.Equal(t, line, want, call(f, line))
	}
}

// Windows replaces bytes that are not UTF-8 by U+FFFD. Half of a surrogate pair stays.
func TestANameWithReplacedBytesIsTheNameOfNoFile(t *testing.T) {
	root := onDisk(t, tree{"\ufffd.txt": "inside", "\ufffd/in.txt": "inside"}, &options{})
	f := osFS(root, options{})
	for _, name := range []string{"\xff.txt", "\xef\xbf.txt", "\xfe", "\xfe/in.txt", "\xff~1"} {
		for door, open := range doors {
			if strings.HasSuffix(door, "of a Dir") && strings.Contains(name, "/") {
				continue
			}
			if _, err := open(f, name); (hostileName{}).answerOf(err) != "`fs.ErrNotExist`" && door != "Sub of fs.FS" { // fs.Sub rejects the name
				t.Errorf("%s of %q: %v, want fs.ErrNotExist", door, name, err)
			}
		}
	}
	for line, want := range map[string]string{"open \ufffd.txt": "inside", "open \ufffd/in.txt": "inside"} {
		must.Equal(t, line, want, call(f, line))
	}
	half := "\xed\xa0\x80~1.txt"
	if os.WriteFile(filepath.Join(root, half), []byte("inside"), 0o644) != nil {
		return // wine stores names as UTF-8
	}
	must.Equal(t, "half of a surrogate pair", "inside", call(f, "open "+half))
}

// A junction needs no privilege, and its target is always absolute.
func TestAJunctionLeadsNowhere(t *testing.T) {
	for target, dir := range map[string]string{"outside": "../outside", "inside": "dir"} {
		t.Run(target, func(t *testing.T) {
			root := onDisk(t, tree{"dir/in.txt": "inside", "secret.txt": "inside"}, &options{})
			junction := filepath.Join(root, "junction")
			out, err := exec.Command("cmd", "/c", "mklink", "/J", junction, filepath.Join(root, dir)).CombinedOutput()
			if info, statErr := os.Lstat(junction); statErr != nil || info.Mode().Type() != fs.ModeIrregular {
				t.Log(err, string(out))
				t.Skip("the system makes no junction")
			}
			for kind, f := range map[string]*FS{"New": osFS(root, options{}), "TrustAll": osFS(root, options{trustAll: true})} {
				for _, line := range []string{"list junction", "open junction", "open junction/secret.txt", "stat junction/in.txt", "list junction/.", "dir . list junction"} {
					if got := call(f, line); got != "not dir" && got != "not regular" && got != "invalid" {
						t.Errorf("%s, %s: %s, want no access", kind, line, got)
					}
				}
			}
		})
	}
}

func TestTheTextOfALinkHasTheRulesOfNames(t *testing.T) {
	for text, want := range map[string]string{
		"file.txt": "inside", `dir\in.txt`: "inside", "./file.txt": "inside",
		"file.txt.": "invalid", "file.txt ": "invalid", "file.txt:s": "invalid", "nul": "invalid", `dir.\in.txt`: "invalid", "C:x": "escape",
	} {
		files := fstest.MapFS{
			"proj/file.txt": {Data: []byte("inside")}, "proj/dir/in.txt": {Data: []byte("inside")},
			"proj/link": {Data: []byte(text), Mode: fs.ModeSymlink},
		}
		if got := call(over(afero.FromIOFS{FS: files}, "proj", options{}), "open link"); got != want {
			t.Errorf("a link with the text %q: %s, want %s", text, got, want)
		}
	}
}
