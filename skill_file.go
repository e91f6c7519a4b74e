package toolshelf

import (
	"bytes"
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

// ReadSkillFile returns the bytes of a file of a skill. The path is relative to
// the skill's directory, with slashes, as in Skill.Files. ReadSkillFile reads
// every regular file below the directory, listed or not, and nothing else. Links
// are followed as described at [Catalog.GetSkill]. A SKILL.md that is a link is
// followed as by ListSkills.
//
// ReadSkillFile returns [ErrOutsideRoot] if the path leads out of the directory,
// by "..", as an absolute path or by a link. The error does not depend on whether
// the path exists. A link that is not followed is also ErrOutsideRoot.
// ReadSkillFile returns [ErrNotFound] if the file does not exist or no file can
// have the path. ReadSkillFile returns [ErrFileRead] if the path exists but cannot
// be read, or is a directory, a pipe or another special file. ReadSkillFile
// returns [ErrFileTooLarge] if the file exceeds the limit of [WithMaxFileSize].
// [Catalog.GetSkill] describes the errors of the name.
//
// The file is not cached, except SKILL.md in a store with versions. With a filter, ReadSkillFile also checks SKILL.md before
// and after reading the file.
func (c *Catalog) ReadSkillFile(ctx context.Context, skill, path string) ([]byte, error) {
	const op = "ReadSkillFile"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	if err := c.checkSkillName(op, skill); err != nil {
		return nil, err
	}
	return skillLookup(c, op, skill, func(ctx context.Context, open *openSkill) ([]byte, error) {
		return readWithin(open, op, path, func() ([]byte, error) {
			return attempt(ctx, open, func() ([]byte, error) { return open.readPath(path) })
		})
	}).resolve(ctx)
}

// readWithin calls read, which reads the given path of the skill. A change during the
// call may make the filter refuse the skill, so readWithin records the state before and
// after the call.
func readWithin[T any](o *openSkill, op, given string, read func() (T, error)) (T, error) {
	var zero T
	if err := o.recordText(); err != nil {
		return zero, err
	}
	value, err := read()
	if err != nil {
		return zero, o.pathError(op, given, err)
	}
	if err := o.recordText(); err != nil {
		return zero, err
	}
	return value, nil
}

// recordText records the state that the current SKILL.md describes.
func (o *openSkill) recordText() error {
	if !o.skills.filter.active() {
		return nil
	}
	text, _, err := o.text(confine.Info{})
	if err != nil {
		return err
	}
	o.record(func() SkillInfo { return o.info(text) })
	return nil
}

// readPath reads the file at a caller's path.
func (o *openSkill) readPath(given string) ([]byte, error) {
	name, err := skillFileName(given)
	if err != nil {
		return nil, err
	}
	f, err := o.dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if name == path.Base(o.entry.Path) && f.Info().Version != "" {
		if text, ok := o.keptText(f.Info()); ok {
			return bytes.Clone(text.raw), nil
		}
	}
	return o.readOpen(f)
}

// skillFileName converts a caller's path to a name below the skill's directory,
// without access to the filesystem.
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

// pathError describes why a file of the skill cannot be read.
func (o *openSkill) pathError(op, given string, err error) error {
	skill := quote(o.entry.Name)
	e := &Error{Code: CodeFileRead, Op: op, Path: given, Err: err,
		Message: "cannot read the file " + quote(given) + " of skill " + skill + " (" + escape.Reason(err) + "); " + o.skills.Layer(o.entry.Layer()).ReadAdvice(err)}
	switch {
	case errors.Is(err, fs.ErrClosed) && o.sharedClosed():
		return closedMeanwhile(op)
	case errors.Is(err, index.ErrTooLarge):
		e.Code, e.Message = CodeFileTooLarge, "the file "+quote(given)+" of skill "+skill+" is larger than allowed; raise the limit with WithMaxFileSize"
	case errors.Is(err, confine.ErrEscape):
		// The cause could reveal whether the path exists.
		e.Code, e.Message, e.Err = CodeOutsideRoot, "the path "+quote(given)+" leads out of the directory of skill "+skill+"; use a path relative to the directory", nil
	case errors.Is(err, confine.ErrSymlink):
		e.Code, e.Message = CodeOutsideRoot, "the path "+quote(given)+" in skill "+skill+" contains a symbolic link that is not followed; use a path without links"
	case errors.Is(err, confine.ErrNotRegular):
		e.Message = "the path " + quote(given) + " in skill " + skill + " is not a file; use a path from the skill's list of files"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, confine.ErrNotDir), errors.Is(err, syscall.ENAMETOOLONG):
		e.Code, e.Message = CodeNotFound, "skill "+skill+" has no file "+quote(given)+"; use a path from the skill's list of files"
	}
	return e
}
