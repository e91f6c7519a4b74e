package filetree

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

const maxLinks = 40 // as on Linux

var (
	errNotDir  = errors.New("not a directory")
	errLinks   = errors.New("too many symbolic links")
	errOutside = errors.New("symbolic link leads outside the filesystem")
)

// find returns the node of a name. The function follows symbolic links in the directories of the
// name and, if follow is set, at the end.
func (f *FS) find(op, name string, follow bool) (*node, error) {
	fail := func(err error) (*node, error) { return nil, &fs.PathError{Op: op, Path: name, Err: err} }
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	at := []*node{f.top} // the directories from the top, and the node
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		elem := rest[0]
		rest = rest[1:]
		switch elem {
		case ".", "":
			continue
		case "..":
			if at = at[:len(at)-1]; len(at) == 0 {
				return fail(errOutside)
			}
			continue
		}
		next := at[len(at)-1].children[elem] // a file has no children
		if next == nil {
			return fail(fs.ErrNotExist)
		}
		target := next.link()
		if target == "" || len(rest) == 0 && !follow {
			at = append(at, next)
			continue
		}
		if path.IsAbs(target) {
			return fail(errOutside)
		}
		if links++; links > maxLinks {
			return fail(errLinks)
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at[len(at)-1], nil
}
