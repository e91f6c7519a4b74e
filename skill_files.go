package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/skill"
)

// ReadSkillFile returns the bytes of a file of a skill. The path is relative to the skill's
// directory, with slashes, as in Skill.Files. ReadSkillFile reads every regular file below the
// directory, listed or not, and nothing else, and follows the links of [Catalog.GetSkill].
//
// ReadSkillFile returns [ErrOutsideRoot] if the path leads out of the directory, whether or not the
// path exists, and for a link that is not followed; [ErrNotFound] if the file does not exist or no
// file can have the path; [ErrFileRead] for a directory, a special file and an unreadable file; and
// [ErrFileTooLarge] beyond the limit of [WithMaxFileSize]. Catalog.GetSkill describes the errors of
// the name.
//
// The file is not cached, except SKILL.md in a store with versions. With a filter or [WithStrict],
// ReadSkillFile also checks SKILL.md before and after reading the file.
func (c *Catalog) ReadSkillFile(ctx context.Context, skill, path string) ([]byte, error) {
	const op = "ReadSkillFile"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	return readWithin(ctx, c, op, skill, Event{Action: EventRead, Path: path}, (*skillDir).ReadFile)
}

// A skillDir is the open directory. The parameter of ReadSkillFile hides the name of the package.
type skillDir = skill.Dir

// readWithin returns the result of read, which reads the path of the event in the directory of the
// skill, and sends the event. A change during the call may make the filter or WithStrict refuse the
// skill, so readWithin checks the state before and after read.
func readWithin[T any](ctx context.Context, c *Catalog, op, name string, e Event,
	read func(*skillDir, context.Context, string) (T, error)) (T, error) {
	l := skillLookup(c, op, name, nil, skillPart[T](func(ctx context.Context, o *openSkill) (value T, err error) {
		if err = o.recordText(); err != nil {
			return value, err
		}
		if value, err = read(&o.dir, ctx, e.Path); err != nil {
			return value, o.pathError(op, e.Path, err)
		}
		return value, o.recordText()
	}))
	call := c.observer.Begin(ctx)
	now, err := l.find(ctx)
	e.Name = name
	return now.sent(call, c.skills, e, err)
}

// recordText records the state that the current SKILL.md describes. The error can be the reason why
// WithStrict does not load the skill.
func (o *openSkill) recordText() error {
	if o.skills.filter.Keeps == nil && o.config.strict == nil {
		return nil
	}
	text, err := o.dir.Text()
	if err == nil && o.dir.Seen != nil {
		o.dir.Seen(text)
	}
	return err
}

// pathError describes why a file of the skill cannot be read.
func (o *openSkill) pathError(op, given string, err error) error {
	skill := quote(o.entry.Name)
	e := &Error{Code: CodeFileRead, Op: op, Path: given, Err: err,
		Message: "cannot read the file " + quote(given) + " of skill " + skill + " (" + escape.Reason(err) + "); " + o.skills.LayerOf(o.entry).ReadAdvice(err)}
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

// FS returns the files of the skill, as [Catalog.ReadSkillFile] reads them. Each call of a method
// of the result looks up s.Name in the catalog that returned s, and sees the current files. The
// result is also an fs.ReadDirFS, fs.ReadFileFS and fs.StatFS, and safe for concurrent use. A list
// of a directory omits .git and node_modules.
//
// An error is an *fs.PathError with the error of ReadSkillFile as its cause: [ErrSkillNotFound] if
// the skill no longer exists or a filter hides the skill, and [ErrClosed] after Close. A name that
// fs.ValidPath rejects, on Windows a name with a backslash, and each call if GetSkill did not
// return s, is fs.ErrInvalid. The document docs/methods.md has the other causes.
func (s Skill) FS() fs.FS { return skillFS{s.Source.catalog, s.Name} }

// A skillFS is the result of Skill.FS.
type skillFS struct {
	catalog *Catalog
	skill   string
}

var (
	_ fs.ReadDirFS  = skillFS{}
	_ fs.ReadFileFS = skillFS{}
	_ fs.StatFS     = skillFS{}
)

// Open returns a file with its content, or a directory with its entries.
func (v skillFS) Open(name string) (fs.File, error) {
	return inSkill(v, "open", name, EventRead, (*skillDir).OpenFile)
}

func (v skillFS) Stat(name string) (fs.FileInfo, error) {
	return inSkill(v, "stat", name, EventListed, (*skillDir).Stat)
}

func (v skillFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return inSkill(v, "readdir", name, EventListed, (*skillDir).ReadDir)
}

func (v skillFS) ReadFile(name string) ([]byte, error) {
	return inSkill(v, "read", name, EventRead, (*skillDir).ReadFile)
}

// inSkill calls read with the open directory of the skill, and sends an event with the action.
func inSkill[T any](v skillFS, op, name, action string,
	read func(*skillDir, context.Context, string) (T, error)) (T, error) {
	var zero T
	fail := func(err error) (T, error) { return zero, &fs.PathError{Op: op, Path: name, Err: err} }
	if v.catalog == nil || !skill.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	const method = "Skill.FS"
	ctx, c := context.Background(), v.catalog
	if err := c.begin(ctx, method); err != nil {
		return fail(asIOError(err))
	}
	value, err := readWithin(ctx, c, method, v.skill, Event{Action: action, Path: name}, read)
	if err != nil {
		return fail(asIOError(err))
	}
	return value, nil
}

// asIOError adds the error of package io/fs that programs expect.
func asIOError(err error) error {
	causes := map[Code]error{CodeClosed: fs.ErrClosed, CodeSkillNotFound: fs.ErrNotExist}
	var ours *Error
	if !errors.As(err, &ours) || ours.Err != nil || causes[ours.Code] == nil {
		return err
	}
	shown := *ours
	shown.Err = causes[ours.Code]
	return &shown
}

// A skillManifest is a manifest with the types of this package.
type skillManifest = bridge.Manifest[SkillInfo, SkillFile]

// SkillManifests is documented at bridge.Catalog.
func (c bridged) SkillManifests(ctx context.Context, choose func(skills []SkillInfo) (names []string)) iter.Seq2[skillManifest, error] {
	return func(yield func(skillManifest, error) bool) {
		const op = "SkillManifests"
		if err := c.begin(ctx, op); err != nil {
			yield(skillManifest{}, err)
			return
		}
		all, shown, err := c.skills.list(ctx, op)
		if err != nil {
			yield(skillManifest{}, err)
			return
		}
		for _, name := range c.chosenSkills(all, shown, choose) {
			var now reading[skillManifest]
			err := c.skills.checkName(op, name)
			if err == nil {
				now, err = skillLookup(c.Catalog, op, name, nil, skillPart[skillManifest](manifestOf)).in(ctx, all, shown)
			}
			switch {
			case err != nil && (ctx.Err() != nil || c.isClosed()):
				yield(skillManifest{}, c.methodError(op, err))
				return
			case err != nil:
				now.value = skillManifest{Skill: SkillInfo{Name: name}}
			}
			if !yield(now.value, err) {
				return
			}
		}
	}
}

// manifestOf returns the manifest of an open skill.
func manifestOf(ctx context.Context, o *openSkill) (skillManifest, error) {
	whole, err := o.dir.Whole(ctx, skill.Wanted{Digests: true, Listed: true,
		MaxFiles: bridge.MaxManifestFiles, MaxBytes: bridge.MaxManifestBytes})
	if err != nil {
		return skillManifest{}, err
	}
	info, files := o.whole(&whole)
	return skillManifest{Skill: info, Files: files, Dirs: whole.Dirs, Truncated: whole.Truncated, Bytes: whole.Size}, nil
}

// chosenSkills returns the names that choose returns for the shown skills.
func (c *Catalog) chosenSkills(all, shown *index.Snapshot, choose func([]SkillInfo) []string) (names []string) {
	if choose == nil {
		for _, e := range shown.Loadable {
			names = append(names, e.Name)
		}
		return names
	}
	list := make([]SkillInfo, len(shown.Entries))
	for i, e := range shown.Entries {
		list[i] = c.listedSkill(all, e)
	}
	return choose(list)
}
