package confine

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestEveryDescriptorIsClosed(t *testing.T) {
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		o := options{trusted: []string{"OUTSIDE"}}
		dir := onDisk(t, tree{"a.txt": "x", "sub/deep/b": "b", "link": "-> sub/deep/../../a.txt", "out": "-> OUTSIDE/secret.txt", "loop": "-> loop",
			"etc": "-> /etc/passwd"}, &o)
		must.Do(t, unix.Mkfifo(dir+"/fifo", 0o600))
		f := newFS(dir, o)
		every := func() {
			for _, line := range []string{"open sub/deep/b", "list sub/deep", "open sub/missing/x", "open a.txt", "stat sub", "readlink sub/deep/b", "dir sub list deep"} {
				call(f.Within("sub"), line)
				call(f.Within("sub").Within("sub/deep"), line)
			}
			for _, name := range []string{".", "a.txt", "sub", "sub/deep", "sub/deep/b", "link", "out", "loop", "etc", "fifo", "missing", "missing/x", "a.txt/x", ".."} {
				for _, op := range []string{"stat", "lstat", "open", "list", "readlink", "dir . open", "dir . head", "dir . list", "dir . readlink"} {
					call(f, op+" "+name)
				}
				if file, err := f.Open(name); err == nil {
					file.Readdirnames(-1)
					file.Close()
				}
				fs.ReadFile(f.IOFS(), name)
				fs.ReadDir(f.IOFS(), name)
				fs.ReadLink(f.IOFS(), name)
			}
		}
		every() // after the first run, the files of the Go runtime are open
		before := descriptors(t)
		for range 5 {
			every()
		}
		if after := descriptors(t); after > before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
}

func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	return len(entries)
}

func TestDescriptorIsClosedWhenTheLastUserIsDone(t *testing.T) {
	isOpen := func(fd int) bool {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		return err == nil
	}
	fd := must.Get(openat(unix.AT_FDCWD, t.TempDir(), throughFlags))(t)
	d := descriptor{fd: fd}
	for range 2 {
		if !d.use() {
			t.Fatal("it cannot be used")
		}
	}
	must.Do(t, d.close())
	if d.use() {
		t.Error("it can be used after close")
	}
	d.done()
	if !isOpen(fd) {
		t.Error("it is closed while one uses it")
	}
	d.done()
	if isOpen(fd) {
		t.Error("it is open though no one uses it")
	}
	if d.use() || d.close() != fs.ErrClosed {
		t.Error("it can be used or closed again")
	}
}

func TestFstatatAgreesWithStatx(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, tree{"file": "12345", "sub/": "", "link": "-> file"})
	must.Do(t, unix.Mkfifo(dir+"/fifo", 0o600))
	must.Do(t, os.Chmod(dir+"/sub", 0o755|fs.ModeSticky|fs.ModeSetgid|fs.ModeSetuid))
	fd := must.Get(openat(unix.AT_FDCWD, dir, throughFlags))(t)
	defer unix.Close(fd)
	for _, name := range []string{"file", "sub", "link", "fifo"} {
		with := must.Get(statx(fd, name, unix.AT_SYMLINK_NOFOLLOW))(t)
		without := must.Get(fstatat(fd, name, unix.AT_SYMLINK_NOFOLLOW))(t)
		fi := must.Get(os.Lstat(dir + "/" + name))(t)
		must.Match(t, fmt.Sprintf("%s: statx and fstatat", name), with, without)
		must.Match(t, fmt.Sprintf("%s: statx and os.Lstat", name), with, infoOf(fi))
	}
}

func TestWithoutStatx(t *testing.T) {
	noStatx.Store(true)
	defer noStatx.Store(false)
	f := osFS(onDisk(t, tree{"file": "12345", "sub/x": ""}, &options{}), options{})
	expect(t, f, "stat . = directory", "stat file = file of 5", "dir sub lstat x = file of 0", "stat missing = not exist")
}

// dirent returns an entry in the format of the kernel.
func dirent(typ byte, name string) []byte {
	length := (19 + len(name) + 1 + 7) &^ 7
	b := make([]byte, length)
	binary.NativeEndian.PutUint16(b[16:], uint16(length))
	b[18] = typ
	copy(b[19:], name)
	return b
}

func TestDirents(t *testing.T) {
	buf := append(dirent(unix.DT_REG, "file"), dirent(unix.DT_UNKNOWN, "unknown")...)
	buf = append(buf, dirent(unix.DT_LNK, "link-with-a-longer-name")...)
	type entry struct {
		Name string
		Type fs.FileMode
	}
	var got []entry
	for len(buf) > 0 {
		name, typ, rest, err := cutDirent(buf)
		must.Do(t, err)
		got = append(got, entry{string(name), direntType(typ)})
		buf = rest
	}
	want := []entry{{"file", 0}, {"unknown", TypeUnknown}, {"link-with-a-longer-name", fs.ModeSymlink}}
	must.Match(t, "result", want, got)
}

func FuzzDirents(f *testing.F) {
	f.Add(dirent(unix.DT_DIR, "sub"))
	f.Add(append(dirent(unix.DT_REG, "a"), dirent(unix.DT_FIFO, "fifo")[:20]...))
	f.Add(make([]byte, 24))
	f.Fuzz(func(t *testing.T, buf []byte) {
		for len(buf) > 0 {
			name, _, rest, err := cutDirent(buf)
			if err != nil {
				return
			}
			if len(rest) >= len(buf) || len(name)+20 > len(buf)-len(rest) {
				t.Fatalf("a name of %d bytes from %d", len(name), len(buf)-len(rest))
			}
			buf = rest
		}
	})
}

func TestTypeUnknownIsNoOtherType(t *testing.T) {
	if TypeUnknown.IsRegular() || TypeUnknown.IsDir() || TypeUnknown&fs.ModeSymlink != 0 || TypeUnknown == fs.ModeIrregular {
		t.Error("it would be taken for a type")
	}
}

// A magic link of /proc leads to a file without a path. The kernel follows such a link
// without its text. An FS follows only the text, so the link leads out or to no file.
func TestMagicLinksOfProcLeadNowhere(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	dir := t.TempDir()
	write(t, dir, tree{"secret": "outside"})
	secret := must.Get(os.Open(dir + "/secret"))(t)
	defer secret.Close()
	pipe, other, err := os.Pipe()
	must.Do(t, err)
	defer pipe.Close()
	defer other.Close()
	onOS(t, func(t *testing.T, newFS func(string, options) *FS) {
		f := newFS(fmt.Sprintf("/proc/%d", os.Getpid()), options{})
		expect(t, f, "list root = escape", "open root/etc/passwd = escape", "list cwd = escape", "stat exe = escape",
			fmt.Sprintf("open fd/%d = escape", secret.Fd()), fmt.Sprintf("open fd/%d = not exist", pipe.Fd()))
	})
}

// The library trusts the change time only of filesystems that are known to set the change
// time. The type is looked up once for all files of a filesystem.
func TestChangeTimesOfKnownFilesystems(t *testing.T) {
	defer func(real func(int) bool) { hasChangeTimes = real }(hasChangeTimes)
	files := tree{}
	for i := range 100 {
		files[fmt.Sprintf("a/%d.md", i)], files[fmt.Sprintf("b/%d.md", i)] = "", ""
	}
	root := t.TempDir()
	write(t, root, files)
	for _, known := range []bool{true, false} {
		looks := 0
		hasChangeTimes = func(int) bool { looks++; return known }
		check := func(name string, info Info, err error) {
			t.Helper()
			if err != nil || info.Changed.IsZero() == known {
				t.Errorf("%s: changed at %v, %v; the filesystem is known: %t", name, info.Changed, err, known)
			}
		}
		top := must.Get(osFS(root, options{}).OpenDir("."))(t)
		info, err := top.Info()
		check("Info of the root", info, err)
		for _, sub := range []string{"a", "b"} {
			info, err := top.Lstat(sub)
			check("Lstat of a directory", info, err)
			dir := must.Get(top.OpenDir(sub))(t)
			info, err = dir.Info()
			check("Info of a directory", info, err)
			for name := range files {
				base, here := strings.CutPrefix(name, sub+"/")
				if !here {
					continue
				}
				info, err := dir.Lstat(base)
				check("Lstat", info, err)
				_, info, err = dir.ReadHead(base, nil)
				check("ReadHead", info, err)
				file := must.Get(dir.OpenRegular(base))(t)
				check("OpenRegular", file.Info(), nil)
				info, err = file.Stat()
				check("Stat", info, err)
				file.Close()
			}
			dir.Close()
		}
		top.Close()
		must.Equal(t, fmt.Sprintf("%d files: looked up the filesystem", len(files)), 1, looks)
	}
}

// One openat2 opens the same directories as a call for each element.
func TestOpenBelowWithAndWithoutOpenat2(t *testing.T) {
	defer noOpenat2.Store(noOpenat2.Load())
	root := onDisk(t, tree{"a/b/c/x": "", "a/file": "", "a/link": "-> b", "out": "-> /"}, &options{})
	top := panicking(osFS(root, options{}).OpenDir("."))
	defer top.Close()
	for name, want := range map[string]error{"a": nil, "a/b/c": nil, "a/none/c": fs.ErrNotExist, "a/file": ErrNotDir, "a/file/x": ErrNotDir,
		"a/link": ErrSymlink, "a/link/c": ErrSymlink, "out/etc": ErrSymlink, "a/../a": ErrEscape, "..": ErrEscape, "/a": fs.ErrInvalid, ".": fs.ErrInvalid, "": fs.ErrInvalid} {
		for _, without := range []bool{false, true} {
			noOpenat2.Store(without)
			dir, err := top.OpenBelow(name)
			must.Is(t, fmt.Sprintf("%q without openat2 %t", name, without), want, err)
			if err == nil {
				if dir.RealPath() != filepath.Join(root, name) || panicking(dir.Info()).Ino != panicking(top.fs.Info(name)).Ino {
					t.Errorf("%q without openat2 %t: opened %s", name, without, dir.RealPath())
				}
				dir.Close()
			}
		}
	}
}

// Has compares the metadata that a caller knows, so it tells nothing about a file outside the root.
func TestHas(t *testing.T) {
	for _, over := range []bool{false, true} {
		root := onDisk(t, tree{"a/b/c/x": "1234", "a/link": "-> b", "out": "-> ..", "other": "1234"}, &options{})
		fsys := osFS(root, options{})
		if over {
			fsys = panicking(Over(afero.NewBasePathFs(afero.NewOsFs(), root), "/"))
		}
		dir := panicking(fsys.OpenDir("."))
		known := panicking(fsys.Info("a/b/c/x"))
		for name, want := range map[string]bool{"a/b/c/x": true, "a/b/c": false, "other": false, "a/none/x": false,
			"a/b/none": false, "a/b/c/x/y": false, "..": false, "a/../a/b/c/x": false, "/a/b/c/x": false, "": false,
			"out/" + filepath.Base(root) + "/other": false} {
			if has := dir.Has(name, known); has != want {
				t.Errorf("%q, with afero %t: has %t", name, over, has)
			}
		}
		for _, name := range []string{".", "a", "a/b/c"} {
			if !dir.Has(name, panicking(fsys.Info(name))) {
				t.Errorf("%q, with afero %t: no directory", name, over)
			}
		}
		if err := os.WriteFile(filepath.Join(root, "a/b/c/x"), []byte("12345"), 0o644); err != nil || dir.Has("a/b/c/x", known) {
			t.Errorf("a changed file, with afero %t: %v", over, err)
		}
		dir.Close()
	}
}

// A listing ends with the last entry, whatever the number of entries.
func TestEachFindsAllEntries(t *testing.T) {
	for _, n := range []int{0, 1, 500, 3000} {
		dir := t.TempDir()
		for i := range n {
			must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("file-", i)), nil, 0o644))
		}
		listed := panicking(panicking(New(dir)).OpenDir("."))
		defer listed.Close()
		for range 2 {
			found := map[string]bool{}
			must.Do(t, listed.Each(t.Context(), func(name string, _ fs.FileMode) error {
				found[name] = true
				return nil
			}))
			must.Equal(t, "number of entries", n, len(found))
		}
	}
}

func TestOnlyTheLastEntryEndsADirectory(t *testing.T) {
	for offset, want := range map[uint64]bool{0: false, 1: false, math.MaxInt32: true,
		math.MaxUint32: false, math.MaxInt64: true, math.MaxUint64: false} {
		buf := dirent(unix.DT_REG, "file")
		binary.NativeEndian.PutUint64(buf[8:], offset)
		must.Equal(t, fmt.Sprintf("%#x", offset), want, endsDirectory(buf))
	}
	if endsDirectory(nil) {
		t.Error("no entry ends a directory")
	}
}

// A list that needs no change times does not pay for them.
func TestLstatBriefLooksUpNoFilesystem(t *testing.T) {
	defer func(real func(int) bool) { hasChangeTimes = real }(hasChangeTimes)
	looks := 0
	hasChangeTimes = func(int) bool { looks++; return true }
	dir := panicking(osFS(onDisk(t, tree{"a": "12345", "sub/b": "", "link": "-> a"}, &options{}), options{}).OpenDir("."))
	defer dir.Close()
	brief := map[string]Info{}
	for _, name := range []string{"a", "sub", "link"} {
		brief[name] = panicking(dir.LstatBrief(name))
	}
	if _, err := dir.LstatBrief(".."); looks != 0 || err == nil {
		t.Errorf("%d looks at the filesystem; the error of \"..\" is %v", looks, err)
	}
	for name, got := range brief {
		want := panicking(dir.Lstat(name))
		want.Changed = time.Time{}
		must.Match(t, fmt.Sprintf("%s: Lstat and LstatBrief", name), want, got)
	}
}

// A FUSE program such as bindfs follows a link to answer statfs. A link into the filesystem of the
// program then hangs the call.
func TestTheFilesystemOfALinkIsThatOfItsDirectory(t *testing.T) {
	defer func(real func(int) bool) { hasChangeTimes = real }(hasChangeTimes)
	looks := 0
	hasChangeTimes = func(fd int) bool {
		looks++
		if info := panicking(fstat(fd)); info.isLink() {
			t.Error("looked at a link")
		}
		return true
	}
	root := onDisk(t, tree{"a": "", "link": "-> ROOT/a"}, &options{})
	if info := panicking(osFS(root, options{}).Lstat("link")); !info.isLink() || info.Changed.IsZero() || looks != 1 {
		t.Errorf("%v after %d looks", info, looks)
	}
}

// The library trusts a change time, so each rewrite has to change the time, also with the old size
// and modification time. .ci/filesystems reads the log.
func TestAChangeTimeProvesARewrite(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, "a")
	f := osFS(root, options{})
	rewritten := func(text string) Info {
		must.Do(t, os.WriteFile(name, []byte(text), 0o644))
		must.Do(t, os.Chtimes(name, time.Time{}, time.Unix(1e9, 0)))
		return panicking(f.Info("a"))
	}
	before := rewritten("old")
	t.Logf("change times: %t", !before.Changed.IsZero())
	if before.Changed.IsZero() {
		return // the library compares contents
	}
	for deadline := time.Now().Add(time.Second); ; {
		after := rewritten("new")
		if after.Size != before.Size || !after.Modified.Equal(before.Modified) {
			t.Fatalf("%v, %v: not the size and the time of the test", before, after)
		}
		if after.Changed.After(before.Changed) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the change time stays the same for a second")
		}
	}
}

// A file below a directory can be on another filesystem.
func TestAMountBelowHasItsOwnChangeTimes(t *testing.T) {
	f := osFS("/", options{})
	self := must.Get(os.Executable())(t)
	disk, err := f.Info(strings.TrimPrefix(self, "/"))
	if err != nil || disk.Changed.IsZero() {
		t.Skipf("the test needs a local disk: %v", err)
	}
	expect := func(name string, info Info, err error, known bool) {
		t.Helper()
		if err != nil || info.Changed.IsZero() == known {
			t.Errorf("%s: changed at %v, %v", name, info.Changed, err)
		}
	}
	top := must.Get(f.OpenDir("."))(t)
	defer top.Close()
	proc := must.Get(top.OpenDir("proc"))(t)
	defer proc.Close()
	info, err := proc.Lstat("version")
	expect("on proc", info, err, false)
	dir := must.Get(f.OpenDir(strings.TrimPrefix(filepath.Dir(self), "/")))(t)
	defer dir.Close()
	info, err = dir.Lstat(filepath.Base(self))
	expect("on the disk", info, err, true)

	target := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(target, nil, 0o644))
	if err := unix.Mount("/proc/version", target, "", unix.MS_BIND, ""); err != nil {
		t.Skip("the test needs the permission to mount: " + err.Error())
	}
	defer unix.Unmount(target, unix.MNT_DETACH)
	info, err = f.Lstat(strings.TrimPrefix(target, "/"))
	expect("a file that is a mount", info, err, false)
	file := must.Get(f.OpenRegular(strings.TrimPrefix(target, "/")))(t)
	defer file.Close()
	expect("an open file that is a mount", file.Info(), nil, false)
}

func TestCurrent(t *testing.T) {
	// tempDir is on a local filesystem.
	home := tempDir(t)
	write(t, home, tree{"proj/a/b/x": "x", "proj/link": "-> a", "other/b/": ""})
	root := filepath.Join(home, "proj")
	f := osFS(root, options{})
	open := func(name string) *Dir {
		t.Helper()
		dir := must.Get(f.OpenDir(name))(t)
		t.Cleanup(func() { dir.Close() })
		return dir
	}
	top, a, b, linked := open("."), open("a"), open("a/b"), open("link")
	if !a.Current() {
		t.Skip("the temporary directory is on no local disk")
	}
	check := func(when string, d *Dir, want bool) {
		t.Helper()
		must.Equal(t, fmt.Sprintf("%s: %s is current", when, d.name), want, d.Current())
	}
	for _, d := range []*Dir{top, a, b, linked} {
		check("unchanged", d, true)
	}

	must.Do(t, os.Rename(filepath.Join(root, "a"), filepath.Join(root, "moved")))
	check("its parent has moved", b, false)
	hosttest.Symlink(t, "moved", filepath.Join(root, "a"))
	check("its parent is a link to the same directory", b, false)
	check("it is a link to the same directory", a, false)
	must.Do(t, os.Remove(filepath.Join(root, "a")))
	must.Do(t, os.Rename(filepath.Join(home, "other"), filepath.Join(root, "a")))
	check("another directory has the path", b, false)
	check("another directory has the path", a, false)
	check("a directory below has changed", top, true)

	must.Do(t, os.Rename(root, root+"2"))
	check("the root has moved", top, false)
	hosttest.Symlink(t, root+"2", root)
	check("the root is a link, which belongs to the host program", top, true)

	must.Do(t, top.Close())
	check("closed", top, false)
	mem := over(afero.NewMemMapFs(), "", options{})
	dir := must.Get(mem.OpenDir("."))(t)
	check("in memory", dir, false)

	slash := must.Get(osFS("/", options{}).OpenDir("."))(t)
	defer slash.Close()
	slash.location.Store(nil)
	if isLocal(slash.handle.(*fdDir).fd) {
		check("the top of the disk", slash, true)
	}
}

// NFS has hard links, but every rename replaces. The test simulates NFS.
func TestALinkReplacesNothing(t *testing.T) {
	root := t.TempDir()
	write(t, root, tree{"a": "new", "b": "new", "taken": "old"})
	if err := os.Link(filepath.Join(root, "a"), filepath.Join(root, "second")); err != nil {
		t.Skip("the filesystem has no hard links:", err)
	}
	must.Do(t, os.Remove(filepath.Join(root, "second")))
	f := osFS(root, options{})
	d := must.Get(f.OpenDir("."))(t)
	defer d.Close()
	handle := d.handle.(*fdDir)
	must.Is(t, "linkNew", fs.ErrExist, handle.linkNew("a", "taken"))
	must.Do(t, handle.linkNew("b", "free"))
	expect(t, f, "list . = [a free taken]", "open taken = old", "open free = new")
}
