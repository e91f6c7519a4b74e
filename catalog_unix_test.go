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

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
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
	must.Len(t, "skills", 2, must.Get(c.ListSkills(t.Context()))(t))
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
	must.Fail(c.List(t.Context(), toolshelf.Page{}))(t, "List of a directory without permission", toolshelf.ErrPermissionDenied)
	must.Fail(c.ListSkills(t.Context()))(t, "ListSkills of a directory without permission", toolshelf.ErrPermissionDenied)
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
			must.Match(t, "names", tt.want, names(t, c))
			found := must.Get(c.Lint(t.Context()))(t)
			must.Equal(t, "result", tt.reported, len(found) > 0)
			for _, d := range found {
				if d.Code != agentmd.DiagDirectoryOfOtherUser || !strings.HasPrefix(d.Path, "../") || !strings.HasSuffix(d.Path, ".claude/commands") || strings.Contains(d.String(), dir) {
					t.Errorf("reported %v", d)
				}
			}
			if tt.reported {
				must.Fail(c.Get(t.Context(), map[bool]string{true: "near", false: "far"}[tt.foreign[0] == "repo/sub"]))(t, "Get of a command of another user", toolshelf.ErrCommandNotFound)
			}
			t.Setenv("SUDO_UID", "65534")
			must.Len(t, "with sudo", 3, names(t, catalog(t, all...)))
			for _, name := range tt.foreign { // after New
				must.Do(t, os.Lchown(filepath.Join(dir, name), 0, 0))
			}
			t.Setenv("SUDO_UID", "")
			must.Len(t, "after the change of the owner", 3, names(t, c))
			for _, name := range tt.foreign {
				must.Do(t, os.Lchown(filepath.Join(dir, name), 65534, 65534))
			}
			t.Setenv("SUDO_UID", "65533")
			must.Match(t, "with sudo of a third user", tt.want, names(t, c))
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
	must.Contain(t, "as another user", string(must.Get(cmd.CombinedOutput())(t)),
		"--- PASS: "+t.Name())
}

// A .gitignore file that is a link, a pipe or a device has no rules, as in git. The file
// blocks no call, and its content does not decide what a listing shows.
func TestGitignoreFilesThatAreNotRegularHaveNoRules(t *testing.T) {
	root := diskOf(t, map[string]string{"secret": "a.txt\n", "project/link/a.txt": "", "project/fifo/a.txt": "", "project/device/a.txt": ""})
	at := func(dir string) string { return filepath.Join(root, "project", dir, ".gitignore") }
	must.Do(t, errors.Join(os.Symlink("../../secret", at("link")), unix.Mkfifo(at("fifo"), 0o644), os.Symlink("/dev/zero", at("device"))))
	c := catalog(t, toolshelf.WithRoot(filepath.Join(root, "project")))
	tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Gitignore()))(t)
	must.Equal(t, "tree.Files", 3, tree.Files)
	must.Equal(t, "tree.Ignored", 0, tree.Ignored)
	must.Len(t, "tree.Warnings", 3, tree.Warnings)
	for _, w := range tree.Warnings {
		must.NotContain(t, "warning", w, root, "secret")
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
		list = must.Get(c.ListSkills(t.Context()))(t)
	}); n > 32<<20 {
		t.Errorf("ListSkills took %d bytes of memory", n)
	}
	must.Equal(t, "len(list)", 12, len(list))
	for _, s := range list {
		fine := s.Name == "good" || s.Name == "links" || s.Name == "endless" || s.Name == "fifo-among" || s.Name == "many" // with a valid SKILL.md
		if fine != (len(s.Diagnostics) == 0) || fine && s.Description != "d" {
			t.Errorf("%s has the description %.20q and diagnostics %.200v", s.Name, s.Description, s.Diagnostics)
		}
	}

	var diagnostics []toolshelf.Diagnostic
	if n := allocated(func() {
		diagnostics = must.Get(c.Lint(t.Context()))(t)
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
		must.NotContain(t, name, fmt.Sprintf("%+v", skill), secretText)
	}
	for skill, file := range map[string]string{"links": "out-0000.md", "endless": "proc/environ"} {
		must.Fail(c.ReadSkillFile(t.Context(), skill, file))(t, file, toolshelf.ErrOutsideRoot)
	}
	must.Fail(c.ReadSkillFile(t.Context(), "fifo-among", "pipe.md"))(t, "a pipe", toolshelf.ErrFileRead)
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

func TestReadFileAndGrepOfSpecialFiles(t *testing.T) {
	root := diskOf(t, map[string]string{"dir/a": "x"})
	socket, err := net.Listen("unix", filepath.Join(root, "socket"))
	must.Do(t, err)
	defer socket.Close()
	must.Do(t, errors.Join(unix.Mkfifo(filepath.Join(root, "fifo"), 0o644), os.Symlink("fifo", filepath.Join(root, "tofifo")),
		os.Symlink("/dev/zero", filepath.Join(root, "device")), os.Symlink("loop", filepath.Join(root, "loop"))))
	c := catalog(t, toolshelf.WithRoot(root))
	for _, tt := range []struct {
		name    string
		want    *toolshelf.Error
		message string
	}{
		{"fifo", toolshelf.ErrFileRead, "'fifo' is not a regular file; choose another file"},
		{"tofifo", toolshelf.ErrFileRead, "'tofifo' is not a regular file; choose another file"},
		{"socket", toolshelf.ErrFileRead, "'socket' is not a regular file; choose another file"},
		{"device", toolshelf.ErrOutsideRoot, "Path 'device' is outside project root"},
		{"fifo/x", toolshelf.ErrNotFound, "File 'fifo/x' not found"},
	} {
		_, err := c.ReadFile(t.Context(), tt.name)
		checkError(t, tt.name, err, tt.want, tt.message)
		_, err = c.Grep(t.Context(), tt.name, "x")
		checkError(t, "Grep of "+tt.name, err, tt.want, tt.message)
	}
	if found, err := c.Grep(t.Context(), ".", "x"); err != nil || found.Total != 1 || found.Searched != 1 {
		t.Errorf("Grep: %+v, %v", found, err)
	}
	if _, err := c.ReadFile(t.Context(), "loop"); !errors.Is(err, toolshelf.ErrFileRead) || strings.Contains(err.Error(), root) {
		t.Errorf("loop: %v", err)
	}
	devices := catalog(t, toolshelf.WithRoot("/dev"))
	_, err = devices.ReadFile(t.Context(), "zero")
	checkError(t, "zero", err, toolshelf.ErrFileRead, "'zero' is not a regular file; choose another file")
}

// The files of /proc have the size 0, and their magic links lead anywhere.
func TestReadFileAndGrepOfProc(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc")
	}
	c := catalog(t, toolshelf.WithRoot("/proc/self"))
	text, err := c.ReadFile(t.Context(), "limits") // status changes between two calls
	if err != nil || text.Total <= 0 || text.Total != strings.Count(text.Text, "\n") || text.Size != 0 || text.NextLine != 0 {
		t.Errorf("limits: %+v, %v", text, err)
	}
	last, err := c.ReadFile(t.Context(), "limits", toolshelf.Lines(-1, 0))
	if err != nil || last.First != text.Total || last.Text == "" || !strings.HasSuffix(text.Text, last.Text) {
		t.Errorf("the last line: %+v, %v", last, err)
	}
	found, err := c.Grep(t.Context(), ".", "^Pid:", toolshelf.MaxDepth(1), toolshelf.InFiles("status", "exe"))
	if err != nil || found.Total != 1 || found.Searched != 1 {
		t.Errorf("Grep: %+v, %v", found, err)
	}
	for _, name := range []string{"root/etc/passwd", "exe", "cwd/doc.go"} {
		must.Fail(c.Grep(t.Context(), name, "x"))(t, name, toolshelf.ErrOutsideRoot)
		must.Fail(c.ReadFile(t.Context(), name))(t, name, toolshelf.ErrOutsideRoot)
	}
}

// TestReadFileOfAHugeFile reads parts of a sparse file of 5 GB.
func TestReadFileOfAHugeFile(t *testing.T) {
	const size = 5 << 30
	root := diskOf(t, map[string]string{"huge": numbered(1000)})
	f := must.Get(os.OpenFile(filepath.Join(root, "huge"), os.O_WRONLY, 0))(t)
	if _, err := f.WriteAt([]byte("\nlast\n"), size-6); err != nil {
		t.Skip("no sparse files: ", err)
	}
	must.Do(t, f.Close())
	c := catalog(t, toolshelf.WithRoot(root))
	for _, tt := range []struct {
		name                  string
		options               []toolshelf.ReadOption
		want                  string
		first, last, nextLine int
		nextColumn            int64
	}{
		{"the first line", []toolshelf.ReadOption{toolshelf.Lines(1, 1)}, numbered(1), 1, 1, 2, 0},
		{"the last line", []toolshelf.ReadOption{toolshelf.Lines(-1, 0)}, "last\n", -1, -1, 0, 0},
		{"the page before the hole", nil, numbered(1000), 1, 1000, 1001, 0},
		{"the hole", []toolshelf.ReadOption{toolshelf.Lines(1001, 0), toolshelf.MaxBytes(3)}, "\x00\x00\x00", 1001, 1001, 1001, 3},
		{"after a part of the hole", []toolshelf.ReadOption{toolshelf.Lines(1001, 0), toolshelf.Column(20 << 20), toolshelf.MaxBytes(2)}, "\x00\x00", 1001, 1001, 1001, 20<<20 + 2},
	} {
		var text toolshelf.FileText
		heap := heapOf(func() any {
			text = must.Get(c.ReadFile(t.Context(), "huge", tt.options...))(t)
			return text
		})
		got := []any{text.Text, text.First, text.Last, text.Total, text.Size, text.NextLine, text.NextColumn}
		want := []any{tt.want, tt.first, tt.last, -1, int64(size), tt.nextLine, tt.nextColumn}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %.100v, want %.100v", tt.name, got, want)
				break
			}
		}
		if heap > 4<<20 {
			t.Errorf("%s: %d bytes are kept", tt.name, heap)
		}
	}
}

// TestReadFileKeepsOffsetsOfUnchangedFiles changes a file whose offsets the catalog keeps.
func TestReadFileKeepsOffsetsOfUnchangedFiles(t *testing.T) {
	const n = 100_000
	root := diskOf(t, map[string]string{"a": numbered(n)})
	name := filepath.Join(root, "a")
	c := catalog(t, toolshelf.WithRoot(root))
	read := func(from, to int) toolshelf.FileText {
		t.Helper()
		return must.Get(c.ReadFile(t.Context(), "a", toolshelf.Lines(from, to)))(t)
	}
	// The catalog keeps the offsets as soon as the change time of the file is old enough.
	for kept := false; !kept; kept = toolshelf.CachedFiles(c) == 1 {
		if last := read(n, n); last.Total != n || last.Text != numbered(n)[16*(n-1):] {
			t.Fatalf("the last line: %+v", last)
		}
	}
	must.Equal(t, "lines after the second call", n, read(1, 1).Total)
	// The same size, half of the lines, the same modification time.
	info := must.Get(os.Stat(name))(t)
	double := strings.ReplaceAll(numbered(n), "0\n0", "000")
	double += strings.Repeat("x", len(numbered(n))-len(double))
	must.Do(t, errors.Join(os.WriteFile(name, []byte(double), 0o644), os.Chtimes(name, info.ModTime(), info.ModTime())))
	lines := strings.SplitAfter(double, "\n")
	if first := read(1, 1); first.Total != -1 || first.Text != lines[0] {
		t.Errorf("the first line of the new version: %+v", first)
	}
	if text := read(50_000, 50_000); text.Text != lines[49_999] || text.First != 50_000 {
		t.Errorf("a line of the new version: %+v, want %q", text, lines[49_999])
	}
}

// TestReadFileChecksTheTextOfChangedFiles changes a file of which the catalog knows that the
// text is ASCII without CR. The size stays.
func TestReadFileChecksTheTextOfChangedFiles(t *testing.T) {
	const n = 20_000
	content := numbered(n)
	changed := strings.Replace(content, "15000\n", "150\xff\r\n", 1)
	for _, tt := range []struct {
		rule     string
		change   func(name string) error
		atReadAt bool // the change is after the open
	}{
		{"between two pages", func(name string) error { return os.WriteFile(name, []byte(changed), 0o644) }, false},
		{"another file, between two pages", func(name string) error {
			return errors.Join(os.WriteFile(name+".new", []byte(changed), 0o644), os.Rename(name+".new", name))
		}, false},
		{"during the call", func(name string) error { return os.WriteFile(name, []byte(changed), 0o644) }, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			root := diskOf(t, map[string]string{"a": content})
			name := filepath.Join(root, "a")
			change := func() {
				info, err := os.Stat(name)
				if err == nil {
					err = errors.Join(tt.change(name), os.Chtimes(name, info.ModTime(), info.ModTime()))
				}
				must.Do(t, err)
			}
			reads, atRead := 0, -1
			c := catalog(t, toolshelf.WithFs(changing(afero.NewBasePathFs(afero.NewOsFs(), root), &reads, func(read int) {
				if read == atRead {
					change()
				}
			})))
			page := func(first int) toolshelf.FileText {
				t.Helper()
				return must.Get(c.ReadFile(t.Context(), "a", toolshelf.Lines(first, first+n/2-1), toolshelf.MaxBytes(1<<20)))(t)
			}
			for kept := false; !kept; kept = toolshelf.CachedFiles(c) == 1 {
				page(1)
			}
			if first := page(1); first.Text != content[:len(content)/2] || first.LineEnding != "lf" || first.Changed {
				t.Fatalf("the first page: %.100v", first)
			}
			if tt.atReadAt {
				atRead = reads + 1
			} else {
				change()
			}
			want := strings.ReplaceAll(changed[len(changed)/2:], "\xff", "\ufffd")
			for _, changed := range []bool{tt.atReadAt, false} {
				second := page(n/2 + 1)
				if second.Text != want || second.Invalid != 1 || second.LineEnding != "mixed" || second.Changed != changed {
					t.Errorf("the second page: changed %v, %d invalid bytes, line ending %q, %.100q", second.Changed, second.Invalid, second.LineEnding, second.Text)
				}
			}
		})
	}
}

func TestReportsThroughLinks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		links   map[string]string
		options []toolshelf.Option
		save    error
		list    error
	}{
		{"the directory of the command is a link outside", map[string]string{"reports/analyze": "OUTSIDE"}, nil, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
		{"the directory of the command is a link inside", map[string]string{"reports/analyze": "../commands"}, nil, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
		{"the directory of the command is a dangling link", map[string]string{"reports/analyze": "nothing"}, nil, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
		{"the directory is a link outside", map[string]string{"reports": "OUTSIDE"}, nil, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
		{"the directory is a dangling link", map[string]string{"reports": "nothing"}, nil, toolshelf.ErrDirectoryPreparation, nil},
		{"the directory is a link inside", map[string]string{"reports": "commands"}, nil, nil, nil},
		{"the directory is a link inside, and links are denied", map[string]string{"reports": "commands"},
			[]toolshelf.Option{toolshelf.WithSymlinks(toolshelf.SymlinksDeny)}, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, outside := diskOf(t, reported), t.TempDir()
			for link, target := range tt.links {
				full := filepath.Join(root, link)
				must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
				hosttest.Symlink(t, strings.ReplaceAll(target, "OUTSIDE", outside), full)
			}
			before := found(t, afero.NewBasePathFs(afero.NewOsFs(), root), ".")
			c := catalog(t, append([]toolshelf.Option{toolshelf.WithRoot(root), toolshelf.WithReports("reports", "")}, tt.options...)...)
			_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
			if !errors.Is(err, tt.save) || err != nil && (strings.Contains(err.Error(), root) || strings.Contains(err.Error(), outside)) {
				t.Errorf("SaveReport: %v, want %v", err, tt.save)
			}
			must.Fail(c.Reports(t.Context(), "analyze"))(t, "Reports", tt.list)
			must.Len(t, "the directory outside holds", 0, must.Get(os.ReadDir(outside))(t))
			if after := found(t, afero.NewBasePathFs(afero.NewOsFs(), root), "."); tt.save != nil && !cmp.Equal(before, after) {
				t.Errorf("the files have changed to %q", after)
			}
		})
	}
}

func TestAFileInPlaceOfAReportDirectory(t *testing.T) {
	for file, want := range map[string]string{"reports": "reports", "reports/analyze": "reports/analyze"} {
		root := diskOf(t, reported)
		full := filepath.Join(root, file)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, nil, 0o644)))
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""))
		_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
		var e *toolshelf.Error
		if !errors.Is(err, toolshelf.ErrDirectoryPreparation) || !errors.As(err, &e) || e.Path != want || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("%s: %v", file, err)
		}
		must.Fail(c.Reports(t.Context(), "analyze"))(t, file, toolshelf.ErrNotADirectory)
	}
}

func TestModesOfReports(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	root := diskOf(t, reported)
	saved := save(t, catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("new/reports", "")), toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
	for path, want := range map[string]fs.FileMode{
		saved.Path: 0o640, filepath.Dir(saved.Path): fs.ModeDir | 0o750, filepath.Join(root, "new"): fs.ModeDir | 0o750,
	} {
		must.Equal(t, path, want, must.Get(os.Stat(path))(t).Mode())
	}
}

// reportsIn is the environment variable with the project of a test that runs in a
// process of its own.
const reportsIn = "TEST_REPORTS_IN"

// child returns the command that runs the current test in another process.
func child(t *testing.T, root string) *exec.Cmd {
	cmd := exec.Command(hosttest.Self(t), "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), reportsIn+"="+root)
	return cmd
}

func TestReportDirectoriesWithoutPermission(t *testing.T) {
	root := os.Getenv(reportsIn)
	if root == "" {
		root = diskOf(t, reported)
		for _, dir := range []struct {
			path string
			mode fs.FileMode
		}{{"readonly/analyze", 0o555}, {"readonly", 0o555}, {"closed", 0}, {"half/analyze", 0o555}, {"half", 0o777}, {".", 0o555}, {"..", 0o755}} {
			full := filepath.Join(root, dir.path)
			must.Do(t, os.MkdirAll(full, 0o755))
			hosttest.Chmod(t, full, dir.mode)
		}
		if os.Getuid() == 0 {
			runAsNobody(t, reportsIn+"="+root)
			return
		}
	}
	for _, tt := range []struct {
		dir    string
		upload bool
		save   *toolshelf.Error
		list   error
	}{
		{"new", true, toolshelf.ErrDirectoryPreparation, nil},
		{"closed", true, toolshelf.ErrDirectoryPreparation, toolshelf.ErrPermissionDenied},
		{"readonly", true, toolshelf.ErrFileWrite, nil},
		{"readonly", false, toolshelf.ErrLocalSave, nil},
		{"half", true, toolshelf.ErrFileWrite, nil},
	} {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports(tt.dir, tt.dir))
		_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: tt.upload})
		if !errors.Is(err, tt.save) || !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v, want %s", tt.dir, err, tt.save.Code)
		}
		if all, err := c.Reports(t.Context(), "analyze"); !errors.Is(err, tt.list) || len(all) > 0 {
			t.Errorf("%s: Reports returns %v, %v", tt.dir, all, err)
		}
	}
}

func TestSixteenProcessesSaveOneReport(t *testing.T) {
	if root := os.Getenv(reportsIn); root != "" {
		save(t, catalog(t, toolshelf.WithRoot(root), toolshelf.WithClock(at), toolshelf.WithReports("reports", "")),
			toolshelf.Report{Command: "analyze", Content: strings.Repeat(fmt.Sprintln(os.Getpid()), 1000), Upload: true})
		return
	}
	root := diskOf(t, reported)
	var writers sync.WaitGroup
	for range 16 {
		cmd := child(t, root)
		writers.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	writers.Wait()
	pids := map[string]bool{}
	for v := 1; v <= 16; v++ {
		text, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("reports/analyze/analyze_report_20251120_103000_v%d.md", v)))
		pid, _, _ := strings.Cut(string(text), "\n")
		must.Do(t, err)
		must.Equal(t, v, strings.Repeat(pid+"\n", 1000), string(text))
		pids[pid] = true
	}
	must.Equal(t, "reports", 16, len(pids))
}

// A limit on the size of files ends a write early, like a full disk.
func TestAPartialWriteLeavesNoReport(t *testing.T) {
	if root := os.Getenv(reportsIn); root != "" {
		var before syscall.Rlimit
		must.Do(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
		limit := before
		limit.Cur = 100_000
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) // with -cover, the process writes a larger file at its end
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithClock(at), toolshelf.WithReports("reports", "reports"))
		for _, upload := range []bool{true, false} {
			_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: strings.Repeat("x", 100_001), Upload: upload})
			if want := map[bool]error{true: toolshelf.ErrFileWrite, false: toolshelf.ErrLocalSave}[upload]; !errors.Is(err, want) || !errors.Is(err, syscall.EFBIG) {
				t.Errorf("over the limit: %v, want %v", err, want)
			}
		}
		save(t, c, toolshelf.Report{Command: "analyze", Content: strings.Repeat("x", 100_000), Upload: true})
		return
	}
	root := diskOf(t, reported)
	must.Get(child(t, root).CombinedOutput())(t)
	want := []string{"reports/analyze/analyze_report_20251120_103000_v1.md"}
	must.Match(t, "result", want, found(t, afero.NewBasePathFs(afero.NewOsFs(), root), "reports"))
}

// A process that is killed during SaveReport leaves at most a hidden temporary file.
func TestAKilledProcessLeavesNoPartialReport(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 1<<16)
	if root := os.Getenv(reportsIn); root != "" {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""))
		for {
			save(t, c, toolshelf.Report{Command: "analyze", Content: text, Upload: true})
		}
	}
	root := diskOf(t, reported)
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""))
	for range 4 {
		before := unfinished(t, root)
		cmd := child(t, root)
		must.Do(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for cmp.Equal(before, unfinished(t, root)) {
			select {
			case err := <-ended:
				t.Fatalf("the process has ended: %v", err)
			default:
			}
		}
		must.Do(t, cmd.Process.Kill())
		<-ended
		saved := save(t, c, toolshelf.Report{Command: "analyze", Content: text, Upload: true})
		all := must.Get(c.Reports(t.Context(), "analyze"))(t)
		mine := false
		for _, r := range all {
			mine = mine || r.Path == saved.Path
			must.Equal(t, r.Path, int64(len(text)), r.Size)
		}
		must.Equal(t, saved.Path, true, mine)
	}
}

func unfinished(t *testing.T, root string) []string {
	t.Helper()
	return must.Get(filepath.Glob(filepath.Join(root, "reports/analyze/.*.tmp")))(t)
}

// Another goroutine replaces the directory of the command by a link outside, and the
// link by a directory.
func TestSaveReportFollowsNoLinkThatReplacesTheDirectory(t *testing.T) {
	root, outside := diskOf(t, reported), t.TempDir()
	dir := filepath.Join(root, "reports", "analyze")
	must.Do(t, os.MkdirAll(dir, 0o755))
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Each of these calls can fail because of a concurrent save.
			os.RemoveAll(dir)
			os.Symlink(outside, dir)
			os.Remove(dir)
			os.Mkdir(dir, 0o755)
		}
	})
	count := map[toolshelf.Code]int{}
	for range 500 {
		_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
		count[toolshelf.CodeOf(err)]++
	}
	close(stop)
	swapper.Wait()
	must.Len(t, "the directory outside holds", 0, must.Get(os.ReadDir(outside))(t))
	for code := range count {
		if code != "" && code != "DIRECTORY_PREPARATION_FAILED" && code != "FILE_WRITE_FAILED" {
			t.Errorf("%d saves returned %q", count[code], code)
		}
	}
	t.Logf("saves by error code: %v", count)
}
