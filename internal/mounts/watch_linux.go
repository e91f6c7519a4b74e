package mounts

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Watch calls changed after a filesystem was mounted or unmounted at one of the directories,
// above or below. Before each comparison of the mount table, Watch asks for the directories,
// as paths without symbolic links. The function stop waits for the last call of changed. If the
// process cannot read its mount table, Watch does nothing.
func Watch(dirs func() []string, changed func()) (stop func()) {
	var t table
	before, err := t.read()
	if err != nil {
		t.close()
		return func() {}
	}
	var end [2]int
	if err := unix.Pipe2(end[:], unix.O_CLOEXEC); err != nil {
		t.close()
		return func() {}
	}
	var done sync.WaitGroup
	done.Go(func() {
		for t.wait(end[0]) {
			now, err := t.read()
			// An equal table has changed and changed back, perhaps at one of the directories.
			if err != nil || now == before || slices.ContainsFunc(dirs(), func(dir string) bool { return concerning(before, dir) != concerning(now, dir) }) {
				changed()
			}
			before = now
		}
	})
	return func() {
		unix.Close(end[1])
		done.Wait()
		unix.Close(end[0])
		t.close()
	}
}

// wait waits for a change of the table, and returns false after the other end of a pipe was
// closed.
func (t *table) wait(end int) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLPRI}, {Fd: int32(end)}}
		_, err := unix.Poll(fds, -1)
		switch {
		case fds[1].Revents != 0, err != nil && err != unix.EINTR:
			return false
		case fds[0].Revents != 0:
			return true
		}
	}
}

// concerning returns the lines of a table about mounts at a directory, above or below.
func concerning(table, dir string) string {
	var lines strings.Builder
	for line := range strings.Lines(table) {
		if point, _, ok := mount(line); !ok || within(dir, point) || within(point, dir) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}
