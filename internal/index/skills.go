package index

import (
	"errors"
	"io/fs"
	"path"

	"github.com/toolshelf-go/toolshelf/internal/confine"
)

// ErrNoSkillFile is the Broken of a folder that has no SKILL.md.
var ErrNoSkillFile = errors.New("no SKILL.md")

// skillFiles are the names of a skill's file, preferred first.
var skillFiles = [...]string{"SKILL.md", "skill.md"}

func scanSkills(s *scan, dir *confine.Dir, dirPath string) (*found, error) {
	children, err := s.children(dir, dirPath)
	if err != nil {
		return nil, err
	}
	entries := make([]*Entry, len(children))
	links := make([]error, len(children))
	err = each(s.ctx, len(children), func(i int) {
		if LooseName(children[i].name) {
			entries[i], links[i] = s.skill(dir, dirPath, children[i])
		}
	})
	if err != nil {
		return nil, err
	}
	for i, c := range children {
		switch {
		case entries[i] != nil:
			s.entries = append(s.entries, entries[i])
		case links[i] != nil:
			s.report(s.linkProblem(path.Join(dirPath, c.name), links[i]))
		case !LooseName(c.name) && s.isFolder(dirPath, c):
			s.report(Problem{Code: "INVALID_SKILL_NAME", Severity: Error, Path: s.place(dirPath, c.name),
				Message: "not listed: the folder's name is not one safe path element", Suggestion: "rename the folder"})
		}
	}
	return s.result(), nil
}

// skill returns the entry of one subfolder, whether or not it has a usable
// SKILL.md; nil if the child is no folder, with an error if it is a link that
// is not followed.
func (s *scan) skill(parent *confine.Dir, parentPath string, c child) (*Entry, error) {
	dirPath := path.Join(parentPath, c.name)
	switch c.typ {
	case fs.ModeDir:
	case fs.ModeSymlink, confine.TypeUnknown:
		info, err := s.fs.Stat(dirPath)
		if err != nil || c.typ == fs.ModeSymlink {
			s.throughLink()
		}
		if err != nil || !info.Mode.IsDir() {
			return nil, err
		}
	default:
		return nil, nil
	}
	s.visit(dirPath)
	dir, err := parent.OpenDir(c.name)
	if errors.Is(err, confine.ErrSymlink) {
		s.throughLink()
		dir, err = s.fs.OpenDir(dirPath)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // vanished meanwhile
	}
	file := path.Join(dirPath, skillFiles[0])
	if err != nil {
		return s.unreadable(s.before.byPath[file], file, c.name, confine.Info{}, err), nil
	}
	defer dir.Close()
	for _, name := range skillFiles {
		file := path.Join(dirPath, name)
		if e := s.load(dir, name, confine.TypeUnknown, file, c.name, s.before.byPath[file]); e != nil {
			return e, nil
		}
	}
	return s.broken(s.before.byPath[file], file, c.name, confine.Info{}, ErrNoSkillFile, Problem{
		Code: "SKILL_FILE_MISSING", Severity: Error, Path: s.place(file),
		Message:    "the folder has no SKILL.md",
		Suggestion: "add one that begins with a frontmatter of name and description",
	}), nil
}
