package toolshelf

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Skill is a skill, whole, but for the contents of its other files.
type Skill struct {
	SkillInfo
	Frontmatter    Frontmatter `json:"frontmatter"`               // all that its author wrote, here with its JSON form
	Content        string      `json:"content"`                   // the Markdown after the frontmatter, as it is in the file
	Files          []SkillFile `json:"files"`                     // sorted by Path, byte by byte; SKILL.md is one of them
	FilesTruncated bool        `json:"files_truncated,omitempty"` // there are more files than are listed
	Raw            []byte      `json:"-"`                         // SKILL.md to the byte; the caller's to keep and change
}

// A SkillFile is a file that belongs to a skill.
type SkillFile struct {
	Path   string `json:"path"`             // relative to the skill's folder, with slashes; what ReadSkillFile takes
	Size   int64  `json:"size"`             // in bytes
	SHA256 string `json:"sha256,omitempty"` // 64 hexadecimal digits in lower case; only with Digests
}

// A SkillOption is a choice for one call of GetSkill.
type SkillOption func(*skillOptions)

type skillOptions struct {
	digests bool
}

// Digests has GetSkill read all files of the skill for their SHA-256. A digest
// is remembered as long as the change time of its file proves the file
// unchanged (see [WithFs]). Files that are larger than WithMaxFileSize allows have none, and a
// diagnostic.
func Digests() SkillOption {
	return func(o *skillOptions) { o.digests = true }
}

// GetSkill returns the skill of this name: that of its folder, as in ListSkills,
// letter case included. A name that its SKILL.md declares does not count where
// the folder has another one.
//
// Files are all regular files below the folder, those of nested skills and
// hidden ones too, since the specification lets a skill have any. Left out are
// folders called .git and node_modules. A link is followed, as WithSymlinks
// says, to a file inside the skill's folder alone; in a skill that is itself in
// a trusted folder outside the root, none is. What is not listed for that
// reason, or because it is no file, is in Diagnostics, the first 50. The list
// ends after 10,000 files and folders or 16 levels, with FilesTruncated;
// SKILL.md is always in it.
//
// Path ends with the name of SKILL.md as the directory spells the name, also on
// a filesystem that ignores letter case.
//
// Raw, Content, Frontmatter and the size of SKILL.md in Files are of one state
// of the file. With Digests the whole of Files is of one state of the folder,
// as far as the filesystem tells: a look after all was read has found every
// file as a look before did. A skill that changes all the time is ErrFileRead.
//
// A name that no skill can have is ErrInvalidSkillName; no name ever becomes
// part of a path. A name that no layer has is ErrSkillNotFound, also where
// there is no folder (then the error is ErrDirectoryNotFound as well), and so
// is a folder without a SKILL.md. A SKILL.md that cannot be read is
// ErrFileRead, and the cause is in the chain; one that is too large is
// ErrFileTooLarge. For folders that cannot be read, see ListSkills.
//
// The cost is a reading of each folder of the skill and a stat of each file. Up
// to 16 MiB of memory hold SKILL.md files, which are served as long as their
// change times prove them unchanged (see [WithFs]). For a skill that is not right
// below the first layer, and for one that no call has seen yet, the cost is also
// that of ListSkills; otherwise Hides is as the last list had it.
func (c *Catalog) GetSkill(ctx context.Context, name string, opts ...SkillOption) (Skill, error) {
	var o skillOptions
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return withSkill(ctx, c, "GetSkill", name, func(ctx context.Context, s *index.Snapshot, e *index.Entry, seen *states) (Skill, error) {
		return c.loadSkill(ctx, s, e, o, seen)
	})
}

// states are the descriptions of a skill that a call has read. A filter must
// keep each.
type states []SkillInfo

// add keeps a state for the filter, if there is a filter.
func (c *Catalog) add(seen *states, state func() SkillInfo) {
	if c.skillFilter.filters() {
		*seen = append(*seen, state())
	}
}

// shown reports whether the filter keeps each state.
func (c *Catalog) shown(seen states) bool {
	return !slices.ContainsFunc(seen, func(s SkillInfo) bool { return !c.skillFilter.keeps(s) })
}

// A skillReader does the work of a method for a skill.
type skillReader[T any] func(ctx context.Context, s *index.Snapshot, e *index.Entry, seen *states) (T, error)

// withSkill does the work of a method for the skill of this name. The entry of
// the last snapshot is tried first. If the entry does not serve, the files are
// scanned.
func withSkill[T any](ctx context.Context, c *Catalog, op, name string, do skillReader[T]) (T, error) {
	var zero T
	if err := c.begin(ctx, op); err != nil {
		return zero, err
	}
	if !names.Loose(name) {
		return zero, &Error{Code: ErrInvalidSkillName.Code, Op: op, Path: name,
			Message: "no skill can be called " + quote(name) + `; use the name of its folder, without separators, control characters and leading dot`}
	}
	var seen states
	value, err := await(ctx, c, func(ctx context.Context) (T, error) {
		snapshot, e := c.skills.Last(), c.skills.KnownSkill(name)
		if e == nil {
			return zero, fs.ErrNotExist
		}
		c.add(&seen, func() SkillInfo { return c.listedSkill(snapshot, e) })
		return do(ctx, snapshot, e, &seen)
	})
	if err == nil && c.shown(seen) {
		return value, nil
	}
	if ctx.Err() != nil {
		return zero, ctx.Err()
	}
	// Where anything is not as it was, the files are looked through anew.
	value, err = lookUpSkill(ctx, c, op, name, c.skills.Snapshot, do)
	if errors.Is(err, ErrSkillNotFound) && c.config.watch {
		// What is not there yet may be what was not told of yet.
		value, err = lookUpSkill(ctx, c, op, name, c.skills.Validate, do)
	}
	return value, err
}

// lookUpSkill is withSkill for the skill that a snapshot has.
func lookUpSkill[T any](ctx context.Context, c *Catalog, op, name string, look func(context.Context) (*index.Snapshot, error), do skillReader[T]) (T, error) {
	var zero T
	snapshot, err := look(ctx)
	if err != nil {
		err = c.skillsError(op, err)
		if errors.Is(err, ErrDirectoryNotFound) {
			err = &Error{Code: ErrSkillNotFound.Code, Op: op, Path: name,
				Message: "there is no skill " + quote(name) + c.noDirectory(err, "skills"), Err: err}
		}
		return zero, err
	}
	e := c.skillFilter.of(snapshot).Lookup(name)
	if e == nil {
		return zero, c.skillNotFound(op, name, snapshot)
	}
	if errors.Is(e.Broken, fs.ErrNotExist) && !errors.Is(e.Broken, index.ErrNoSkillFile) {
		return zero, &Error{Code: ErrFileRead.Code, Op: op, Path: name, Err: e.Broken,
			Message: "the SKILL.md of skill " + quote(name) + " is a link that leads nowhere; replace it by the file"}
	}
	if e.Broken != nil {
		return zero, skillError(op, name, e.Broken)
	}
	var seen states
	value, err := await(ctx, c, func(ctx context.Context) (T, error) { return do(ctx, snapshot, e, &seen) })
	switch {
	case ctx.Err() != nil && err != nil:
		return zero, ctx.Err()
	case !c.shown(seen): // the skill has just become a skill that the filter refuses
		return zero, c.skillNotFound(op, name, snapshot)
	case err == nil:
		return value, nil
	case CodeOf(err) != "":
		return zero, err
	default:
		return zero, skillError(op, name, err)
	}
}

// skillNotFound tells of a skill that calls itself by the name, or has a name
// that is near, if it is shown.
func (c *Catalog) skillNotFound(op, name string, all *index.Snapshot) error {
	shown := c.skillFilter.of(all).Entries
	e := &Error{Code: ErrSkillNotFound.Code, Op: op, Path: name,
		Message: "there is no skill " + quote(name) + "; " + suggestion(shown, name, "list the skills for the names")}
	for _, other := range shown {
		if declared, _ := other.Header.Get("name"); declared.String() == name && other.Name != name {
			e.Message = "there is no skill folder " + quote(name) + "; the skill in the folder " + quote(other.Name) + " calls itself so, and is had by the folder's name"
			break
		}
	}
	return e
}

// errChanging is for a skill that was never found to be the same before and
// after it was read.
var errChanging = errors.New("it changes while it is read")

// skillError says why a skill cannot be had.
func skillError(op, name string, err error) error {
	e := &Error{Code: ErrFileRead.Code, Op: op, Path: name, Err: err,
		Message: "the SKILL.md of skill " + quote(name) + " cannot be read (" + escape.Reason(err) + "); check that it is a file and its permissions"}
	switch {
	case errors.Is(err, fs.ErrClosed):
		return closedMeanwhile(op)
	case errors.Is(err, index.ErrNoSkillFile):
		e.Code, e.Message = ErrSkillNotFound.Code, "the folder "+quote(name)+" is no skill, since it has no SKILL.md; add one that begins with a frontmatter of name and description"
	case errors.Is(err, index.ErrTooLarge):
		e.Code, e.Message = ErrFileTooLarge.Code, "the SKILL.md of skill "+quote(name)+" is larger than allowed; shorten it, or raise the limit with WithMaxFileSize"
	case errors.Is(err, errChanging):
		e.Message = "the files of skill " + quote(name) + " change while they are read; try again"
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = ErrSkillNotFound.Code, "skill "+quote(name)+" was removed just now; list the skills for the names"
	}
	return e
}

// skillText is a SKILL.md as it was read. It is immutable.
type skillText struct {
	raw      []byte
	content  string
	header   Frontmatter
	problems []problem.Problem
}

// loadAttempts is how often a skill is read that changes meanwhile.
const loadAttempts = 3

func (c *Catalog) loadSkill(ctx context.Context, s *index.Snapshot, e *index.Entry, o skillOptions, seen *states) (Skill, error) {
	folder, err := c.skills.OpenSkill(e)
	if err != nil {
		return Skill{}, err
	}
	defer folder.Close()
	for range loadAttempts {
		var skill Skill
		if skill, err = c.readSkill(ctx, folder, s, e, o, seen); !errors.Is(err, errChanging) {
			return skill, err
		}
	}
	return Skill{}, err
}

// readSkill reads a skill once. The error is errChanging if it is not the same
// in the end.
func (c *Catalog) readSkill(ctx context.Context, folder *index.SkillFolder, s *index.Snapshot, e *index.Entry, o skillOptions, seen *states) (Skill, error) {
	listed, err := folder.Files(ctx)
	if err != nil {
		return Skill{}, err
	}
	text, info, err := c.skillText(folder, e)
	if err != nil {
		return Skill{}, err
	}
	if listed.Own < 0 || !index.SameFile(listed.Files[listed.Own].Info, info) {
		return Skill{}, errChanging
	}
	skill := Skill{
		SkillInfo:      c.skillNow(s, e, text),
		Frontmatter:    text.header,
		Content:        text.content,
		Raw:            bytes.Clone(text.raw),
		Files:          make([]SkillFile, len(listed.Files)),
		FilesTruncated: listed.Truncated,
	}
	c.add(seen, func() SkillInfo { return skill.SkillInfo })
	// The directory can spell the file's name in other letter case than the list.
	skill.Path = c.skills.Layer(e.Layer).FS.Path(path.Join(path.Dir(e.Path), listed.Files[listed.Own].Name))
	for i, f := range listed.Files {
		skill.Files[i] = SkillFile{Path: f.Name, Size: f.Info.Size}
	}
	for _, p := range listed.Problems {
		skill.Diagnostics = append(skill.Diagnostics, newDiagnostic(p))
	}
	if o.digests {
		if err := c.digest(ctx, folder, e, listed, &skill); err != nil {
			return Skill{}, err
		}
	}
	return skill, nil
}

// skillNow is what a list would tell of a skill whose SKILL.md is this text.
func (c *Catalog) skillNow(s *index.Snapshot, e *index.Entry, text skillText) SkillInfo {
	var problems []problem.Problem
	for _, p := range text.problems {
		problems = append(problems, p.In(c.skills.Place(e)))
	}
	skill := c.describeSkill(e, text.header, problems)
	skill.Hides = c.hides(s, e)
	return skill
}

// skillText returns the SKILL.md of an open folder, from memory if it is as it
// was when it was read.
func (c *Catalog) skillText(folder *index.SkillFolder, e *index.Entry) (skillText, confine.Info, error) {
	key := file{e.Layer, e.Path}
	now := time.Now()
	f, err := folder.Open(path.Base(e.Path))
	if err != nil {
		return skillText{}, confine.Info{}, err
	}
	defer f.Close()
	info := f.Info()
	if kept := c.skillContents.get(key); kept != nil && index.SameFile(kept.info, info) {
		return kept.value, info, nil
	}
	raw, err := c.readOpen(f)
	if err != nil {
		return skillText{}, info, err
	}
	doc, _ := matter.Parse(raw, true)
	text := skillText{raw: raw, content: string(raw[doc.Body:]), header: newFrontmatter(doc), problems: doc.Problems}
	if c.skills.Settled(e.Layer, info, now) {
		c.skillContents.put(&content[skillText]{file: key, info: info, value: text, size: int64(len(raw) + len(text.content) + doc.Memory())})
	}
	return text, info, nil
}
