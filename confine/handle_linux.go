package confine

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// An fdDir is a directory as a file descriptor.
type fdDir struct {
	descriptor
	listing sync.Mutex // held by each: the descriptor has one position
	listed  bool       // the position may not be at the beginning

	devices *deviceType // of the top directory, shared with all directories opened below
	own     deviceType  // of a top directory
}

const (
	// O_PATH requires only search permission.
	throughFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	listFlags    = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NONBLOCK | unix.O_CLOEXEC
	fileFlags    = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW | unix.O_CLOEXEC
)

// openOSDir follows links, because the path belongs to the host program.
func openOSDir(dir string, list bool) (dirHandle, error) {
	flags := throughFlags
	if list {
		flags = listFlags
	}
	fd, err := openat(unix.AT_FDCWD, dir, flags)
	if err != nil {
		return nil, err
	}
	d := &fdDir{descriptor: descriptor{fd: fd}}
	d.devices = &d.own
	return d, nil
}

func (d *fdDir) child(name string) (dirHandle, error) {
	return d.open(name, throughFlags|unix.O_NOFOLLOW)
}

func (d *fdDir) openDir(name string) (dirHandle, error) {
	return d.open(name, listFlags|unix.O_NOFOLLOW)
}

func (d *fdDir) openWay(name string) (dirHandle, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	fd, err := d.openBelow(name, listFlags)
	if err != nil {
		return nil, err
	}
	return &fdDir{descriptor: descriptor{fd: fd}, devices: d.devices}, nil
}

// openBelow opens a path of several elements without links.
func (d *fdDir) openBelow(name string, flags uint64) (int, error) {
	if noOpenat2.Load() {
		return 0, unix.ENOSYS
	}
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	fd, err := retry(func() (int, error) { return sysOpenat2(d.fd, name, &how) })
	if err == unix.ENOSYS || err == unix.EPERM {
		noOpenat2.Store(true)
	}
	return fd, err
}

func (d *fdDir) open(name string, flags int) (dirHandle, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	fd, err := openat(d.fd, name, flags)
	if err == nil {
		return &fdDir{descriptor: descriptor{fd: fd}, devices: d.devices}, nil
	}
	if err != unix.ENOTDIR && err != unix.ELOOP {
		return nil, err
	}
	// ENOTDIR is also the error for links.
	info, err := lstatat(d.fd, name)
	switch {
	case err != nil:
		return nil, err
	case info.isLink():
		return nil, ErrSymlink
	case info.Mode.IsDir():
		return nil, errChanged
	default:
		return nil, ErrNotDir
	}
}

func (d *fdDir) openFile(name string) (content, Info, error) {
	fd, info, err := d.openRegular(name)
	if err != nil {
		return nil, Info{}, err
	}
	return &fdFile{descriptor{fd: fd}, !info.Changed.IsZero()}, info, nil
}

// openRegular opens the file and then reads its metadata, so the metadata belongs to the
// open file.
func (d *fdDir) openRegular(name string) (fd int, info Info, err error) {
	if !d.use() {
		return 0, Info{}, fs.ErrClosed
	}
	defer d.done()
	if strings.Contains(name, "/") {
		fd, err = d.openBelow(name, fileFlags)
	} else {
		fd, err = openat(d.fd, name, fileFlags)
	}
	switch err {
	case nil:
	case unix.ELOOP:
		return 0, Info{}, ErrSymlink
	case unix.ENXIO, unix.ENODEV: // a socket, or a device without a driver
		return 0, Info{}, ErrNotRegular
	default:
		return 0, Info{}, err
	}
	info, err = fstat(fd)
	if err == nil && !info.Mode.IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		unix.Close(fd)
		return 0, Info{}, err
	}
	if !d.devices.changeTimes(info.Dev, func() (bool, bool) { return hasChangeTimes(fd), true }) {
		info.Changed = time.Time{}
	}
	return fd, info, nil
}

func (d *fdDir) readHead(name string, buf []byte) (n int, info Info, err error) {
	fd, info, err := d.openRegular(name)
	if err != nil {
		return 0, Info{}, err
	}
	defer unix.Close(fd)
	for n < len(buf) {
		more, err := retry(func() (int, error) { return unix.Read(fd, buf[n:]) })
		if err != nil {
			return 0, Info{}, err
		}
		n += more
		// At the reported size, skip the read that would only report the end.
		if more == 0 || int64(n) == info.Size {
			break
		}
	}
	return n, info, nil
}

func (d *fdDir) lstat(name string, brief bool) (Info, error) {
	if !d.use() {
		return Info{}, fs.ErrClosed
	}
	defer d.done()
	info, err := lstatat(d.fd, name)
	if err == nil && (brief || !d.devices.changeTimes(info.Dev, func() (bool, bool) { return d.changeTimesOf(name, info) })) {
		info.Changed = time.Time{}
	}
	return info, err
}

// changeTimesOf is hasChangeTimes for a file or a directory, which may be a mount of its own. If
// another file has replaced the file, known is false. For a link, changeTimesOf looks at the
// directory: a FUSE program may follow the link in its answer, also back to its own filesystem.
func (d *fdDir) changeTimesOf(name string, file Info) (has, known bool) {
	if name == "." || !file.Mode.IsRegular() && !file.Mode.IsDir() {
		return hasChangeTimes(d.fd), true
	}
	fd, err := openat(d.fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return false, false
	}
	defer unix.Close(fd)
	info, err := fstat(fd)
	if err != nil || info.Dev != file.Dev {
		return false, false
	}
	return hasChangeTimes(fd), true
}

func (d *fdDir) readLink(name string) (string, error) {
	if !d.use() {
		return "", fs.ErrClosed
	}
	defer d.done()
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := retry(func() (int, error) { return unix.Readlinkat(d.fd, name, buf) })
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

var dirents = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (d *fdDir) each(visit func(name []byte, typ fs.FileMode) bool) error {
	if !d.use() {
		return fs.ErrClosed
	}
	defer d.done()
	d.listing.Lock()
	defer d.listing.Unlock()
	if d.listed {
		if _, err := unix.Seek(d.fd, 0, io.SeekStart); err != nil {
			return err
		}
	}
	d.listed = true
	buf := dirents.Get().(*[32 << 10]byte)
	defer dirents.Put(buf)
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(d.fd, buf[:]) })
		if err != nil || n == 0 {
			return err
		}
		ended := false
		for rest := buf[:n]; len(rest) > 0; {
			var name []byte
			var typ byte
			ended = endsDirectory(rest) && n < len(buf)/2
			if name, typ, rest, err = cutDirent(rest); err != nil {
				return err
			}
			if string(name) == "." || string(name) == ".." {
				continue
			}
			if !visit(name, direntType(typ)) {
				return nil
			}
		}
		if ended {
			return nil
		}
	}
}

// endsDirectory reports whether the offset of an entry is the end of the directory on ext4, XFS,
// Btrfs and tmpfs. With a buffer that is not full, the next call would only report the end.
func endsDirectory(dirent []byte) bool {
	const offsetAt, offsetEnd = 8, 16
	if len(dirent) < offsetEnd {
		return false
	}
	offset := binary.NativeEndian.Uint64(dirent[offsetAt:])
	return offset == math.MaxInt32 || offset == math.MaxInt64
}

var errDirent = errors.New("malformed directory entry")

// cutDirent cuts off the first entry of a result of getdents64(2). An entry consists of an
// inode number and an offset of 8 bytes each, its length in 2 bytes, its type in 1 byte, and
// the name up to the first NUL.
func cutDirent(buf []byte) (name []byte, typ byte, rest []byte, err error) {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	if len(buf) < nameAt {
		return nil, 0, nil, errDirent
	}
	length := int(binary.NativeEndian.Uint16(buf[lengthAt:]))
	if length < nameAt || length > len(buf) {
		return nil, 0, nil, errDirent
	}
	name = buf[nameAt:length]
	for i, c := range name {
		if c == 0 {
			return name[:i:i], buf[typeAt], buf[length:], nil
		}
	}
	return nil, 0, nil, errDirent
}

// direntType returns the type of a directory entry. The kernel shifts the bits of a mode by 12.
func direntType(typ byte) fs.FileMode {
	if mode := fileMode(uint32(typ) << 12); mode != fs.ModeIrregular {
		return mode
	}
	return TypeUnknown
}

// A deviceType remembers whether the last filesystem that a tree of directories has used has
// change times. A device number belongs to another filesystem only after an unmount, and an
// open directory keeps its filesystem mounted.
type deviceType struct{ last atomic.Uint64 } // the device number times 2, plus 1 for change times; 0 if unknown

// changeTimes asks look for a device other than the last.
func (t *deviceType) changeTimes(dev uint64, look func() (has, known bool)) bool {
	if last := t.last.Load(); last != 0 && last>>1 == dev {
		return last&1 != 0
	}
	has, known := look()
	if known {
		last := dev << 1
		if has {
			last |= 1
		}
		t.last.Store(last)
	}
	return has
}

// hasChangeTimes reports whether the filesystem of an open file sets the change time of a file
// at each change. The local filesystems do. A program that provides a filesystem (FUSE) and a
// server can return any time; exFAT and FAT store no change time. The clock of a server can
// also differ, and then a recent change seems to be an old change.
var hasChangeTimes = isLocal

// noOpenat2 is set if the kernel (before 5.6) or a sandbox does not support openat2.
var noOpenat2 atomic.Bool

// noStatx is set if the kernel or a sandbox does not support statx.
var noStatx atomic.Bool

// lstatat reads metadata without starting an automount.
func lstatat(fd int, name string) (Info, error) {
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == "." {
		// A stat of the directory itself requires no search permission.
		name, flags = "", flags|unix.AT_EMPTY_PATH
	}
	if !noStatx.Load() {
		info, err := statx(fd, name, flags)
		if err != unix.ENOSYS && err != unix.EPERM {
			return info, err
		}
		// Old sandboxes return EPERM. fstatat also returns a genuine EPERM.
		old, oldErr := fstatat(fd, name, flags)
		if oldErr == nil {
			noStatx.Store(true)
		}
		return old, oldErr
	}
	return fstatat(fd, name, flags)
}

func statx(fd int, name string, flags int) (Info, error) {
	var st unix.Statx_t
	err := repeat(func() error { return sysStatx(fd, name, flags, unix.STATX_BASIC_STATS, &st) })
	if err != nil {
		return Info{}, err
	}
	info := Info{
		Mode:     fileMode(uint32(st.Mode)),
		Modified: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		Accessed: time.Unix(st.Atime.Sec, int64(st.Atime.Nsec)),
		Changed:  time.Unix(st.Ctime.Sec, int64(st.Ctime.Nsec)),
		Dev:      unix.Mkdev(st.Dev_major, st.Dev_minor),
		Ino:      st.Ino,
	}
	if info.Mode.IsRegular() {
		info.Size = int64(st.Size)
	}
	return info, nil
}

func fstatat(fd int, name string, flags int) (Info, error) {
	var st unix.Stat_t
	if err := repeat(func() error { return unix.Fstatat(fd, name, &st, flags) }); err != nil {
		return Info{}, err
	}
	return infoOfStat(&st), nil
}

func fstat(fd int) (Info, error) {
	var st unix.Stat_t
	if err := repeat(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return Info{}, err
	}
	return infoOfStat(&st), nil
}

func infoOfStat(st *unix.Stat_t) Info {
	info := Info{
		Mode:     fileMode(st.Mode),
		Modified: time.Unix(st.Mtim.Unix()),
		Accessed: time.Unix(st.Atim.Unix()),
		Changed:  time.Unix(st.Ctim.Unix()),
		Dev:      uint64(st.Dev),
		Ino:      st.Ino,
	}
	if info.Mode.IsRegular() {
		info.Size = st.Size
	}
	return info
}

func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	case unix.S_IFCHR:
		m |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		m |= fs.ModeDevice
	default:
		m |= fs.ModeIrregular
	}
	if mode&unix.S_ISUID != 0 {
		m |= fs.ModeSetuid
	}
	if mode&unix.S_ISGID != 0 {
		m |= fs.ModeSetgid
	}
	if mode&unix.S_ISVTX != 0 {
		m |= fs.ModeSticky
	}
	return m
}

func openat(fd int, name string, flags int) (int, error) {
	return retry(func() (int, error) { return sysOpenat(fd, name, flags) })
}

// repeat is retry for a system call without a number.
func repeat(call func() error) error {
	_, err := retry(func() (int, error) { return 0, call() })
	return err
}

// retry repeats a system call that a signal interrupts. On FUSE and network filesystems every
// call can be interrupted, and the Go runtime sends signals.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
