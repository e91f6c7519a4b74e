// Package mounts reports whether system calls in a directory can wait for a network or
// for another program, and when the filesystems of a directory change.
package mounts

import "sync"

// A Tree is a directory with all directories below. A Tree is safe for concurrent use.
type Tree struct {
	dir string

	mu     sync.Mutex
	table  table
	known  bool // local is valid until the mount table changes
	local  bool
	closed bool
}

// New returns the Tree of a clean absolute path. New reads nothing.
func New(dir string) *Tree { return &Tree{dir: dir} }

// Local reports whether the directories of the path, the directory and everything
// mounted below are on disks or in the memory of this machine. Local reports false if
// the path contains a symbolic link or does not exist, after Close, and on all systems
// other than Linux.
//
// Local never waits. If no filesystem was mounted or unmounted since the last call,
// Local costs one system call and does not check the path for new links.
func (t *Tree) Local() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	if !t.known || t.table.changed() {
		t.local, t.known = t.table.local(t.dir)
	}
	return t.local
}

// Close releases the mount table. A second Close does nothing.
func (t *Tree) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.table.close()
}

// A Table is the text of the mount table, or "" if the table is unknown.
type Table string

// ReadTable returns the mount table of the process, on Linux only.
func ReadTable() Table {
	var t table
	defer t.close()
	text, err := t.read()
	if err != nil {
		return ""
	}
	return Table(text)
}
