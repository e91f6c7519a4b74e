package index

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// maxDirs is the number of directories without a SKILL.md that the search for
// skills below the first level of a layer visits. The guide for clients of the
// Agent Skills format recommends a limit.
const maxDirs = 2000

// nestedSkills searches for skills below the subdirectories of a layer, level by level
// and in path order. Therefore the same files always give the same skills.
//
// A directory without a SKILL.md may hold skills at any level. A directory with
// a SKILL.md holds skills only in its direct subdirectories; the other
// subdirectories belong to the skill. If a subdirectory of the layer has no
// SKILL.md and holds skills, nestedSkills removes the entry of the subdirectory.
func (s *scan) nestedSkills(dir *confine.Dir, top string) error {
	left := maxDirs
	seen := s.above(dir, top)
	level := slices.Clone(s.entries)
	for depth := 2; depth <= s.at.Depth; depth++ {
		level = slices.DeleteFunc(level, unopened)
		slices.SortFunc(level, func(a, b *Entry) int { return strings.Compare(a.Path, b.Path) })
		var next []*Entry
		for _, e := range level {
			within := skilldir.MaxWithin
			budget := &left
			if hasSkillFile(e) {
				budget = &within
			}
			found, err := s.skillsIn(path.Dir(e.Path), hasSkillFile(e), budget, seen)
			if err != nil {
				return err
			}
			next = append(next, found...)
		}
		for _, e := range next {
			if !isBare(e) {
				s.entries = append(s.entries, e)
			}
		}
		level = next
	}
	parents := map[string]bool{} // subdirectories of the layer that are or hold skills
	for _, e := range s.entries {
		if !isBare(e) {
			parents[firstElement(top, e.Path)] = true
		}
	}
	s.entries = slices.DeleteFunc(s.entries, func(e *Entry) bool {
		return isBare(e) && parents[firstElement(top, e.Path)]
	})
	return nil
}

// above identifies a layer's directory and the directories that contain the
// layer's directory. A link to any of these leads back to the layer, or to a
// directory that is not a skill of the layer.
func (s *scan) above(dir *confine.Dir, top string) map[identity]bool {
	seen := map[identity]bool{}
	for id := (identity{path: dir.RealPath()}); !seen[id]; id.path = path.Dir(id.path) {
		seen[id] = true
	}
	for name := top; ; name = path.Dir(name) {
		if info, err := s.FS.Info(name); err == nil && info.Ino != 0 {
			seen[identity{dev: info.Dev, ino: info.Ino}] = true
		}
		if name == "." {
			return seen
		}
	}
}

// firstElement returns the first element of a path below the directory top.
func firstElement(top, file string) string {
	if top != "." {
		file = file[len(top)+1:]
	}
	first, _, _ := strings.Cut(file, "/")
	return first
}

// skillsIn returns the skills in a directory below a layer's subdirectories.
// Unless the directory is a skill, skillsIn also returns the directories without
// a SKILL.md. Each directory without a SKILL.md takes 1 from left. The error is
// the error of s.Context.
func (s *scan) skillsIn(dirPath string, isSkill bool, left *int, seen map[identity]bool) ([]*Entry, error) {
	if *left == 0 {
		return nil, nil
	}
	dir, err := s.FS.OpenDir(dirPath)
	if err != nil {
		return nil, s.reportUnsearched(dirPath, err)
	}
	defer dir.Close()
	info, _ := dir.Info()
	id := identify(dir, info)
	if seen[id] {
		if !isSkill {
			s.warn(problem.LinkNotFollowed, dirPath,
				"the skills in the directory are not listed: "+
					"a link leads to a directory that is already scanned",
				"remove the link")
		}
		return nil, nil
	}
	seen[id] = true
	children, err := s.children(dir, dirPath)
	if err != nil {
		return nil, s.reportUnsearched(dirPath, err)
	}
	if isSkill {
		// The search does not report problems with the files of a skill.
		children = slices.DeleteFunc(children, func(c child) bool {
			return !names.Loose(c.name()) || !s.isDir(c)
		})
	}
	slices.SortFunc(children, func(a, b child) int { return strings.Compare(a.path, b.path) })
	var entries []*Entry
	limit := *left
	for len(children) > 0 && *left > 0 {
		n := min(len(children), *left)
		some, err := s.skills(dir, children[:n])
		if err != nil {
			s.entries = append(s.entries, some...)
			return nil, err
		}
		for _, e := range some {
			if isBare(e) {
				*left--
			}
		}
		entries, children = append(entries, some...), children[n:]
	}
	if *left == 0 {
		message := fmt.Sprintf("the scan for skills is limited to %d directories; "+
			"skills in this and later directories may be missing", maxDirs)
		if isSkill {
			message = fmt.Sprintf("the scan for skills is limited to %d directories of a skill; "+
				"other skills in the directory are not listed", limit)
		}
		s.warn(problem.TooManyDirectories, dirPath, message,
			"move other directories away, or let the program read each directory of skills")
	}
	if isSkill {
		entries = slices.DeleteFunc(entries, func(e *Entry) bool { return !hasSkillFile(e) })
	}
	return entries, nil
}

// reportUnsearched reports a directory that cannot be searched, and returns the
// error of s.Context. If a store has failed, reportUnsearched adds the previous entries below
// the directory.
func (s *scan) reportUnsearched(dirPath string, err error) error {
	switch {
	case s.Context.Err() != nil, errors.Is(err, fs.ErrNotExist):
	default:
		s.unlisted(dirPath, s.at.Prefix, "skills", path.Dir, err)
	}
	return s.Context.Err()
}
