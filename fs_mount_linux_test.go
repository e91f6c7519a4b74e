package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
)

// mountHanging mounts a filesystem of a program that answers no system call.
func mountHanging(t *testing.T, dir string) {
	t.Helper()
	program, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skip("the system has no filesystems of programs: " + err.Error())
	}
	t.Cleanup(func() { program.Close() }) // ends all system calls with an error
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", program.Fd())
	if err := unix.Mount("hanging", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		t.Skip("the test needs the permission to mount: " + err.Error())
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// On a local disk the file methods run on the goroutine of the caller. A filesystem that
// is mounted later below the root can hang, and the methods return all the same.
func TestTheContextEndsAFileMethodOnAMountThatHangs(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	remote := filepath.Join(root, "remote")
	if err := os.Mkdir(remote, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(remote, "a.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := catalog(t, toolshelf.WithRoot(root))
	calls := map[string]func(context.Context) error{
		"ListDir":              func(ctx context.Context) error { _, err := c.ListDir(ctx, "."); return err },
		"ListDir of the mount": func(ctx context.Context) error { _, err := c.ListDir(ctx, "remote"); return err },
		"Tree":                 func(ctx context.Context) error { _, err := c.Tree(ctx, "."); return err },
		"FindFiles":            func(ctx context.Context) error { _, err := c.FindFiles(ctx, ".", "*.go"); return err },
		"Stat":                 func(ctx context.Context) error { _, err := c.Stat(ctx, "remote"); return err },
		"ReadFile":             func(ctx context.Context) error { _, err := c.ReadFile(ctx, "remote/a.txt"); return err },
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for method, call := range calls {
		if err := call(ctx); err != nil {
			t.Fatalf("%s before the mount: %v", method, err)
		}
	}
	mountHanging(t, remote)
	returned := make(chan error)
	for method, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		go func() { returned <- call(ctx) }()
		select {
		case err := <-returned:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", method, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s has not returned", method)
		}
		cancel()
	}
}

// mountExFAT mounts a filesystem that stores no change times: exFAT, through a program.
func mountExFAT(t *testing.T, dir string) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	if err := errors.Join(os.WriteFile(image, nil, 0o644), os.Truncate(image, 16<<20)); err != nil {
		t.Fatal(err)
	}
	run := func(command string, args ...string) string {
		out, err := exec.Command(command, args...).CombinedOutput()
		if err != nil {
			t.Skipf("the test needs mkfs.exfat, losetup, mount.exfat-fuse and the permission to mount: %s: %v: %s", command, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("mkfs.exfat", image)
	device := run("losetup", "--find", "--show", image)
	t.Cleanup(func() { _ = exec.Command("losetup", "--detach", device).Run() })
	run("mount.exfat-fuse", device, dir)
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// A program can rewrite a file and set the modification time back. On a filesystem without
// change times, only the content shows the change.
func TestARewriteOnExFATIsNoticed(t *testing.T) {
	root := t.TempDir()
	mountExFAT(t, root)
	before := time.Now().Add(-time.Hour)
	c := catalog(t, toolshelf.WithRoot(root))
	for _, word := range []string{"apples", "quince", "bodyap", "bodyqu"} {
		for name, text := range map[string]string{"commands/a.md": word, "skills/a/SKILL.md": skillFile("a") + word, "skills/a/notes.txt": word, "long.txt": strings.Repeat(word+"\n", 20_000)} {
			name = filepath.Join(root, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, before, before)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(views(t, catalog(t, toolshelf.WithRoot(root))), views(t, c)); diff != "" {
			t.Errorf("%s, a new catalog and this one (-want +got):\n%s", word, diff)
		}
		if got, err := c.ReadFile(t.Context(), "long.txt", toolshelf.Lines(15_000, 15_000)); err != nil || !strings.Contains(got.Text, word) {
			t.Errorf("ReadFile: %q, %v; want %s", got.Text, err, word)
		}
	}
}

// A mount and an unmount have no event in a watched directory.
func TestWatchNoticesMounts(t *testing.T) {
	for name, tt := range map[string]struct{ at, file, kind, want string }{
		"a directory of commands":               {"commands/sub", "b.md", "tmpfs", "sub:b"},
		"a nested directory of commands":        {"commands/sub/deep", "b.md", "tmpfs", "sub:deep:b"},
		"the directory of the commands":         {"commands", "b.md", "tmpfs", "b"},
		"a directory above the commands":        {".", "commands/b.md", "tmpfs", "b"},
		"a directory of a skill":                {"skills/s", "SKILL.md", "tmpfs", "s"},
		"a directory of a skill, bound":         {"skills/s", "SKILL.md", "bind", "s"},
		"a directory of commands, bound":        {"commands/sub", "b.md", "bind", "sub:b"},
		"a directory with skills":               {"skills/group", "s/SKILL.md", "tmpfs", "s"},
		"a directory of commands behind a link": {"commands/sub", "b.md", "tmpfs", "sub:b"},
	} {
		t.Run(name, func(t *testing.T) {
			root := diskOf(t, map[string]string{"commands/sub/deep/a.md": "", "skills/s/x.md": "", "skills/group/x.md": ""})
			source := t.TempDir()
			path := root
			if strings.HasSuffix(name, "link") {
				path = filepath.Join(t.TempDir(), "link")
				if err := os.Symlink(root, path); err != nil {
					t.Fatal(err)
				}
			}
			c := catalog(t, toolshelf.WithRoot(path), toolshelf.WithWatch(), toolshelf.WithNestedCommands(), toolshelf.WithSkillDepth(3))
			shown := func() bool {
				commands, err := c.List(t.Context(), toolshelf.Page{})
				if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
					t.Fatal(err)
				}
				skills, err := c.ListSkills(t.Context())
				if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
					t.Fatal(err)
				}
				return slices.ContainsFunc(commands.Commands, func(i toolshelf.CommandInfo) bool { return i.Name == tt.want }) ||
					slices.ContainsFunc(skills, func(i toolshelf.SkillInfo) bool { return i.Name == tt.want && len(i.Diagnostics) == 0 })
			}
			changes := make(chan toolshelf.Change, 100)
			c.OnChange(func(change toolshelf.Change) { changes <- change })
			at := filepath.Join(root, filepath.FromSlash(tt.at))
			mount := func() error { return unix.Mount("tmpfs", at, "tmpfs", 0, "") }
			if tt.kind == "bind" {
				mount = func() error { return unix.Mount(source, at, "", unix.MS_BIND, "") }
			}
			content := skillFile(tt.want)
			if tt.kind == "bind" {
				write(t, content, source, tt.file)
			}
			for range 2 {
				for len(changes) > 0 {
					<-changes
				}
				if err := mount(); err != nil {
					t.Skip("the test needs the permission to mount: " + err.Error())
				}
				mounted := true
				t.Cleanup(func() {
					if mounted {
						unix.Unmount(at, unix.MNT_DETACH)
					}
				})
				if tt.kind != "bind" {
					write(t, content, at, tt.file)
				}
				wait := func(want bool) {
					t.Helper()
					select {
					case <-changes:
					case <-time.After(patience):
						t.Fatalf("OnChange reports no change")
					}
					eventually(t, func() string {
						if shown() != want {
							return fmt.Sprintf("%s is listed: %t", tt.want, !want)
						}
						return ""
					})
				}
				wait(true)
				if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
					t.Fatal(err)
				}
				mounted = false
				wait(false)
			}
		})
	}
}
