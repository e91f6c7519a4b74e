package index

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// MaxDepth limits the levels of nested command directories. The limit also ends
// a cycle of links on a filesystem that hides links.
const MaxDepth = 16

// scanFiles adds the files of a layer, such as commands.
func scanFiles(s *scan, dir *confine.Dir, dirPath string) error {
	return s.files(dir, dirPath, s.at.Prefix, []identity{s.enter(dir, dirPath)})
}

// files adds the files of one directory and, with Layer.Nested, of
// the subdirectories. The names begin with prefix. The slice above
// identifies the directories from the layer's directory down to this directory.
func (s *scan) files(dir *confine.Dir, dirPath, prefix string, above []identity) error {
	children, err := s.children(dir, dirPath)
	if err != nil {
		return err
	}
	if s.ownedByOther(dirPath, children) {
		return nil
	}
	files, dirs := s.split(children)
	entries := make([]*Entry, len(files))
	err = parallel.Each(s.Context, s.Reads, len(files), func(i int) {
		entries[i] = s.file(dir, prefix, files[i])
	})
	s.entries = slices.Grow(s.entries, len(entries))
	for _, e := range entries {
		if e != nil {
			s.entries = append(s.entries, e)
		}
	}
	for i := 0; i < len(dirs) && err == nil; i++ {
		err = s.subdirectory(dir, prefix, dirs[i], above)
	}
	return err
}

// ownedByOther reports whether a directory is a skill, to which the files of the directory belong.
func (s *scan) ownedByOther(dirPath string, children []child) bool {
	return s.config.kind.header && !s.config.kind.every && dirPath != s.at.Dir &&
		slices.ContainsFunc(skilldir.Names[:], func(base string) bool {
			return s.ownFile(children, base) >= 0
		})
}

// split returns the files of the layer in a directory, and the directories to read.
func (s *scan) split(children []child) (files, dirs []child) {
	l, kind := s.at, &s.config.kind
	files = children[:0]
	for _, c := range children {
		name := c.name()
		stem, ok := l.Stem(name)
		switch {
		case l.Only != "" && name != l.Only:
		case c.known != nil:
			files = append(files, c)
		case !kind.every && strings.EqualFold(name, "README.md"):
		case !kind.every && kind.header && slices.Contains(skilldir.Names[:], name):
		case ok && c.typ == fs.ModeDir:
			s.reportDir(c.path)
		case ok && !s.valid(stem) && l.Names != client.OnlyHeader:
			s.reportName(c.path, names.PlainSpelling(stem)+cmp.Or(l.Suffix, ".md"))
		case ok:
			files = append(files, c)
		case l.Nested && s.isDir(c):
			dirs = append(dirs, c)
		}
	}
	return files, dirs
}

// listed has the directories of a layer whose headers name the files, or of each part of a layer
// with plugins. No file has been added while the directories are unchanged. Without directories, a
// new file, or a change of a file, could go unnoticed.
type listed struct {
	files   *layerFiles // the result of the scan
	dirs    []access.ListedDir
	parts   map[*Part][]access.ListedDir
	checked atomic.Pointer[time.Time] // see largeLayer
}

// recent reports whether a call has looked at all files less than checkInterval ago.
func (l *listed) recent(now time.Time) bool {
	checked := l.checked.Load()
	return checked != nil && now.Sub(*checked) < checkInterval
}

// enter identifies a directory of files before the scan lists the directory, and adds the directory
// to scan.dirs, if necessary.
func (s *scan) enter(dir *confine.Dir, dirPath string) identity {
	var info confine.Info
	switch {
	case s.at.Names != client.FromPath || s.part != nil:
		info = s.listing(dirPath, dir.Info)
	case s.at.Nested:
		info, _ = dir.Info()
	default:
		return identity{}
	}
	return identify(dir, info)
}

// listing adds a directory to scan.dirs, and returns the metadata, if available.
func (s *scan) listing(dirPath string, stat func() (confine.Info, error)) confine.Info {
	now := time.Now()
	info, err := stat()
	if err != nil || !stamp.Settled(info, now) {
		s.Unsettled.Store(true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs = append(s.dirs, access.ListedDir{Path: dirPath, Stamp: stamp.Of(info)})
	return info
}

// listed returns the directories of the scan.
func (s *scan) listed(files *layerFiles) *listed {
	if s.provesNothing(files.entries) {
		s.dirs = nil
	}
	return &listed{files: files, dirs: s.dirs, parts: s.parts}
}

// provesNothing reports whether a later change of the entries, or a new file, could go unnoticed
// although the metadata of the files and of s.dirs stays the same.
func (s *scan) provesNothing(entries []*Entry) bool {
	return s.Unsettled.Load() || slices.ContainsFunc(entries, func(e *Entry) bool {
		return !isBare(e) && (e.unread() || !e.settled)
	})
}

// file returns the entry of one file, or nil if the file has vanished.
func (s *scan) file(dir *confine.Dir, prefix string, c child) *Entry {
	l := s.at
	f := source{dir: dir, base: c.name(), typ: c.typ, known: c.known, file: c.path}
	if c.known != nil && l.Names == client.FromPath {
		f.name = c.known.Name
		return s.load(f)
	}
	stem, _ := l.Stem(f.base)
	f.name = prefix + stem
	return s.load(f)
}

// valid reports whether a file, or a directory of files, may have a name.
func (s *scan) valid(name string) bool {
	return s.config.Valid(name) || s.at.Loose && names.Loose(name)
}

// Stem returns the part of a file name that is the name of a command, and whether the file can be a
// command.
func (l Layer) Stem(name string) (string, bool) {
	if l.Suffix == "" {
		return names.TrimMarkdown(name)
	}
	return strings.CutSuffix(name, l.Suffix)
}

// ErrNotListed is Entry.Broken for a file without the header that its layer requires. The entry
// claims no name.
var ErrNotListed = errors.New("the file lacks a field of the frontmatter")

// named returns the name of an entry by the rule of the layer. The argument is the name that the
// path gives. If the header lacks a required field, named returns the problem.
func (s *scan) named(doc matter.Document, f source) (string, *problem.Problem) {
	l, name := s.at, f.name
	missing := ""
	if l.Names != client.FromPath {
		declared, _ := doc.Get(nameKey)
		if s.valid(declared.String()) {
			prefix := l.Prefix
			if stem, ok := l.Stem(f.base); ok && l.Subdirs {
				prefix = strings.TrimSuffix(name, stem)
			}
			return prefix + strings.Clone(declared.String()), nil
		}
		if l.Names == client.OnlyHeader {
			missing = "a valid name"
			if declared.Kind < matter.Sequence && strings.TrimSpace(declared.String()) != "" {
				p := s.config.kind.invalidName
				p.Severity, p.Key, p.Suggestion = problem.Error, nameKey, "write another name in the frontmatter"
				return name, &p
			}
		}
	}
	if missing == "" && s.config.kind.described && l.Files && !describesSkill(doc.Frontmatter) {
		missing = "a description"
	}
	if missing == "" {
		return name, nil
	}
	return name, &problem.Problem{Code: problem.FrontmatterRequired, Severity: problem.Warning,
		Message:    "not listed: the frontmatter has no " + strings.TrimPrefix(missing, "a "),
		Suggestion: "add " + missing + " to the frontmatter, or move the file away"}
}

// subdirectory adds the commands of a subdirectory. The error is not nil only if
// s.Context has ended: a problem with one directory does not affect the others.
func (s *scan) subdirectory(parent *confine.Dir, prefix string, c child, above []identity) error {
	dirPath, name := c.path, c.name()
	if !s.valid(name) {
		s.reportName(dirPath, names.PlainSpelling(name))
		return nil
	}
	if len(above) > MaxDepth {
		s.warn(problem.TooDeep, dirPath,
			"not listed: subdirectories are limited to 16 levels of directories",
			"move the directory to a higher level")
		return nil
	}
	if s.at.Names == client.FromPath || s.at.Subdirs {
		prefix += name + ":"
	}
	dir, err := parent.OpenDir(name)
	if errors.Is(err, confine.ErrSymlink) {
		s.FollowedLink()
		dir, err = s.FS.OpenDir(dirPath)
	}
	if err == nil {
		defer dir.Close()
		id := s.enter(dir, dirPath)
		if slices.Contains(above, id) {
			s.warn(problem.LinkNotFollowed, dirPath,
				"not listed: the link leads to a directory that contains the link",
				"remove the link")
			return nil
		}
		s.Visit(dirPath)
		err = s.files(dir, dirPath, prefix, append(above, id))
	}
	if err != nil {
		s.Unsettled.Store(true)
	}
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist): // vanished during the scan
	case s.Context.Err() != nil:
		return s.Context.Err()
	default:
		s.unlisted(dirPath, prefix, "files", path.Clean, err)
	}
	return nil
}

// reportName reports a file or directory with an invalid name. The suggestion is a valid name.
func (s *scan) reportName(file, suggestion string) {
	p := s.config.kind.invalidName
	p.Severity, p.Path = problem.Error, s.place(file)
	p.Suggestion = strings.ReplaceAll(p.Suggestion, "%s", `"`+suggestion+`"`)
	s.report(p)
}
