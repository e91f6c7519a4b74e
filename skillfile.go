package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// ReadSkillFile returns a file of a skill, to the byte. The path is relative
// to the skill's folder, with slashes, as in Skill.Files: any regular file
// below the folder is served, listed or not, and nothing else. Links are
// followed as for Files; a SKILL.md that is a link is served as ListSkills
// reads it.
//
// A path that leads out of the folder, by "..", as an absolute path or by a
// link, is ErrOutsideRoot, the same whether or not something is there, and so
// is a link that is not followed. ErrNotFound is for a file that is not there,
// also for a path that no file can have. ErrFileRead is for what is there and
// cannot be read, or is no file: a folder, a pipe. ErrFileTooLarge is for more
// bytes than WithMaxFileSize allows. For the errors of the name see GetSkill.
//
// Nothing of the file is kept in memory. Where there is a filter, the SKILL.md is
// looked at too, before and after.
func (c *Catalog) ReadSkillFile(ctx context.Context, skill, path string) ([]byte, error) {
	const op = "ReadSkillFile"
	return withSkill(ctx, c, op, skill, func(_ context.Context, s *index.Snapshot, e *index.Entry, seen *states) ([]byte, error) {
		folder, err := c.skills.OpenSkill(e)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		// The filter may be one that a change just now makes it refuse: it is asked
		// about the SKILL.md as it is before and after.
		if err := c.addState(folder, s, e, seen); err != nil {
			return nil, err
		}
		name, err := skillFileName(path)
		var raw []byte
		if err == nil {
			raw, err = c.readSkillFile(folder, name)
		}
		if err != nil {
			return nil, c.skillFileError(op, skill, path, err)
		}
		if err := c.addState(folder, s, e, seen); err != nil {
			return nil, err
		}
		return raw, nil
	})
}

// addState reads the description of a skill for the filter.
func (c *Catalog) addState(folder *index.SkillFolder, s *index.Snapshot, e *index.Entry, seen *states) error {
	if !c.skillFilter.filters() {
		return nil
	}
	text, _, err := c.skillText(folder, e)
	if err != nil {
		return err
	}
	c.add(seen, func() SkillInfo { return c.skillNow(s, e, text) })
	return nil
}

// skillFileName turns a path as a caller gives it into a name below the skill's
// folder, by its text alone.
func skillFileName(given string) (string, error) {
	name := given
	if runtime.GOOS == "windows" {
		name = filepath.ToSlash(name)
	}
	if path.IsAbs(name) || filepath.VolumeName(given) != "" {
		return "", confine.ErrEscape
	}
	name = path.Clean(name)
	switch {
	case name == ".." || strings.HasPrefix(name, "../"):
		return "", confine.ErrEscape
	case name == "." || strings.HasSuffix(given, "/"):
		return "", confine.ErrNotRegular
	}
	return name, nil
}

func (c *Catalog) readSkillFile(folder *index.SkillFolder, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return c.readOpen(f)
}

// skillFileError says why a file of a skill cannot be had.
func (c *Catalog) skillFileError(op, skill, given string, err error) error {
	e := &Error{Code: ErrFileRead.Code, Op: op, Path: given, Err: err,
		Message: "the file " + quote(given) + " of skill " + quote(skill) + " cannot be read (" + escape.Reason(err) + ")"}
	switch {
	case errors.Is(err, fs.ErrClosed) && c.closed():
		return closedMeanwhile(op)
	case errors.Is(err, index.ErrTooLarge):
		e.Code, e.Message = ErrFileTooLarge.Code, "the file "+quote(given)+" of skill "+quote(skill)+" is larger than allowed; raise the limit with WithMaxFileSize"
	case errors.Is(err, confine.ErrEscape):
		// The cause might tell one case from another.
		e.Code, e.Message, e.Err = ErrOutsideRoot.Code, "the path "+quote(given)+" leads out of the folder of skill "+quote(skill)+"; use a path relative to it", nil
	case errors.Is(err, confine.ErrSymlink):
		e.Code, e.Message = ErrOutsideRoot.Code, "the path "+quote(given)+" in skill "+quote(skill)+" leads through a symbolic link, which is not followed"
	case errors.Is(err, confine.ErrNotRegular):
		e.Message = "what is at " + quote(given) + " in skill " + quote(skill) + " is no file; use a path of its list of files"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, confine.ErrNotDir), errors.Is(err, syscall.ENAMETOOLONG):
		e.Code, e.Message = ErrNotFound.Code, "skill "+quote(skill)+" has no file "+quote(given)+"; use a path of its list of files"
	}
	return e
}
