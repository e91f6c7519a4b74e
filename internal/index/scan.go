package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A scan looks through one layer.
type scan struct {
	ctx    context.Context
	config *Config
	layer  int
	fs     *confine.FS
	before *found
	watch  *watch // nil where nothing is watched
	room   *atomic.Int64

	entries  []*Entry
	mu       sync.Mutex // files are loaded from several goroutines
	problems []problem.Problem
}

func newScan(ctx context.Context, x *Index, layer int, before *found) *scan {
	l := x.config.Layers[layer]
	s := &scan{ctx: ctx, config: &x.config, layer: layer, fs: l.FS, before: before, room: &x.room}
	if x.watch != nil && !l.Fixed {
		s.watch = x.watch
	}
	return s
}

// visit is called before a folder is looked at.
func (s *scan) visit(dirPath string) {
	if s.watch != nil {
		s.watch.visit(s.fs.Path(dirPath))
	}
}

// throughLink is called when a link was followed.
func (s *scan) throughLink() {
	if s.watch != nil {
		s.watch.throughLink()
	}
}

// result is what was found, and what was found before if that is the same. The
// order of files in a folder is the filesystem's, which is no one's: only a
// result that is new needs one of its own.
func (s *scan) result() *found {
	same := !s.before.missing && s.before.byPath != nil && len(s.entries) == len(s.before.entries)
	for _, e := range s.entries {
		same = same && s.before.byPath[e.Path] == e
	}
	slices.SortFunc(s.problems, problem.Compare)
	if same && slices.Equal(s.problems, s.before.problems) {
		return s.before
	}
	slices.SortFunc(s.entries, s.claimsBefore)
	f := &found{entries: s.entries, problems: s.problems, byPath: make(map[string]*Entry, len(s.entries))}
	for _, e := range s.entries {
		f.byPath[e.Path] = e
	}
	return f
}

// claimsBefore orders the files of one layer by precedence: the first file of a
// name has the name. ".md" precedes ".MD". A skill precedes the skills of deeper
// directories.
func (s *scan) claimsBefore(a, b *Entry) int {
	if s.config.Depth > 1 {
		if deeper := strings.Count(a.Path, "/") - strings.Count(b.Path, "/"); deeper != 0 {
			return deeper
		}
	}
	if usual := strings.HasSuffix(a.Path, ".md"); usual != strings.HasSuffix(b.Path, ".md") {
		if usual {
			return -1
		}
		return 1
	}
	return strings.Compare(a.Path, b.Path)
}

// place is the path of a file as problems have it.
func (s *scan) place(elem ...string) string {
	return s.config.place(s.layer, path.Join(elem...))
}

func (s *scan) report(p problem.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, p)
}

// reportFolder reports a folder that has the name of a file.
func (s *scan) reportFolder(file string) {
	s.report(problem.Problem{Code: problem.NotAFile, Severity: problem.Warning, Path: s.place(file),
		Message: "not listed: the directory has the name of a command file", Suggestion: "rename the directory"})
}

// An identity is equal for two open directories if they are the same directory:
// the device and inode numbers or, on a filesystem without these, the path
// free of links.
type identity struct {
	dev, ino uint64
	path     string
}

func identify(dir *confine.Dir) identity {
	if info, err := dir.Info(); err == nil && info.Ino != 0 {
		return identity{dev: info.Dev, ino: info.Ino}
	}
	return identity{path: dir.RealPath()}
}

// A child is a name in a folder.
type child struct {
	name  string
	typ   fs.FileMode // its type bits, or confine.TypeUnknown
	known *Entry      // of this file, from the scan before
}

// children returns what is in a folder, hidden names left out. The names of
// files that were there before are not allocated again.
func (s *scan) children(dir *confine.Dir, dirPath string) ([]child, error) {
	prefix := dirPath + "/"
	if dirPath == "." {
		prefix = ""
	}
	all := make([]child, 0, len(s.before.entries))
	file := []byte(prefix)
	err := dir.EachBytes(s.ctx, func(name []byte, typ fs.FileMode) error {
		if name[0] == '.' {
			return nil
		}
		file = append(file[:len(prefix)], name...)
		if known := s.before.byPath[string(file)]; known != nil {
			all = append(all, child{known.Path[len(prefix):], typ, known})
		} else {
			all = append(all, child{string(name), typ, nil})
		}
		return nil
	})
	return all, err
}

// isFolder reports whether a child is a folder, or a link to one that policy
// lets us follow.
func (s *scan) isFolder(dirPath string, c child) bool {
	switch c.typ {
	case fs.ModeDir:
		return true
	case fs.ModeSymlink, confine.TypeUnknown:
		info, err := s.fs.Info(path.Join(dirPath, c.name))
		if err != nil || c.typ == fs.ModeSymlink {
			s.throughLink()
		}
		return err == nil && info.Mode.IsDir()
	default:
		return false
	}
}

// linkProblem is about a link that leads nowhere that we may go. It says the
// same of every such link: what is outside the root is not told apart.
func (s *scan) linkProblem(file string, err error) problem.Problem {
	message := "not listed: the link is broken, cyclic, or leads outside the root"
	if errors.Is(err, confine.ErrSymlink) {
		message = "not listed: links are not followed"
	}
	return problem.Problem{Code: problem.LinkNotFollowed, Severity: problem.Error, Path: s.place(file), Message: message,
		Suggestion: "replace the link by the file, or allow links with WithSymlinks"}
}

// unreadable is what a failure of the filesystem is called. It holds no path.
func unreadable(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, confine.ErrNotRegular):
		return "not a regular file"
	default:
		var e *fs.PathError
		if errors.As(err, &e) {
			err = e.Err
		}
		return fmt.Sprint(err)
	}
}
