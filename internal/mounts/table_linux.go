package mounts

import (
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// A table is the mount table of the process, see proc_pid_mountinfo(5). An os.File would
// not do, because the poller of package runtime would consume the changes.
type table struct {
	fd   int
	open bool
}

// changed reports whether a filesystem was mounted or unmounted since the last call. The
// table must be open.
func (t *table) changed() bool {
	fds := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLPRI}}
	n, err := unix.Poll(fds, 0)
	return n != 0 || err != nil
}

// local reports whether a directory is local. If the answer can change without a change
// of the table, ok is false.
func (t *table) local(dir string) (local, ok bool) {
	text, err := t.read()
	switch {
	case err != nil:
		return false, false
	case !localIn(text, dir):
		return false, true
	}
	return withoutLinks(dir)
}

func (t *table) read() (string, error) {
	if !t.open {
		fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", err
		}
		t.fd, t.open = fd, true
	}
	var text []byte
	for buf := make([]byte, 4096); ; {
		n, err := unix.Pread(t.fd, buf, int64(len(text)))
		switch {
		case err == unix.EINTR:
		case err != nil || n == 0:
			return string(text), err
		default:
			text = append(text, buf[:n]...)
		}
	}
}

func (t *table) close() {
	if t.open {
		unix.Close(t.fd)
		t.open = false
	}
}

// localIn reports whether all filesystems that contain the directory, a directory above
// or a directory below are local.
func localIn(table, dir string) bool {
	covered := false
	for line := range strings.Lines(table) {
		point, kind, ok := mount(line)
		concerns := within(dir, point) || within(point, dir)
		if !ok || concerns && !localTypes[kind] {
			return false
		}
		covered = covered || concerns
	}
	return covered
}

// Local reports whether the filesystem of a clean absolute path is local. Links are not resolved.
func (t Table) Local(dir string) (local bool) {
	nearest := -1
	for line := range strings.Lines(string(t)) {
		point, kind, ok := mount(line)
		if !ok {
			return false
		}
		if within(dir, point) && len(point) >= nearest { // a later mount covers an earlier mount
			nearest, local = len(point), localTypes[kind]
		}
	}
	return local
}

// mount returns the directory and the kind of the filesystem of a line of the table, such as
// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue".
func mount(line string) (point, kind string, ok bool) {
	fields := strings.Fields(line)
	_, source, found := strings.Cut(line, " - ")
	if !found || len(fields) < 5 {
		return "", "", false
	}
	kind, _, _ = strings.Cut(source, " ")
	return unescape.Replace(fields[4]), kind, true
}

// unescape decodes the characters that the table writes as octal numbers.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#")

// localTypes are the filesystems of function isLocal in package confine, and the first
// filesystem of the kernel.
var localTypes = map[string]bool{
	"ext2": true, "ext3": true, "ext4": true, "xfs": true, "btrfs": true, "f2fs": true, "zfs": true,
	"tmpfs": true, "ramfs": true, "rootfs": true, "overlay": true,
}

// within reports whether a path is dir or below dir.
func within(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// withoutLinks reports whether all directories of a path exist and are no symbolic
// links. If one is missing, ok is false.
func withoutLinks(dir string) (without, ok bool) {
	if dir == "/" {
		return true, true
	}
	// A directory above comes first, because the path below a link can lead to a
	// filesystem that waits.
	if without, ok := withoutLinks(path.Dir(dir)); !without || !ok {
		return false, ok
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return false, false
	}
	return info.IsDir(), true
}
