//go:build unix

package toolshelf_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
)

// A catalog reports an entry that is not a file but has the name of a file. The entry
// blocks no call and affects no other file.
func TestEntriesThatAreNotFiles(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/good.md": "Good.", "commands/directory.md/x": "", "skills/good/SKILL.md": "---\nname: good\ndescription: d\n---\n", "skills/fifo/x": ""})
	dir := filepath.Join(root, "commands")
	socket, err := net.Listen("unix", filepath.Join(dir, "socket.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := errors.Join(
		unix.Mkfifo(filepath.Join(dir, "fifo.md"), 0o644),
		unix.Mkfifo(filepath.Join(root, "skills", "fifo", "SKILL.md"), 0o644),
		os.Symlink("/dev/zero", filepath.Join(dir, "device.md")),
		os.Symlink("fifo.md", filepath.Join(dir, "tofifo.md")),
		os.Symlink("nothing", filepath.Join(dir, "dangling.md")),
	); err != nil {
		t.Fatal(err)
	}
	c := catalog(t, toolshelf.WithRoot(root))
	if diff := cmp.Diff([]string{"good"}, names(t, c)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for name, want := range map[string]error{
		"fifo": toolshelf.ErrFileRead, "socket": toolshelf.ErrFileRead, "device": toolshelf.ErrFileRead, "tofifo": toolshelf.ErrFileRead,
		"dangling": toolshelf.ErrFileRead, "directory": toolshelf.ErrCommandNotFound,
	} {
		if _, err := c.Get(t.Context(), name); !errors.Is(err, want) || strings.Contains(err.Error(), root) {
			t.Errorf("Get(%q): %v, want %v", name, err, want)
		}
	}
	want := []string{
		"LINK_NOT_FOLLOWED commands/dangling.md", "LINK_NOT_FOLLOWED commands/device.md", "NOT_A_FILE commands/directory.md",
		"FILE_READ_ERROR commands/fifo.md", "NO_DESCRIPTION commands/good.md", "FILE_READ_ERROR commands/socket.md",
		"FILE_READ_ERROR commands/tofifo.md", "FILE_READ_ERROR skills/fifo/SKILL.md",
	}
	if diff := cmp.Diff(want, problems(t, c)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	skills, err := c.ListSkills(t.Context())
	if err != nil || len(skills) != 2 {
		t.Errorf("%d skills, %v", len(skills), err)
	}
}

// TestPermissions runs itself as another user if the user is root, because permissions do
// not stop root.
func TestPermissions(t *testing.T) {
	const place = "TEST_PERMISSIONS_IN"
	root := os.Getenv(place)
	if root == "" {
		root = diskOf(t, map[string]string{"commands/good.md": "Good.", "commands/closed.md": "Closed.", "closed/a.md": "",
			"skills/closed/SKILL.md": "", "skills/good/SKILL.md": ""})
		for _, dir := range []string{filepath.Dir(root), root} {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{"commands/closed.md", "closed", "skills/closed"} {
			full := filepath.Join(root, path)
			if err := os.Chmod(full, 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(full, 0o755) })
		}
		if os.Getuid() == 0 {
			runAsNobody(t, place+"="+root)
			return
		}
	}
	c := catalog(t, toolshelf.WithRoot(root))
	if diff := cmp.Diff([]string{"good"}, names(t, c)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if _, err := c.Get(t.Context(), "closed"); !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Get of a closed file: %v", err)
	}
	skills, err := c.ListSkills(t.Context())
	if err != nil || len(skills) != 2 || len(skills[0].Diagnostics) == 0 {
		t.Errorf("ListSkills with a closed one: %+v, %v", skills, err)
	}
	c = catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir("closed"), toolshelf.WithSkillsDir("closed"))
	if _, err := c.List(t.Context(), toolshelf.Page{}); !errors.Is(err, toolshelf.ErrPermissionDenied) {
		t.Errorf("List of a directory without permission: %v", err)
	}
	if _, err := c.ListSkills(t.Context()); !errors.Is(err, toolshelf.ErrPermissionDenied) {
		t.Errorf("ListSkills of a directory without permission: %v", err)
	}
}

// runAsNobody runs this test again in a process of another user.
func runAsNobody(t *testing.T, env string) {
	t.Helper()
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "test") // the other user may have no access to the directory of the test binary
	if err := errors.Join(os.WriteFile(copied, binary, 0o755), os.Chmod(filepath.Dir(copied), 0o755), os.Chmod(filepath.Dir(filepath.Dir(copied)), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}

// A .gitignore file that is a link, a pipe or a device has no rules, as in git. The file
// blocks no call, and its content does not decide what a listing shows.
func TestGitignoreFilesThatAreNotRegularHaveNoRules(t *testing.T) {
	root := diskOf(t, map[string]string{"secret": "a.txt\n", "project/link/a.txt": "", "project/fifo/a.txt": "", "project/device/a.txt": ""})
	at := func(dir string) string { return filepath.Join(root, "project", dir, ".gitignore") }
	if err := errors.Join(os.Symlink("../../secret", at("link")), unix.Mkfifo(at("fifo"), 0o644), os.Symlink("/dev/zero", at("device"))); err != nil {
		t.Fatal(err)
	}
	c := catalog(t, toolshelf.WithRoot(filepath.Join(root, "project")))
	tree, err := c.Tree(t.Context(), ".", toolshelf.Gitignore())
	if err != nil || tree.Files != 3 || tree.Ignored != 0 {
		t.Errorf("got %+v, %v", tree, err)
	}
	if len(tree.Warnings) != 3 {
		t.Errorf("%d warnings, want one for each file: %q", len(tree.Warnings), tree.Warnings)
	}
	for _, w := range tree.Warnings {
		if strings.Contains(w, root) || strings.Contains(w, "secret") {
			t.Errorf("a warning reveals the target: %s", w)
		}
	}
}
