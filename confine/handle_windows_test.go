package confine

import (
	"os"
	"path/filepath"
	"testing"
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
			must(t, os.Mkdir(root, 0o755))
			opened, err := open(osFS(root, options{}))
			must(t, err)
			defer opened.Close()
			must(t, os.Rename(root, moved))
			must(t, os.Remove(moved))
		})
	}
}

type closer struct{ dirHandle }

func (c closer) Close() error { return c.close() }

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
	must(t, os.WriteFile(filepath.Join(outside, "a.txt"), []byte("a"), 0o644))
	rooted := outside[len(filepath.VolumeName(outside)):]
	for name, target := range map[string]string{"drive": outside, "rooted": rooted, "slashes": filepath.ToSlash(outside)} {
		if err := os.Symlink(filepath.Join(target, "a.txt"), filepath.Join(root, name)); err != nil {
			t.Skip("this user cannot create links:", err)
		}
		if _, err := osFS(root, options{}).Info(name); err == nil {
			t.Errorf("%s: followed without TrustAll", name)
		}
		if _, err := osFS(root, options{trustAll: true}).Info(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
