package confine

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
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
	dir   dirHandle // the current directory; nil before the first step
	path  string    // the whole path below tree
	done  int       // length of the resolved part of path, free of links, "." and ".."
	links int
	steps int
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

// start restarts at the top of a tree.
func (w *resolution) start(tree, rest string) error {
	w.close()
	w.tree, w.path, w.done = tree, rest, 0
	dir, err := w.fs.openTop(tree, false)
	w.dir = dir
	return err
}

// to resolves name and calls do with the last element. The current directory contains the
// element. If do returns ErrSymlink and follow is set, the resolution follows the link and
// calls do again.
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

// rest returns the path after the current element.
func (w *resolution) rest() string {
	begin := w.done
	if begin > 0 {
		begin++
	}
	_, rest, _ := strings.Cut(w.path[begin:], "/")
	return rest
}

// through follows a link.
func (w *resolution) through(elem string) error {
	if w.links++; w.links > maxLinks {
		return errLoop
	}
	target, err := w.dir.readLink(elem)
	if err != nil {
		info, err := w.dir.lstat(elem)
		if err == nil && info.isLink() {
			return ErrSymlink // an unreadable link
		}
		return nil // no longer a link: try the element again
	}
	return w.splice(target, w.rest())
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

// up enters the parent directory, for a ".." in a link. up restarts at the top of the tree,
// because another process may have moved the current directory.
func (w *resolution) up() error {
	rest := w.rest()
	if w.done > 0 {
		return w.start(w.tree, plain(parent(w.path[:w.done]), rest))
	}
	// A relative link leads out of the tree, and may lead to a trusted directory or back
	// into the tree. Above the tree, up resolves only the text of the path, because the
	// path contains no links.
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

// jump continues at an absolute path, if the path is below the root or a trusted directory, or if
// the FS trusts all directories.
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

// parent returns the path of the parent, "" for the top.
func parent(p string) string {
	return p[:max(0, strings.LastIndexByte(p, '/'))]
}
