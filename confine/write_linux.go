package confine

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// doing makes a system call in the directory.
func (d *fdDir) doing(call func() error) error {
	if !d.use() {
		return fs.ErrClosed
	}
	defer d.done()
	return repeat(call)
}

func (d *fdDir) mkdir(name string) error {
	return d.doing(func() error { return unix.Mkdirat(d.fd, name, 0o755) })
}

func (d *fdDir) create(name string) (newFile, error) {
	var fd int
	err := d.doing(func() (err error) {
		fd, err = unix.Openat(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *fdDir) renameNew(from, to string) error {
	err := d.doing(func() error { return unix.Renameat2(d.fd, from, d.fd, to, unix.RENAME_NOREPLACE) })
	if err == nil || err == unix.EEXIST {
		return err
	}
	return d.linkNew(from, to)
}

// linkNew is renameNew for filesystems without this kind of rename, such as NFS.
func (d *fdDir) linkNew(from, to string) error {
	if err := d.doing(func() error { return unix.Linkat(d.fd, from, d.fd, to, 0) }); err != nil {
		return err
	}
	d.remove(from) // if this fails, a hidden second name remains
	return nil
}

func (d *fdDir) rename(from, to string) error {
	return d.doing(func() error { return unix.Renameat(d.fd, from, d.fd, to) })
}

func (d *fdDir) remove(name string) error {
	return d.doing(func() error { return unix.Unlinkat(d.fd, name, 0) })
}

func (d *fdDir) sync() error {
	return ignoreNoSync(d.doing(func() error { return unix.Fsync(d.fd) }))
}
