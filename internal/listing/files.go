package listing

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// A fileWalk is a walk that finds the files that match at least one of its globs.
// Without globs, every file matches. The walk does not enter linked directories.
type fileWalk struct {
	*reader
	ctx   context.Context
	globs []Glob
	found func(in foundFiles) error

	depth   int      // levels to search; 0 for all
	base    []string // directories that contain every match, from the top
	skipped atomic.Int64
}

// foundFiles are some matching files of an open directory, at most maxFound.
type foundFiles struct {
	dir   *confine.Dir
	at    location
	files []string // names of regular files
	links []string // names of links
}

// path returns the path of a file relative to the root.
func (in *foundFiles) path(name string) string { return joinPath(rulesDir(in.at.name), name) }

// maxFound limits the memory for the files of a large directory.
const maxFound = 512

// walkFiles calls found with the files of each directory below an open directory, from
// several goroutines, and returns the number of unreadable directories. The only error of found
// is the error of ctx.
func walkFiles(ctx context.Context, d *reader, dir *confine.Dir, at location, globs []Glob,
	found func(in foundFiles) error) (skipped int, err error) {
	f := fileWalk{reader: d, ctx: ctx, globs: globs, found: found}
	f.depth, f.base = reachOf(globs)
	if d.MaxDepth > 0 && (f.depth == 0 || d.MaxDepth < f.depth) {
		f.depth = d.MaxDepth
	}
	settle := func(level []*searched) ([]*searched, error) { return below(level), nil }
	err = newWalk(dir, at, f.visit).levels(ctx, settle)
	return int(f.skipped.Load()), err
}

// A fileWalk keeps no data for a visited directory.
type searched = directory[struct{}]

func (f *fileWalk) visit(in *searched, at location, dir *confine.Dir,
	err error) ([]*searched, error) {
	if err != nil {
		f.skipped.Add(1)
		return nil, nil
	}
	at.rules = f.addRules(dir, at)
	in.rules = at.rules
	var below []*searched
	found := foundFiles{dir: dir, at: at}
	var text nameBuffer
	_, err = f.read(f.ctx, dir, at, func(m *meter, bytes []byte, k Kind, _ *confine.Info) error {
		switch k {
		case KindDir:
			if name := string(bytes); f.enters(in, name) {
				below = append(below, in.in(name))
			}
		case KindFile, KindLink:
			switch {
			case len(f.globs) > 0 && !matchesAny(f.globs, m, at.path, string(bytes), false):
				return m.err
			case k == KindLink:
				found.links = append(found.links, text.add(bytes))
			default:
				found.files = append(found.files, text.add(bytes))
			}
			if len(found.files)+len(found.links) == maxFound {
				err := f.found(found)
				found.files, found.links = found.files[:0], found.links[:0]
				return err
			}
		}
		return nil
	})
	if err != nil {
		if f.ctx.Err() != nil || in.parent == nil {
			return nil, err
		}
		f.skipped.Add(1)
	}
	return below, f.found(found)
}

// enters reports whether a directory can contain a match, and is no directory of
// dependencies. enters counts the directories of dependencies. A glob that begins with
// the path of a directory names the directory, so enters accepts the directory.
func (f *fileWalk) enters(at *searched, name string) bool {
	switch {
	case f.depth > 0 && at.depth+1 >= f.depth:
		return false
	case at.depth < len(f.base):
		return f.base[at.depth] == name
	case f.skips(name):
		f.dependencies.Add(1)
		return false
	}
	return true
}

// comparePaths compares paths of files in path order: name by name, with directories before
// files.
func comparePaths(a, b string) int {
	// Most elements of two long paths are often equal, and a comparison of bytes is faster.
	same := strings.LastIndexByte(a[:commonBytes(a, b)], '/') + 1
	a, b = a[same:], b[same:]
	for {
		x, afterX, dirX := strings.Cut(a, "/")
		y, afterY, dirY := strings.Cut(b, "/")
		switch {
		case dirX && !dirY:
			return -1
		case dirY && !dirX:
			return 1
		case x != y:
			return names.Compare(x, y)
		case !dirX:
			return 0
		}
		a, b = afterX, afterY
	}
}

// commonBytes returns the length of the longest common prefix.
func commonBytes(a, b string) int {
	const step = 64
	n := 0
	for min(len(a), len(b))-n >= step && a[n:n+step] == b[n:n+step] {
		n += step
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
