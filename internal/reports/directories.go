package reports

import (
	"slices"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
)

// Names are the names of the directories that a program configures; "" is no directory.
type Names struct{ Shared, Local string }

// Configured reports whether the program configures a directory.
func (n Names) Configured() bool { return n.Shared != "" || n.Local != "" }

// Directories are the opened directories. The FS of a directory is nil if the program does not
// configure the directory.
type Directories struct{ Shared, Local Directory }

// Open opens the directories.
func (d *Directories) Open(n Names, locate func(dir string) (*confine.FS, string), onOS bool) {
	var writing sync.Locker
	if !onOS {
		writing = new(sync.Mutex)
	}
	d.Shared, d.Local = Directory{Name: n.Shared}, Directory{Name: n.Local, Local: true}
	for _, each := range d.Both() {
		if each.Writing = writing; each.Name != "" {
			each.FS, each.Path = locate(each.Name)
		}
	}
}

// Both returns the shared and the local directory.
func (d *Directories) Both() []*Directory { return []*Directory{&d.Shared, &d.Local} }

// Named returns the directories that the program configures.
func (d *Directories) Named() []*Directory {
	return slices.DeleteFunc(d.Both(), func(each *Directory) bool { return each.FS == nil })
}
