package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A scan reads one layer. The entries of unchanged files come from the previous
// scan.
type scan struct {
	access.Source
	index   *Index
	config  *Config
	layer   int
	at      *Layer
	part    *Part        // in a plugin; at is then the layer of the part
	plugins *pluginParts // in a layer with plugins
	shared  *sync.Map    // of a sealed layer; see shared
	refused *confine.FS  // view.refused
	version string       // view.version

	before     *layerFiles       // the result of the previous scan
	resumed    map[string]*Entry // what interrupted scans have read since the previous scan, by path
	collectors []*collector      // at the beginning of the scan

	entries  []*Entry
	dirs     []access.ListedDir // of a layer whose headers name the files, or of a part
	parts    map[*Part][]access.ListedDir
	mu       sync.Mutex // guards problems, hidden and dirs: several goroutines load files
	problems []problem.Problem
	hidden   []Hidden

	exactCase  *atomic.Bool // a directory of the layer distinguishes letter case
	incomplete atomic.Bool  // a file could not be read, but a later scan may read the file
	refusal    atomic.Bool  // the filesystem refused a listed file, which may be readable later without another version
}

func newScan(ctx context.Context, x *Index, layer int, store view) *scan {
	l, state := &x.config.Layers[layer], &x.states[layer]
	s := &scan{
		Source: access.Source{Context: ctx, FS: store.fs, Remote: l.Store != nil,
			Reads: x.config.MaxReads, Opened: &x.filesRead, Look: x.config.look},
		index: x, config: &x.config, layer: layer, at: l,
		refused: store.refused, version: store.version, before: state.files, resumed: state.read,
		exactCase: new(atomic.Bool),
	}
	if !l.Fixed {
		s.Watch = x.watch
	}
	x.collecting.Lock()
	defer x.collecting.Unlock()
	s.collectors = slices.Clone(x.collectors)
	return s
}

// find returns the entry of a file from the previous scan, or from an interrupted scan
// since, or nil.
func (s *scan) find(file string) *Entry {
	if e := s.resumed[file]; e != nil && e.Part() == s.part {
		return e
	}
	return s.before.find(file, s.part)
}

// kept returns what this interrupted scan and the interrupted scans before have read.
func (s *scan) kept() map[string]*Entry {
	kept := maps.Clone(s.resumed)
	for _, e := range s.entries {
		if e.Broken() == nil && s.before.find(e.Path, e.Part()) != e {
			if kept == nil {
				kept = make(map[string]*Entry)
			}
			kept[e.Path] = e
		}
	}
	return kept
}

// result returns the result of the scan, or s.before if nothing has changed. The
// filesystem returns the files of a directory in any order. Therefore result
// compares without the order, and sorts only a new result.
func (s *scan) result() *layerFiles {
	same := s.before.read && len(s.entries) == len(s.before.entries) && s.plugins == s.before.plugins
	for _, e := range s.entries {
		same = same && s.before.find(e.Path, e.Part()) == e
	}
	slices.SortFunc(s.problems, problem.Compare)
	slices.SortFunc(s.hidden, func(a, b Hidden) int {
		return cmp.Or(strings.Compare(a.Reason, b.Reason), strings.Compare(a.prefix, b.prefix))
	})
	if same && slices.Equal(s.problems, s.before.problems) &&
		slices.EqualFunc(s.hidden, s.before.hidden, Hidden.same) {
		return s.before
	}
	slices.SortFunc(s.entries, func(a, b *Entry) int {
		return s.config.comparePrecedence(s.plugins, a, b)
	})
	files := newLayerFiles(s.entries, s.problems)
	files.plugins, files.hidden = s.plugins, s.hidden
	return files
}

// comparePrecedence orders the files of one layer. A plugin precedes the later plugins. The first
// of the files with the same name claims the name. ".md" precedes ".MD". A skill precedes the
// skills of deeper directories.
func (c *Config) comparePrecedence(plugins *pluginParts, a, b *Entry) int {
	if order := plugins.compare(a.Part(), b.Part()); order != 0 {
		return order
	}
	if c.layerOf(a).Depth > 1 {
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

// place returns the path of a file for problems.
func (s *scan) place(elem ...string) string {
	return s.config.place(s.layer, path.Join(elem...))
}

// warn reports a problem of a file or a directory.
func (s *scan) warn(code problem.Code, file, message, suggestion string) {
	s.report(problem.Problem{Code: code, Severity: problem.Warning, Path: s.place(file),
		Message: message, Suggestion: suggestion})
}

// fail reports a file or a directory that the scan cannot list.
func (s *scan) fail(code problem.Code, file, message, suggestion string) {
	s.report(problem.Problem{Code: code, Severity: problem.Error, Path: s.place(file),
		Message: message, Suggestion: suggestion})
}

func (s *scan) report(p problem.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, p)
}

// A Hidden is a file or a directory that a scan could not read, and that can have entries with
// unknown names.
type Hidden struct {
	Reason string // with the place and the next step
	Err    error

	layer        int
	prefix, bare string // of the names; bare without the name of the plugin
	known        bool   // the snapshot has the previous entries
}

// canHave reports whether an entry of the file can have a name.
func (h *Hidden) canHave(name string) bool {
	return strings.HasPrefix(name, h.prefix) || strings.HasPrefix(name, h.bare)
}

func (h Hidden) same(other Hidden) bool {
	return h.Reason == other.Reason && h.prefix == other.prefix && h.known == other.known
}

// hidden returns what an error hides.
func (c *Config) hidden(layer int, file string, err error) Hidden {
	return Hidden{layer: layer, Err: err, Reason: strconv.Quote(c.place(layer, file)) +
		" cannot be read (" + escape.Reason(err) + "); " + c.Layers[layer].ReadAdvice(err)}
}

// HiddenBy returns the file of an entry with Entry.Unread.
func (x *Index) HiddenBy(e *Entry) *Hidden {
	h := x.config.hidden(e.Layer(), e.Spelled(), e.Unread())
	return &h
}

// hide records a file or a directory that can have entries whose names begin with prefix, unless
// err is a defect of the file.
func (s *scan) hide(file, prefix string, known bool, err error) {
	if !IsFault(err) {
		return
	}
	h := s.config.hidden(s.layer, file, err)
	h.prefix, h.bare, h.known = prefix, prefix, known
	if s.part != nil {
		h.bare = strings.TrimPrefix(prefix, s.part.Prefix)
	}
	s.Unsettled.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = append(s.hidden, h)
}

// unlisted reports a directory whose files cannot be listed, and whose names begin with prefix. If
// a store has failed, unlisted adds the previous entries below the directory; see keepBelow.
func (s *scan) unlisted(dirPath, prefix, files string, at func(file string) string, err error) {
	known := s.failed(err, false) && s.keepBelow(dirPath, at)
	s.hide(dirPath, prefix, known, err)
	if known {
		s.reportFailure(dirPath, err)
		return
	}
	s.fail(problem.DirectoryUnreadable, dirPath,
		"the "+files+" in the directory are not listed: "+access.Unreadable(err),
		"check the type and the permissions of the directory")
}

// reportDir reports a directory that has the name of a file.
func (s *scan) reportDir(file string) {
	s.warn(problem.NotAFile, file, "not listed: a directory has the name of a Markdown file",
		"rename the directory")
}

// Two open directories have equal identities if they are the same directory. An
// identity is the device and inode numbers or, on a filesystem without these
// numbers, the path without links.
type identity struct {
	dev, ino uint64
	path     string
}

func identify(dir *confine.Dir, info confine.Info) identity {
	if info.Ino != 0 {
		return identity{dev: info.Dev, ino: info.Ino}
	}
	return identity{path: dir.RealPath()}
}

// A child is an entry of a directory.
type child struct {
	path  string      // below the layer's filesystem
	dir   uint32      // length of the path of the directory, with the slash
	typ   fs.FileMode // type bits, or confine.TypeUnknown
	known *Entry      // entry of this file from the previous scan
}

func (c child) name() string { return c.path[c.dir:] }

// children returns the entries of a directory without the hidden names.
// children allocates no names of files that the previous scan has found.
func (s *scan) children(dir *confine.Dir, dirPath string) ([]child, error) {
	prefix := dirPath + "/"
	if dirPath == "." {
		prefix = ""
	}
	var all []child
	if s.part == nil {
		all = make([]child, 0, len(s.before.entries))
	}
	file := []byte(prefix)
	err := dir.EachBytes(s.Context, func(name []byte, typ fs.FileMode) error {
		if name[0] == '.' {
			return nil
		}
		if n := len(all); n == cap(all) && n > 256 { // append would grow by a quarter only
			all = slices.Grow(all, n)
		}
		file = append(file[:len(prefix)], name...)
		if known := s.find(unsafe.String(&file[0], len(file))); known != nil {
			all = append(all, child{known.Path, uint32(len(prefix)), typ, known})
		} else {
			all = append(all, child{string(file), uint32(len(prefix)), typ, nil})
		}
		return nil
	})
	return all, err
}

// hidden reports whether the error of a stat hides the type of a child. The open of the child
// reports the failure.
func (c child) hidden(err error) bool { return c.typ != fs.ModeDir && err != nil && IsFault(err) }

// isDir reports whether a child is a directory, or a link to a directory that
// the policy allows the scan to follow.
func (s *scan) isDir(c child) bool {
	isDir, err := s.stat(c)
	return isDir || c.hidden(err)
}

// stat is isDir, with the error of a stat, which only a link and an unknown type need.
func (s *scan) stat(c child) (isDir bool, err error) {
	switch c.typ {
	case fs.ModeDir:
		return true, nil
	case fs.ModeSymlink, confine.TypeUnknown:
		info, err := s.FS.Info(c.path)
		if err != nil || c.typ == fs.ModeSymlink {
			s.FollowedLink()
		}
		return err == nil && info.Mode.IsDir(), err
	}
	return false, nil
}

// linkProblem describes a link that the scan cannot follow. Broken links, cyclic
// links and links out of the root have the same message, because a problem must
// not reveal the files outside the root.
func (s *scan) linkProblem(file string, err error) problem.Problem {
	message := "not listed: the link is broken, cyclic, or leads outside the root"
	if s.part != nil {
		message = "not listed: the link is broken, cyclic, or leads outside the plugin"
	}
	if errors.Is(err, confine.ErrSymlink) {
		message = "not listed: links are not followed"
	}
	return problem.Problem{Code: problem.LinkNotFollowed, Severity: problem.Error, Path: s.place(file),
		Message: message, Suggestion: "replace the link by the file, or let the program follow links"}
}
