package confine

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const (
	maxLinks = 40    // as Linux has it
	maxSteps = 16384 // elements gone through, those of links and of fresh starts included
)

// A walk goes from the top of a tree to a file, one element at a time, so
// that nothing but a link can lead it astray, and links are read and not
// followed: their text becomes part of the path that is yet to go.
type resolution struct {
	fs    *FS
	tree  string    // the directory it is below: the root, or a trusted one
	dir   dirHandle // the open directory where it is; nil before the first step
	path  string    // the whole path below tree
	done  int       // the length of the part of path gone, which is free of links, "." and ".."
	links int
	steps int
}

func (w *resolution) close() {
	if w.dir != nil {
		w.dir.close()
		w.dir = nil
	}
}

// at is where the walk is, below its tree.
func (w *resolution) at() string {
	if w.done == 0 {
		return "."
	}
	return w.path[:w.done]
}

// start puts the walk to the top of a tree.
func (w *resolution) start(tree, rest string) error {
	w.close()
	w.tree, w.path, w.done = tree, rest, 0
	dir, err := w.fs.openTop(tree, false)
	w.dir = dir
	return err
}

// to goes to name and calls do with the directory that holds its last element,
// and that element. Where do says ErrSymlink and follow is set, the walk goes
// on through the link; do is then called again.
func (w *resolution) to(name string, follow bool, do func(elem string) error) error {
	if err := w.start(w.fs.dir, name); err != nil {
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
		elem, _, more := strings.Cut(w.path[begin:], "/")
		if elem == ".." {
			if err := w.up(); err != nil {
				return err
			}
			continue
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
		if err := w.through(elem); err != nil {
			return err
		}
	}
}

// rest is the path that is left after the element at hand.
func (w *resolution) rest() string {
	begin := w.done
	if begin > 0 {
		begin++
	}
	_, rest, _ := strings.Cut(w.path[begin:], "/")
	return rest
}

// through goes on through a link.
func (w *resolution) through(elem string) error {
	if w.links++; w.links > maxLinks {
		return errLoop
	}
	target, err := w.dir.readLink(elem)
	if err != nil {
		info, err := w.dir.lstat(elem)
		if err == nil && info.isLink() {
			return ErrSymlink // one that cannot be read, and so not followed
		}
		return nil // no link any more: take the element as it is now
	}
	return w.splice(target, w.rest())
}

// splice continues with a link's target, read where the walk is, and then
// with rest.
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

// up goes to the parent, as ".." in a link asks: back from the top, as the
// directory may have been moved since it was gone through.
func (w *resolution) up() error {
	rest := w.rest()
	if w.done > 0 {
		return w.start(w.tree, plain(parent(w.path[:w.done]), rest))
	}
	// Out of the tree, by a relative link. It may lead to a trusted directory, or
	// back. Above the tree there is only text to go by, and the parents of a
	// path that is free of links are what it says.
	above, ok := w.fs.realPath(w.tree)
	if !ok {
		return ErrEscape
	}
	above = path.Dir(above)
	for rest = trimEmpty(rest); rest == ".." || strings.HasPrefix(rest, "../"); rest = trimEmpty(rest) {
		above, rest = path.Dir(above), strings.TrimPrefix(rest[2:], "/")
	}
	return w.jump(above+"/"+rest, "")
}

// jump continues at an absolute path, given that it is below the root or a
// trusted directory.
func (w *resolution) jump(target, rest string) error {
	for _, tree := range w.fs.trees() {
		below, ok := cutTree(target, filepath.ToSlash(tree))
		if !ok {
			real, known := w.fs.realPath(tree)
			if !known {
				continue
			}
			if below, ok = cutTree(target, real); !ok {
				continue
			}
		}
		return w.start(tree, plain(below, rest))
	}
	return ErrEscape
}

// cutTree returns what of an absolute path is below a tree. A ".." before
// that is not resolved: what it means depends on what is there.
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

// trimEmpty cuts off leading elements that mean nothing.
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

// plain joins paths, leaving out the elements that mean nothing; but a "." at
// the end stays, as it says that what is before must be a directory. It is never
// empty.
func plain(paths ...string) string {
	var b strings.Builder
	dir := true // the path ends in what can only be a directory
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

// join puts a slash between, where something is before it.
func join(before, after string) string {
	if before == "" {
		return after
	}
	return before + "/" + after
}

// parent is the path above, "" for the top.
func parent(p string) string {
	return p[:max(0, strings.LastIndexByte(p, '/'))]
}
