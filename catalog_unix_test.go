//go:build unix

package toolshelf_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A catalog reports an entry that is not a file but has the name of a file. The entry
// blocks no call and affects no other file.
func TestEntriesThatAreNotFiles(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/good.md": "Good.", "commands/directory.md/x": "", "skills/good/SKILL.md": "---\nname: good\ndescription: d\n---\n", "skills/fifo/x": ""})
	dir := filepath.Join(root, "commands")
	socket := must.Get(net.Listen("unix", filepath.Join(dir, "socket.md")))(t)
	defer socket.Close()
	must.Do(t, errors.Join(
		unix.Mkfifo(filepath.Join(dir, "fifo.md"), 0o644),
		unix.Mkfifo(filepath.Join(root, "skills", "fifo", "SKILL.md"), 0o644),
		os.Symlink("/dev/zero", filepath.Join(dir, "device.md")),
		os.Symlink("fifo.md", filepath.Join(dir, "tofifo.md")),
		os.Symlink("nothing", filepath.Join(dir, "dangling.md")),
	))
	c := catalog(t, toolshelf.WithRoot(root))
	must.Match(t, "names", []string{"good"}, names(t, c))
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
	must.Match(t, "problems", want, problems(t, c))
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
			must.Do(t, os.Chmod(dir, 0o755))
		}
		for _, path := range []string{"commands/closed.md", "closed", "skills/closed"} {
			hosttest.Chmod(t, filepath.Join(root, path), 0)
		}
		if os.Getuid() == 0 {
			runAsNobody(t, place+"="+root)
			return
		}
	}
	c := catalog(t, toolshelf.WithRoot(root))
	must.Match(t, "names", []string{"good"}, names(t, c))
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

func TestParentsOfOtherUsersAreNotRead(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	options := []toolshelf.Option{toolshelf.WithHome(""), toolshelf.WithClient(client.Claude(), client.OpenCode())}
	for _, tt := range []struct {
		name     string
		foreign  []string // what belongs to another user
		want     []string
		reported bool
	}{
		{"no directory", nil, []string{"far", "near", "own"}, false},
		{"the root alone", []string{"repo/sub/project", "repo/sub/project/.claude/commands"}, []string{"far", "near", "own"}, false},
		{"a parent", []string{"repo/sub"}, []string{"far", "own"}, true},
		{"the repository", []string{"repo"}, []string{"near", "own"}, true},
		{"the .git", []string{"repo/.git"}, []string{"near", "own"}, true},
		{"a directory of a parent", []string{"repo/.claude"}, []string{"near", "own"}, true},
		{"the directory of a place", []string{"repo/.claude/commands"}, []string{"near", "own"}, true},
		{"a directory without a place", []string{"repo/sub/other"}, []string{"far", "near", "own"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := diskOf(t, map[string]string{"repo/.git/HEAD": "", "repo/.claude/commands/far.md": "---\ndescription: d\n---\n", "repo/sub/.claude/commands/near.md": "---\ndescription: d\n---\n",
				"repo/sub/project/.claude/commands/own.md": "---\ndescription: d\n---\n", "repo/sub/other/x": ""})
			for _, name := range tt.foreign {
				must.Do(t, os.Lchown(filepath.Join(dir, name), 65534, 65534))
			}
			t.Setenv("SUDO_UID", "")
			all := append(options, toolshelf.WithRoot(filepath.Join(dir, "repo/sub/project")), toolshelf.WithParents(""))
			c := catalog(t, all...)
			if got := names(t, c); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			found, err := c.Lint(t.Context())
			if err != nil || tt.reported != (len(found) > 0) {
				t.Fatalf("reported %+v, %v", found, err)
			}
			for _, d := range found {
				if d.Code != agentmd.DiagDirectoryOfOtherUser || !strings.HasPrefix(d.Path, "../") || !strings.HasSuffix(d.Path, ".claude/commands") || strings.Contains(d.String(), dir) {
					t.Errorf("reported %v", d)
				}
			}
			if tt.reported {
				if _, err := c.Get(t.Context(), map[bool]string{true: "near", false: "far"}[tt.foreign[0] == "repo/sub"]); !errors.Is(err, toolshelf.ErrCommandNotFound) {
					t.Errorf("Get of a command of another user: %v", err)
				}
			}
			t.Setenv("SUDO_UID", "65534")
			if got := names(t, catalog(t, all...)); len(got) != 3 {
				t.Errorf("with sudo: got %q", got)
			}
			for _, name := range tt.foreign { // after New
				must.Do(t, os.Lchown(filepath.Join(dir, name), 0, 0))
			}
			t.Setenv("SUDO_UID", "")
			if got := names(t, c); len(got) != 3 {
				t.Errorf("after the change of the owner: got %q", got)
			}
			for _, name := range tt.foreign {
				must.Do(t, os.Lchown(filepath.Join(dir, name), 65534, 65534))
			}
			t.Setenv("SUDO_UID", "65533")
			if got := names(t, c); !slices.Equal(got, tt.want) {
				t.Errorf("with sudo of a third user: got %q, want %q", got, tt.want)
			}
		})
	}
}

// The rule holds for the files of root too, whatever SUDO_UID says.
func TestParentsOfRootAreNotReadByAnotherUser(t *testing.T) {
	const place = "TEST_PARENTS_IN"
	dir := os.Getenv(place)
	if dir == "" {
		dir = diskOf(t, map[string]string{"repo/.git": "", "repo/.claude/commands/far.md": "", "repo/project/.claude/commands/own.md": ""})
		for _, name := range []string{"..", ".", "repo/project"} {
			must.Do(t, os.Chmod(filepath.Join(dir, name), 0o755))
		}
		if os.Getuid() == 0 {
			runAsNobody(t, place+"="+dir) // the files belong to root
			return
		}
	}
	t.Setenv("SUDO_UID", "0")
	foreign := os.Getenv(place) != ""
	c := catalog(t, toolshelf.WithRoot(filepath.Join(dir, "repo/project")), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()), toolshelf.WithParents(""))
	if got := names(t, c); slices.Contains(got, "far") == foreign || !slices.Contains(got, "own") {
		t.Errorf("files of root: %t, got %q", foreign, got)
	}
}

// runAsNobody runs this test again in a process of another user.
func runAsNobody(t *testing.T, env string) {
	t.Helper()
	binary := must.Get(os.ReadFile(hosttest.Self(t)))(t)
	copied := filepath.Join(t.TempDir(), "test") // the other user may have no access to the directory of the test binary
	must.Do(t, errors.Join(os.WriteFile(copied, binary, 0o755), os.Chmod(filepath.Dir(copied), 0o755), os.Chmod(filepath.Dir(filepath.Dir(copied)), 0o755)))
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
	must.Do(t, errors.Join(os.Symlink("../../secret", at("link")), unix.Mkfifo(at("fifo"), 0o644), os.Symlink("/dev/zero", at("device"))))
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

// Each of these skills attacks the reader: with a hang, with a large use of memory, or
// with a link to other files. Each skill is loaded as far as possible or rejected with
// a code, has a diagnostic, and does not affect another skill.
func TestHostileSkills(t *testing.T) {
	hosttest.NeedsSymlinks(t)
	const description = 5 << 20
	root := diskOf(t, map[string]string{
		"skills/good/SKILL.md":           skillFile("good"),
		"skills/links/SKILL.md":          skillFile("links"),
		"skills/long/SKILL.md":           "---\nname: long\ndescription: " + strings.Repeat("x", description) + "\n---\nText.\n",
		"skills/nested/SKILL.md":         "---\nname: nested\ndescription: d\nx: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "\n---\nText.\n",
		"skills/aliases/SKILL.md":        "---\nname: aliases\ndescription: d\n" + laughs() + "---\nText.\n",
		"skills/nul/SKILL.md":            "---\nname: nul\ndescription: a\x00b\n---\nText.\x00\n",
		"skills/fifo/notes.txt":          "",
		"skills/fifo-among/SKILL.md":     skillFile("fifo-among"),
		"skills/directory/SKILL.md/x":    "",
		"skills/device/notes.txt":        "",
		"skills/endless/references/a.md": "",
		"skills/endless/SKILL.md":        skillFile("endless"),
		"skills/many/SKILL.md":           skillFile("many"),
		"secret.txt":                     secretText,
	})
	dir := func(elem ...string) string { return filepath.Join(root, "skills", filepath.Join(elem...)) }
	problems := []error{
		unix.Mkfifo(dir("fifo", "SKILL.md"), 0o644),
		unix.Mkfifo(dir("fifo-among", "pipe.md"), 0o644),
		os.Symlink("/dev/zero", dir("device", "SKILL.md")),
		os.Symlink("..", dir("endless", "references", "up")),
		os.Symlink("/proc/self", dir("endless", "proc")),
	}
	for i := range 200 {
		problems = append(problems, os.Symlink("../../secret.txt", dir("links", fmt.Sprintf("out-%04d.md", i))))
	}
	for i := range 10_000 {
		// A link is made sooner than a file, but NTFS takes longer for each further link of a file.
		if name := dir("many", fmt.Sprint(i)); i%100 == 0 || os.Link(dir("many", fmt.Sprint(i/100*100)), name) != nil {
			problems = append(problems, os.WriteFile(name, nil, 0o644))
		}
	}
	must.Do(t, errors.Join(problems...))

	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir())
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var list []toolshelf.SkillInfo
	if n := allocated(func() {
		var err error
		if list, err = c.ListSkills(t.Context()); err != nil {
			t.Fatal(err)
		}
	}); n > 32<<20 {
		t.Errorf("ListSkills took %d bytes of memory", n)
	}
	if len(list) != 12 {
		t.Errorf("%d skills listed, want 12", len(list))
	}
	for _, s := range list {
		fine := s.Name == "good" || s.Name == "links" || s.Name == "endless" || s.Name == "fifo-among" || s.Name == "many" // with a valid SKILL.md
		if fine != (len(s.Diagnostics) == 0) || fine && s.Description != "d" {
			t.Errorf("%s has the description %.20q and diagnostics %.200v", s.Name, s.Description, s.Diagnostics)
		}
	}

	var diagnostics []toolshelf.Diagnostic
	if n := allocated(func() {
		var err error
		if diagnostics, err = c.Lint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}); n > 20*description {
		t.Errorf("Lint took %d bytes of memory", n)
	}
	checkCodes(t, diagnostics)
	linted := map[string]bool{}
	for _, d := range diagnostics {
		linted[string(d.Code)+" "+d.Path] = true
	}

	for name, want := range map[string]error{
		"good": nil, "links": nil, "long": nil, "nested": nil, "aliases": nil, "nul": nil, "endless": nil, "fifo-among": nil, "many": nil,
		"fifo": toolshelf.ErrFileRead, "device": toolshelf.ErrFileRead, "directory": toolshelf.ErrSkillNotFound,
	} {
		var skill toolshelf.Skill
		var err error
		n := allocated(func() { skill, err = c.GetSkill(t.Context(), name, toolshelf.Digests()) })
		if !errors.Is(err, want) || want != nil && err == nil {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if n > 8*description {
			t.Errorf("%s took %d bytes of memory", name, n)
		}
		if err == nil && (name != "good") != (len(skill.Diagnostics) > 0) {
			t.Errorf("%s: diagnostics %.200v", name, skill.Diagnostics)
		}
		for _, d := range skill.Diagnostics {
			if reported := linted[string(d.Code)+" "+d.Path]; !reported && !strings.HasPrefix(d.Message, "no digest") {
				t.Errorf("Lint does not report %+v", d)
			}
		}
		if text := fmt.Sprintf("%+v", skill); strings.Contains(text, secretText) {
			t.Errorf("%s contains text from outside", name)
		}
	}
	for skill, file := range map[string]string{"links": "out-0000.md", "endless": "proc/environ"} {
		if _, err := c.ReadSkillFile(t.Context(), skill, file); !errors.Is(err, toolshelf.ErrOutsideRoot) {
			t.Errorf("%s of %s: %v", file, skill, err)
		}
	}
	if _, err := c.ReadSkillFile(t.Context(), "fifo-among", "pipe.md"); !errors.Is(err, toolshelf.ErrFileRead) {
		t.Errorf("a pipe: %v", err)
	}
}

const secretText = "text from outside"

// laughs returns a header of 3 KB whose aliases expand to a billion values.
func laughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [lol, lol, lol]\n")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1)
	}
	return b.String()
}

// While a program exchanges directories of a skill and links out of the skill,
// ReadSkillFile returns only files of the skill.
func TestNoExchangeOfFilesLeadsOutOfASkill(t *testing.T) {
	root := diskOf(t, map[string]string{
		"skills/pdf/SKILL.md": skillFile("pdf"), "skills/pdf/refs/a.md": "inside", "private/a.md": secretText, "private/SKILL.md": secretText,
	})
	refs := filepath.Join(root, "skills", "pdf", "refs")
	hosttest.Symlink(t, "../../private", refs+".link")
	c := catalog(t, toolshelf.WithRoot(root))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			err := errors.Join(os.Rename(refs, refs+".aside"), os.Rename(refs+".link", refs), os.Rename(refs, refs+".link"), os.Rename(refs+".aside", refs))
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	served, rounds := 0, catalogtest.Rounds(1000, 1000)
	for round := 0; round < rounds || served == 0; round++ {
		got, err := c.ReadSkillFile(t.Context(), "pdf", "refs/a.md")
		if err == nil {
			served++
		}
		if err == nil && string(got) != "inside" || err != nil && toolshelf.CodeOf(err) == "" {
			t.Errorf("got %q, %v", got, err)
			break
		}
		skill, err := c.GetSkill(t.Context(), "pdf", toolshelf.Digests())
		for _, f := range skill.Files {
			if f.SHA256 == digest(secretText) {
				t.Errorf("a digest of a file outside: %+v", f)
			}
		}
		if err != nil && !errors.Is(err, toolshelf.ErrFileRead) {
			t.Error(err)
			break
		}
	}
	close(stop)
	swapper.Wait()
	if served == 0 {
		t.Error("no read succeeded, so the test tried nothing")
	}
}
