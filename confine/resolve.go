package confine

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

const (
	maxLinks = 40    // as on Linux
	maxSteps = 16384 // elements, including the elements of links and of restarts
)

// A resolution goes from the top of a tree to a file, one element at a time. To follow a
// link, a resolution inserts the text of the link before the remaining path.
type resolution struct {
	fs    *FS
	tree  string    // the root or a trusted directory
	top   place     // of the tree
	root  place     // of the root
	dir   dirHandle // the current directory; nil before the first step
	path  string    // the whole path below tree
	done  int       // length of the resolved part of path, free of links, "." and ".."
	links int
	steps int
}

// A place is a directory on the underlying filesystem. Within opens its root below another tree,
// so the tree of a resolution and the tree of its place can differ.
type place struct {
	tree string // full path of a directory that the host program has chosen
	path string // below tree, without links; "" for tree itself
}

func (w *resolution) close() {
	if w.dir != nil {
		w.dir.close()
		w.dir = nil
	}
}

// at returns the path of the current directory below the tree.
func (w *resolution) at() string {
	if w.done == 0 {
		return "."
	}
	return w.path[:w.done]
}

// place returns the place of an element of the current directory.
func (w *resolution) place(elem string) place {
	at := path.Join(w.top.path, w.path[:w.done], elem)
	if at == "." {
		at = ""
	}
	return place{w.top.tree, at}
}

// start restarts at the top of a tree.
func (w *resolution) start(tree, rest string) (err error) {
	w.close()
	w.tree, w.path, w.done = tree, rest, 0
	if tree == w.fs.dir {
		w.dir, w.root, err = w.openRoot(false)
		w.top = w.root
		return err
	}
	w.top = place{tree: tree}
	w.dir, err = w.fs.openTop(tree, false)
	return err
}

// openRoot opens the root, for each if list is set. The FS of Within opens the name of the root
// in the outer FS.
func (w *resolution) openRoot(list bool) (dirHandle, place, error) {
	outer := w.fs.outer
	if outer == nil {
		dir, err := w.fs.openTop(w.fs.dir, list)
		return dir, place{tree: w.fs.dir}, err
	}
	way := resolution{fs: outer, steps: w.steps}
	defer way.close()
	dir, at, err := way.open(w.fs.at, list)
	w.steps = way.steps
	return dir, at, err
}

// open opens a directory and returns its place.
func (w *resolution) open(name string, list bool) (dir dirHandle, at place, err error) {
	if name == w.fs.name {
		// Opening the root by its path requires no search permission in the root.
		return w.openRoot(list)
	}
	err = w.to(name, true, func(elem string) (err error) {
		at = w.place(elem)
		if list {
			dir, err = w.dir.openDir(elem)
		} else {
			dir, err = w.dir.child(elem)
		}
		return err
	})
	return dir, at, err
}

// to resolves name and calls do with the last element. The current directory contains the
// element. If do returns ErrSymlink and follow is set, the resolution follows the link and
// calls do again.
func (w *resolution) to(name string, follow bool, do func(elem string) error) error {
	rest, inside := below(w.fs.name, name)
	if !inside {
		return ErrEscape
	}
	if err := w.start(w.fs.dir, rest); err != nil {
		return err
	}
	return w.on(follow, do)
}

func (w *resolution) on(follow bool, do func(elem string) error) error {
	for {
		if w.steps++; w.steps > maxSteps {
			return errTooDeep
		}
		begin := w.done
		if begin > 0 {
			begin++ // the slash
		}
		elem, rest, more := strings.Cut(w.path[begin:], "/")
		if elem == ".." {
			if err := w.up(rest); err != nil {
				return err
			}
			continue
		}
		if runtime.GOOS == "windows" && elem != "." {
			// The text of a link has not been checked.
			if err := checkWindowsElement(elem); err != nil {
				return err
			}
		}
		var err error
		if more {
			var child dirHandle
			if child, err = w.dir.child(elem); err == nil {
				w.dir.close()
				w.dir = child
				w.done = begin + len(elem)
				continue
			}
		} else if err = do(elem); err == nil {
			return nil
		}
		if err != ErrSymlink || !more && !follow || w.fs.denySymlinks {
			return err
		}
		if err := w.through(elem, rest); err != nil {
			return err
		}
	}
}

// through follows a link, and continues with the rest of the path.
func (w *resolution) through(elem, rest string) error {
	if w.links++; w.links > maxLinks {
		return errLoop
	}
	target, err := w.dir.readLink(elem)
	if err != nil {
		info, lstatErr := w.dir.lstat(elem, true)
		switch {
		case lstatErr != nil || !info.isLink():
			return nil // no longer a link: try the element again
		case errors.Is(err, fs.ErrInvalid), errors.Is(err, errors.ErrUnsupported), errors.Is(err, afero.ErrNoReadlink):
			return ErrSymlink // the filesystem reads no links
		}
		return err
	}
	return w.splice(target, rest)
}

// splice continues with the text of a link in the current directory, and then with rest.
func (w *resolution) splice(target, rest string) error {
	absolute, target := w.fs.linkTarget(target)
	if target == "" {
		return syscall.ENOENT
	}
	if absolute {
		return w.jump(target, rest)
	}
	w.path = join(w.path[:w.done], plain(target, rest))
	return nil
}

// up enters the parent directory, for a ".." in a link, and continues with the rest of the path.
// up restarts at the top of the tree, because another process may have moved the current directory.
func (w *resolution) up(rest string) error {
	if w.done > 0 {
		parent := w.path[:max(0, strings.LastIndexByte(w.path[:w.done], '/'))]
		return w.start(w.tree, plain(parent, rest))
	}
	// A relative link leads out of the tree, and may lead to a trusted directory or back
	// into the tree. Above the tree, up resolves only the text of the path, because the
	// path contains no links.
	above, ok := w.realPath(w.tree)
	if !ok {
		return ErrEscape
	}
	above = path.Dir(above)
	for rest = trimEmpty(rest); rest == ".." || strings.HasPrefix(rest, "../"); rest = trimEmpty(rest) {
		above, rest = path.Dir(above), strings.TrimPrefix(rest[2:], "/")
	}
	return w.jump(above+"/"+rest, "")
}

// jump continues at an absolute path, if the path is below the root or a trusted directory, or if
// the FS trusts all directories.
func (w *resolution) jump(target, rest string) error {
	for _, tree := range w.fs.trees() {
		below, ok := cutTree(target, filepath.ToSlash(tree))
		if !ok {
			real, known := w.realPath(tree)
			if !known {
				continue
			}
			if below, ok = cutTree(target, real); !ok {
				continue
			}
		}
		return w.start(tree, plain(below, rest))
	}
	if w.fs.trustAll {
		volume := filepath.VolumeName(filepath.FromSlash(target)) // "" except on Windows
		if below := target[len(volume):]; path.IsAbs(below) {
			if volume == "" {
				volume = filepath.VolumeName(w.tree)
			}
			return w.start(filepath.FromSlash(volume+"/"), plain(below, rest))
		}
	}
	return ErrEscape
}

// realPath returns the path of a tree without links, with slashes. Absolute links may
// begin with this path or with the path of the tree.
func (w *resolution) realPath(tree string) (string, bool) {
	at := place{tree: tree}
	if tree == w.fs.dir {
		at = w.root
	}
	real, known := w.fs.realPath(at.tree)
	if at.path != "" {
		real = join(strings.TrimSuffix(real, "/"), at.path)
	}
	return real, known
}

// cutTree returns the part of an absolute path below a tree. cutTree does not resolve a ".."
// before this part, because its meaning depends on the files.
func cutTree(target, tree string) (below string, ok bool) {
	for elem := range strings.SplitSeq(tree, "/") {
		if elem == "" {
			continue
		}
		target = trimEmpty(target)
		var first string
		first, target, _ = strings.Cut(target, "/")
		if first != elem && !(runtime.GOOS == "windows" && strings.EqualFold(first, elem)) {
			return "", false
		}
	}
	return target, true
}

// trimEmpty removes leading slashes and "." elements.
func trimEmpty(p string) string {
	for {
		switch {
		case strings.HasPrefix(p, "/"):
			p = p[1:]
		case strings.HasPrefix(p, "./"):
			p = p[2:]
		default:
			return p
		}
	}
}

// plain joins paths and removes empty and "." elements, except a "." at the end, because
// "." requires a directory. The result is never empty.
func plain(paths ...string) string {
	var b strings.Builder
	dir := true // the last element must be a directory
	for _, p := range paths {
		if p == "" {
			continue
		}
		for elem := range strings.SplitSeq(p, "/") {
			if dir = elem == "" || elem == "."; dir {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('/')
			}
			b.WriteString(elem)
		}
	}
	if dir {
		if b.Len() > 0 {
			b.WriteByte('/')
		}
		b.WriteByte('.')
	}
	return b.String()
}

// join joins two paths. If before is empty, join adds no slash.
func join(before, after string) string {
	if before == "" {
		return after
	}
	return before + "/" + after
}
