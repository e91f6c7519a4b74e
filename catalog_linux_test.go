package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
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
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	remote := filepath.Join(root, "remote")
	must.Do(t, os.Mkdir(remote, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(remote, "a.txt"), nil, 0o644))
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
		must.Is(t, method, nil, call(ctx))
	}
	mountHanging(t, remote)
	returned := make(chan error)
	for method, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		go func() { returned <- call(ctx) }()
		select {
		case err := <-returned:
			must.Is(t, method, context.DeadlineExceeded, err)
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
	must.Do(t, errors.Join(os.WriteFile(image, nil, 0o644), os.Truncate(image, 16<<20)))
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
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, before, before)))
		}
		must.Match(t, word, views(t, catalog(t, toolshelf.WithRoot(root))), views(t, c))
		must.Contain(t, "ReadFile",
			must.Get(c.ReadFile(t.Context(), "long.txt", toolshelf.Lines(15_000, 15_000)))(t).Text, word)
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
				hosttest.Symlink(t, root, path)
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
				must.Do(t, unix.Unmount(at, unix.MNT_DETACH))
				mounted = false
				wait(false)
			}
		})
	}
}

var swapCalls = flag.Int("swapcalls", 0, "how many calls TestSwapRace makes while a directory and a link are exchanged; 0 means the usual number")

// secret is a part of the names and contents of all files outside.
const secret = "TOP-SECRET"

// TestSwapRace exchanges directories and a file of the project for links to the outside, as fast
// as possible, while four goroutines call all methods for these paths. A program that checks a
// path first and uses the path afterwards fails within some hundred calls. With
// -swapcalls 500000, the test makes 100,000 calls of ReadFile and of Grep.
func TestSwapRace(t *testing.T) {
	outside := diskOf(t, map[string]string{
		secret + ".txt": secret, "only-outside": "", "a.md": "---\ndescription: " + secret + "\n---\n" + secret, "sub/" + secret + ".md": secret, "sub/b.txt": secret,
		"s/SKILL.md": "---\nname: s\ndescription: " + secret + "\n---\n" + secret,
	})
	root := diskOf(t, map[string]string{
		"dir/a.txt": "", "dir/sub/b.txt": "", "commands/a.md": "---\ndescription: fine\n---\nfine", "skills/s/SKILL.md": "---\nname: s\ndescription: fine\n---\n",
		"file.txt": "fine",
	})
	targets := map[string]string{"dir": outside, "commands": outside, "skills": outside, "file.txt": filepath.Join(outside, secret+".txt")}
	for name, target := range targets {
		hosttest.Symlink(t, target, filepath.Join(root, name+".link"))
	}
	swap := func(name string) error {
		path := filepath.Join(root, name)
		return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, path+".link", unix.RENAME_EXCHANGE)
	}
	for range 2 { // the second exchange restores the files
		if err := swap("dir"); err != nil {
			t.Skip("the filesystem exchanges no files:", err)
		}
	}
	stop := make(chan struct{})
	var swapper, askers sync.WaitGroup
	var swaps atomic.Int64
	swapper.Go(func() {
		for ; ; swaps.Add(1) {
			select {
			case <-stop:
				return
			default:
			}
			for name := range targets {
				if err := swap(name); err != nil {
					t.Errorf("renameat2: %v", err)
					return
				}
			}
		}
	})

	c := catalog(t, toolshelf.WithRoot(root))
	most := int64(*swapCalls)
	if most == 0 {
		most = int64(catalogtest.Rounds(10_000, 500_000))
	}
	var calls atomic.Int64
	answered := make([]atomic.Int64, len(swapped))
	results := func() map[string]int64 { // by method
		all := map[string]int64{}
		for i, kind := range swapped {
			all[kind.method] += answered[i].Load()
		}
		return all
	}
	untried := func() bool { return swaps.Load() == 0 || slices.Contains(slices.Collect(maps.Values(results())), 0) }
	for g := range 4 {
		askers.Go(func() {
			for i := g; calls.Add(1) <= most || untried() && !t.Failed(); i++ {
				kind := i % len(swapped)
				got, err := swapped[kind].answer(t.Context(), c)
				if err == nil {
					answered[kind].Add(1)
				} else {
					got = err.Error()
				}
				if strings.Contains(got, secret) || strings.Contains(got, outside) || err != nil && strings.Contains(got, root) {
					t.Errorf("%s (%d) tells of the outside, or of the host: %s", swapped[kind].method, kind, got)
					return
				}
			}
		})
	}
	askers.Wait()
	close(stop)
	swapper.Wait()
	made := map[string]int64{}
	for _, kind := range swapped {
		made[kind.method] += most / int64(len(swapped))
	}
	for method, n := range results() {
		if n == 0 || swaps.Load() == 0 {
			t.Errorf("%s: %d answers during %d exchanges: nothing was tried", method, n, swaps.Load())
		}
	}
	t.Logf("calls: %v; answers: %v; %d exchanges", made, results(), int64(len(targets))*swaps.Load())
}

// swapped are calls of all methods for the exchanged paths. The results of commands and skills
// lack the full paths, which are for the host program.
var swapped = []struct {
	method string
	answer func(ctx context.Context, c *toolshelf.Catalog) (string, error)
}{
	{"ListDir", func(ctx context.Context, c *toolshelf.Catalog) (string, error) { return textOf(c.ListDir(ctx, "dir")) }},
	{"ListDir", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.ListDir(ctx, "dir/sub"))
	}},
	{"Tree", func(ctx context.Context, c *toolshelf.Catalog) (string, error) { return textOf(c.Tree(ctx, ".")) }},
	{"FindFiles", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.FindFiles(ctx, ".", "*"))
	}},
	{"Stat", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.Stat(ctx, "dir/a.txt"))
	}},
	{"Stat", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		info, err := c.Stat(ctx, "dir/only-outside")
		if err == nil {
			return secret + info.String(), nil
		}
		return "", err
	}},
	{"List", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.List(ctx, toolshelf.Page{}))
	}},
	{"Get", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		command, err := c.Get(ctx, "a")
		return command.Content + command.Metadata.Description, err
	}},
	{"ListSkills", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		skills, err := c.ListSkills(ctx)
		for i := range skills {
			skills[i].Path = ""
		}
		return textOf(skills, err)
	}},
	{"ReadFile", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.ReadFile(ctx, "commands/a.md"))
	}},
	{"ReadFile", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.ReadFile(ctx, "dir/sub/b.txt", toolshelf.Lines(-1, 0)))
	}},
	{"ReadFile", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.ReadFile(ctx, "file.txt"))
	}},
	{"Grep", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.Grep(ctx, ".", "SECRET|fine"))
	}},
	{"Grep", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.Grep(ctx, "dir", "T", toolshelf.Literal, toolshelf.InFiles("sub/*")))
	}},
	{"Grep", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.Grep(ctx, "file.txt", "^"))
	}},
}

// textOf returns a result as text and as JSON.
func textOf(v any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	return fmt.Sprint(v, string(b)), err
}

// The kernel counts the opens: a scan lists the directory of each gated skill.
func TestAWatchedGatedListWithoutAChangeOpensNoDirectoryOfASkill(t *testing.T) {
	root := diskOf(t, map[string]string{"skills/pdf/SKILL.md": skillFile("pdf"), "skills/pdf/scripts/x.sh": "echo"})
	opens := func(watch ...toolshelf.Option) (events int) {
		c := catalog(t, append(watch, toolshelf.WithRoot(root), toolshelf.WithGate(new(approvals)))...)
		defer c.Close()
		eventually(t, func() string { // the watch is complete
			fd := must.Get(unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC))(t)
			defer unix.Close(fd)
			for _, dir := range []string{"skills/pdf", "skills/pdf/scripts"} {
				must.Get(unix.InotifyAddWatch(fd, filepath.Join(root, dir), unix.IN_OPEN))(t)
			}
			must.Get(c.ListSkills(t.Context()))(t)
			events, _ = unix.Read(fd, make([]byte, 1<<16))
			if len(watch) > 0 && events > 0 {
				return "a list opens a directory or a file of the skill"
			}
			return ""
		})
		return events
	}
	if opens() <= 0 {
		t.Error("a list without WithWatch opens nothing")
	}
	opens(toolshelf.WithWatch())
}

// openBelow returns the number of files below a directory that the process has open.
func openBelow(t *testing.T, dir string) (n int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, fd := range open {
		if target, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(target, dir) {
			n++
		}
	}
	return n
}

func TestARepeatedCallLeavesNoFurtherFileOpen(t *testing.T) {
	root := diskOf(t, map[string]string{
		".claude/commands/go/deploy.md":          "Deploy.",
		".claude/skills/pdf/SKILL.md":            "---\nname: pdf\ndescription: Reads PDF.\n---\nRead.",
		".claude/skills/pdf/sub/more.md":         "More.",
		".claude/agents/reviewer.md":             "---\nname: reviewer\ndescription: Reviews.\n---\nReview.",
		".claude/rules/go/style.md":              "Style.",
		"CLAUDE.md":                              "@docs/imported.md",
		"docs/imported.md":                       "Imported.",
		"sub/deep/CLAUDE.md":                     "Deep.",
		"sub/deep/a.txt":                         "text",
		"market/.claude-plugin/marketplace.json": `{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "one", "source": "./one"}]}`,
		"market/one/commands/go.md":              "Go.",
	})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()),
		toolshelf.WithInstructions(client.Claude()), toolshelf.WithPlugins("market"))
	for name, call := range map[string]func(context.Context) error{
		"List":            func(ctx context.Context) error { _, err := c.List(ctx, toolshelf.Page{}); return err },
		"Get":             func(ctx context.Context) error { _, err := c.Get(ctx, "go:deploy"); return err },
		"Get of a plugin": func(ctx context.Context) error { _, err := c.Get(ctx, "one:go"); return err },
		"ListSkills":      func(ctx context.Context) error { _, err := c.ListSkills(ctx); return err },
		"GetSkill":        func(ctx context.Context) error { _, err := c.GetSkill(ctx, "pdf"); return err },
		"ReadSkillFile":   func(ctx context.Context) error { _, err := c.ReadSkillFile(ctx, "pdf", "sub/more.md"); return err },
		"GetAgent":        func(ctx context.Context) error { _, err := c.GetAgent(ctx, "reviewer"); return err },
		"Lint":            func(ctx context.Context) error { _, err := c.Lint(ctx); return err },
		"Plugins":         func(ctx context.Context) error { _, err := c.Plugins(ctx); return err },
		"Instructions":    func(ctx context.Context) error { _, err := c.Instructions(ctx, "sub/deep/a.txt"); return err },
		"ListDir":         func(ctx context.Context) error { _, err := c.ListDir(ctx, "sub"); return err },
		"Tree":            func(ctx context.Context) error { _, err := c.Tree(ctx, "."); return err },
		"FindFiles":       func(ctx context.Context) error { _, err := c.FindFiles(ctx, ".", "**/a.txt"); return err },
		"a hint":          func(ctx context.Context) error { _, err := c.FindFiles(ctx, ".", "b.txt"); return err },
		"Grep":            func(ctx context.Context) error { _, err := c.Grep(ctx, ".", "text"); return err },
		"ReadFile":        func(ctx context.Context) error { _, err := c.ReadFile(ctx, "sub/deep/a.txt"); return err },
		"Stat":            func(ctx context.Context) error { _, err := c.Stat(ctx, "sub/deep"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			for _, ctx := range []context.Context{t.Context(), context.Background()} {
				before := 0
				for round := range 4 {
					must.Do(t, call(ctx))
					switch now := openBelow(t, root); {
					case round == 1: // the first call may keep directories open
						before = now
					case round > 1 && now > before:
						t.Fatalf("%d files are open after %d calls, %d after two", now, round+1, before)
					}
				}
			}
		})
	}
	c.Close()
	if n := openBelow(t, root); n > 0 {
		t.Errorf("%d files are open after Close", n)
	}
}
