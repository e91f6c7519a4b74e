package index

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// ErrNoSkillFile is Entry.Broken for a directory without a SKILL.md.
var ErrNoSkillFile = errors.New("no SKILL.md")

// scanSkills lists the subdirectories of a layer. The layer is a skill itself
// only if no direct subdirectory has a SKILL.md.
func scanSkills(s *scan, dir *confine.Dir, dirPath string) error {
	if s.at.Files {
		return scanFiles(s, dir, dirPath)
	}
	if s.part != nil {
		s.listing(dirPath, dir.Info)
	}
	children, err := s.children(dir, dirPath)
	if err != nil {
		return err
	}
	if s.at.Own == OwnFirst || s.at.Own == OwnOnly {
		if own := s.ownSkill(dir, dirPath, children); own != nil {
			s.entries = []*Entry{own}
		}
		if len(s.entries) > 0 || s.at.Own == OwnOnly {
			return nil
		}
	}
	if s.entries, err = s.skills(dir, children); err != nil {
		return err
	}
	var own *Entry
	switch {
	case s.at.Own == OwnNever:
		s.reportOwnFile(dirPath, children, "only subdirectories are skills of the plugin")
	case s.at.Own == OwnAlone && slices.ContainsFunc(s.entries, hasSkillFile):
		s.reportOwnFile(dirPath, children, "subdirectories contain skills, and therefore the directory is not a skill")
	case s.at.Own == OwnAlone:
		own = s.ownSkill(dir, dirPath, children)
	}
	if s.at.Depth > 1 {
		if err := s.nestedSkills(dir, dirPath); err != nil {
			return err
		}
	}
	if own != nil {
		// The directories without a SKILL.md hold files of this skill.
		s.entries = slices.DeleteFunc(s.entries, func(e *Entry) bool { return !hasSkillFile(e) })
		s.entries = append(s.entries, own)
	}
	return nil
}

// isBare reports whether the entry is a directory without a SKILL.md.
func isBare(e *Entry) bool { return e.Broken() == ErrNoSkillFile }

// hasSkillFile reports whether the directory of an entry has a SKILL.md.
func hasSkillFile(e *Entry) bool { return !isBare(e) && !unopened(e) }

// A dirError is Entry.Broken for a directory that cannot be opened.
type dirError struct{ error }

func (e dirError) Unwrap() error { return e.error }

// unopened reports whether the directory of an entry cannot be opened.
func unopened(e *Entry) bool {
	_, ok := e.Broken().(dirError)
	return ok
}

// ownFile returns the index of a layer's own SKILL.md, or -1.
func (s *scan) ownFile(children []child, base string) int {
	return slices.IndexFunc(children, func(c child) bool { return c.name() == base && !s.isDir(c) })
}

// reportOwnFile reports the SKILL.md of a layer that is no skill itself.
func (s *scan) reportOwnFile(dirPath string, children []child, reason string) {
	for _, base := range skilldir.Names {
		if s.ownFile(children, base) >= 0 {
			s.warn(problem.SkillFileUnused, access.Below(dirPath, base), "not listed: "+reason,
				"move the file to a subdirectory")
			return
		}
	}
}

// ownSkill returns the entry of a layer that is a skill itself, or nil. A
// SKILL.md without a name and a description does not make the layer a skill.
func (s *scan) ownSkill(dir *confine.Dir, dirPath string, children []child) *Entry {
	for _, base := range skilldir.Names {
		i := s.ownFile(children, base)
		if i < 0 {
			continue
		}
		l := s.at
		known := children[i].known
		e := s.load(source{dir: dir, base: base, typ: children[i].typ, known: known,
			file: children[i].path, name: l.Prefix + l.skillName(matter.Frontmatter{})})
		if e == nil {
			continue
		}
		if !describesSkill(e.Header()) || e.unread() {
			s.problems = append(s.problems, e.Problems()...)
			if e.unread() {
				s.hide(e.Path, l.Prefix, false, e.Broken())
			} else {
				s.fail(problem.SkillDescriptionMissing, access.Below(dirPath, base),
					"the directory is not a skill, because the file has neither name nor description; "+
						"the subdirectories are listed",
					"remove the file, or add a name and a description")
			}
			continue
		}
		if e != known && l.Names == client.FromPath {
			e.Name = l.Prefix + l.skillName(e.Header())
		}
		return s.sealDirectory(e, known, dir, dirPath)
	}
	return nil
}

// describesSkill reports whether the header of a SKILL.md has a name or a description.
func describesSkill(header matter.Frontmatter) bool {
	return slices.ContainsFunc([]string{"name", "description"}, func(key string) bool {
		v, _ := header.Get(key)
		return strings.TrimSpace(v.String()) != ""
	})
}

// skillName returns the name of a layer that is a skill itself: the name of its directory. If
// a skill cannot have this name, as at the top of an fs.FS, skillName returns the name in the
// header, or else the name of the layer, or else "skill".
func (l Layer) skillName(header matter.Frontmatter) string {
	declared, _ := header.Get("name")
	for _, name := range []string{l.dirName(), declared.String(), l.Name} {
		if names.Loose(name) {
			return name
		}
	}
	return "skill"
}

// dirName returns the name of the layer's directory.
func (l Layer) dirName() string { return path.Base(filepath.ToSlash(l.FS.Path(l.Dir))) }

// skills returns an entry for each child that is a directory, with or without a
// usable SKILL.md. If s.Context ends, skills returns the entries so far, and the error.
func (s *scan) skills(dir *confine.Dir, children []child) ([]*Entry, error) {
	entries := make([]*Entry, len(children))
	links := make([]error, len(children))
	err := parallel.Each(s.Context, s.Reads, len(children), func(i int) {
		if name := children[i].name(); names.Loose(name) && !skilldir.Skipped(name) {
			entries[i], links[i] = s.skill(dir, children[i])
		}
	})
	if err != nil {
		return slices.DeleteFunc(entries, func(e *Entry) bool { return e == nil }), err
	}
	for i, c := range children {
		switch {
		case links[i] != nil:
			s.report(s.linkProblem(c.path, links[i]))
		case !names.Loose(c.name()) && s.isDir(c):
			s.fail(problem.InvalidSkillName, c.path,
				"not listed: the directory name is not a safe path element", "rename the directory")
		}
	}
	return slices.DeleteFunc(entries, func(e *Entry) bool { return e == nil }), nil
}

// skill returns the entry of one subdirectory, with or without a usable
// SKILL.md. If the child is not a directory, the entry is nil. If the child is a
// link that the scan cannot follow, the entry is nil, and skill returns the error
// of the link.
func (s *scan) skill(parent *confine.Dir, c child) (*Entry, error) {
	dirPath, name := c.path, c.name()
	isDir, err := s.stat(c)
	switch {
	case c.hidden(err):
		return s.unopened(dirPath, name, err), nil
	case !isDir:
		return nil, err
	}
	s.Visit(dirPath)
	near := c.typ == fs.ModeDir && !s.at.Sealed && s.at.Store == nil
	first := s.skillSource(parent, dirPath, skilldir.Names[0], name)
	first.subdirectory = name
	if e := s.loadShut(parent, c, first, near); e != nil {
		return e, nil
	}
	dir, err := parent.OpenDir(name)
	if near && errors.Is(err, fs.ErrPermission) { // the file may be readable all the same
		if e := s.readBelow(first); e != nil {
			return e, nil
		}
	}
	if errors.Is(err, confine.ErrSymlink) {
		s.FollowedLink()
		dir, err = s.FS.OpenDir(dirPath)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // vanished during the scan
	case err != nil:
		return s.unopened(dirPath, name, err), nil
	}
	defer dir.Close()
	first.dir, first.subdirectory = dir, ""
	return s.loadIn(first, dirPath, name), nil
}

// loadShut returns the entry of a skill that needs no open directory, or nil: usually of a new
// skill, and of an unchanged skill of a sealed layer.
func (s *scan) loadShut(parent *confine.Dir, c child, first source, near bool) *Entry {
	known, name := first.known, c.name()
	if near && known == nil && s.exactCase.Load() {
		if s.part != nil {
			s.listing(c.path, func() (confine.Info, error) { return parent.Lstat(name) })
		}
		return s.readBelow(first)
	}
	if s.at.Sealed && c.typ == fs.ModeDir && s.part == nil && known != nil && known.Broken() == nil &&
		s.isCurrent(known, known.Stamp) && known.Stamp.IsOf(parent, access.Below(name, first.base)) &&
		s.sameFiles(known, parent, name) {
		return known
	}
	return nil
}

// readBelow returns the entry of a SKILL.md in a directory that is not open, or nil.
func (s *scan) readBelow(f source) *Entry {
	e, err := s.read(f)
	if err != nil || e.Stamp.Size > s.config.MaxFileSize {
		return nil
	}
	return keep(f.known, e)
}

// unopened returns the entry of a directory that cannot be opened.
func (s *scan) unopened(dirPath, name string, err error) *Entry {
	return s.unread(s.skillSource(nil, dirPath, skilldir.Names[0], name), dirError{err})
}

// loadIn returns the entry of an open directory, or nil for a plugin. The argument first is the
// SKILL.md with the preferred name.
func (s *scan) loadIn(first source, dirPath, name string) *Entry {
	if s.part != nil {
		s.listing(dirPath, first.dir.Info)
	}
	for i, base := range skilldir.Names {
		f := first
		if i > 0 {
			f = s.skillSource(first.dir, dirPath, base, name)
		}
		if e := s.load(f); e != nil {
			if e != f.known {
				s.spell(e, f.dir, base)
			}
			return s.sealDirectory(e, f.known, f.dir, dirPath)
		}
	}
	if s.at.manifest != "" && s.part == nil {
		if _, err := s.FS.Info(access.Below(dirPath, s.at.manifest)); err == nil {
			return nil
		}
	}
	return s.broken(first, ErrNoSkillFile, problem.Problem{
		Code: problem.SkillFileMissing, Severity: problem.Error, Path: s.place(first.file),
		Message:    "the directory has no SKILL.md",
		Suggestion: "add a SKILL.md with a name and a description in the frontmatter",
	})
}

func (s *scan) skillSource(dir *confine.Dir, dirPath, base, name string) source {
	file := access.Below(dirPath, base)
	return source{dir: dir, base: base, file: file, name: s.at.Prefix + name, known: s.find(file)}
}

// oddSkillFile is a spelling of SKILL.md that only a filesystem that ignores letter case finds.
const oddSkillFile = "sKILL.md"

// seenBySpelling reports whether the scan has reported a directory skill.md as SKILL.md, on a
// filesystem that ignores letter case.
func (s *scan) seenBySpelling(f source) bool {
	if f.base != skilldir.Names[1] {
		return false
	}
	_, err := f.dir.Lstat(oddSkillFile)
	return err == nil
}

// spell gives a new entry the spelling of its file in the directory. On a filesystem that ignores
// letter case, the directory can spell the name differently.
func (s *scan) spell(e *Entry, dir *confine.Dir, name string) {
	if s.at.Store != nil || s.exactCase.Load() {
		return // a store distinguishes letter case, and a look costs a request
	}
	if _, err := dir.Lstat(oddSkillFile); err != nil {
		s.exactCase.Store(true) // a layer is usually on one filesystem
		return
	}
	spelled := name
	err := dir.Each(s.Context, func(other string, _ fs.FileMode) error {
		if other == name {
			return fs.SkipAll
		}
		if skilldir.SameLetters(other, name) {
			spelled = other
		}
		return nil
	})
	if err != nil || spelled == name {
		return
	}
	d := e.set()
	d.spelled = access.Below(path.Dir(e.Path), spelled)
	for i := range d.problems {
		d.problems[i].Path = s.place(d.spelled)
	}
}
