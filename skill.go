package toolshelf

import (
	"bytes"
	"context"
	"encoding/json"
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

// A Skill is a complete skill, without the contents of the files beside SKILL.md.
type Skill struct {
	SkillInfo
	Content        string      `json:"content"`                   // the Markdown after the frontmatter, unchanged
	Files          []SkillFile `json:"files"`                     // sorted by the bytes of Path; includes SKILL.md
	FilesTruncated bool        `json:"files_truncated,omitempty"` // Files is incomplete
	Raw            []byte      `json:"-"`                         // the bytes of SKILL.md; the caller may modify them
}

// MarshalJSON returns a JSON object with the fields of s and the member
// "frontmatter". The JSON form of a SkillInfo has no such member.
func (s Skill) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the caller's encoder decides
	err := e.Encode(struct {
		SkillInfo
		Frontmatter    Frontmatter `json:"frontmatter"`
		Content        string      `json:"content"`
		Files          []SkillFile `json:"files"`
		FilesTruncated bool        `json:"files_truncated,omitempty"`
	}{s.SkillInfo, s.Frontmatter, s.Content, s.Files, s.FilesTruncated})
	return b.Bytes(), err
}

// A SkillFile is a file of a skill.
type SkillFile struct {
	Path   string `json:"path"`             // relative to the skill's directory, with slashes, as accepted by ReadSkillFile
	Size   int64  `json:"size"`             // size in bytes
	SHA256 string `json:"sha256,omitempty"` // 64 lowercase hexadecimal digits; only with Digests
}

// A SkillOption is an option of one GetSkill call.
type SkillOption func(*skillOptions)

type skillOptions struct {
	digests bool
}

// Digests makes GetSkill compute the SHA-256 of every file of the skill. A digest
// is cached as long as the change time of the file proves the file unchanged (see
// [WithFs]). A file larger than the limit of [WithMaxFileSize] gets a diagnostic
// instead of a digest.
func Digests() SkillOption {
	return func(o *skillOptions) { o.digests = true }
}

// GetSkill returns the skill with the given name. The name is the directory name,
// as in ListSkills, including letter case. If SKILL.md declares another name,
// GetSkill does not find the skill by the declared name.
//
// Files contains all regular files below the directory, including hidden files and
// the files of nested skills, because the specification allows any file. Files
// omits the directories .git and node_modules. GetSkill follows a link, as
// permitted by [WithSymlinks], only to a file inside the skill's directory. In a
// skill inside a trusted directory outside the root, GetSkill follows no link.
// Diagnostics reports the first 50 omitted links and special files. The list ends
// after 10,000 files and directories or 16 levels; FilesTruncated is then true.
// Files always contains SKILL.md.
//
// Path ends with the name of SKILL.md as spelled in the directory, also on a
// filesystem that ignores letter case.
//
// Raw, Content, Frontmatter and the size of SKILL.md in Files describe the same
// state of the file. With [Digests], Files describes one state of the directory,
// as far as the filesystem reports changes: GetSkill compares all files before and
// after reading. If the skill keeps changing, GetSkill returns [ErrFileRead].
//
// GetSkill returns [ErrInvalidSkillName] for a name that no skill can have. Names
// never become part of a path. GetSkill returns [ErrSkillNotFound] if no layer
// contains the name, or if the directory has no SKILL.md. If no layer directory
// exists, the error also matches [ErrDirectoryNotFound]. If SKILL.md cannot be
// read, GetSkill returns [ErrFileRead] with the cause in the chain. If SKILL.md is
// too large, GetSkill returns [ErrFileTooLarge]. [Catalog.ListSkills] describes
// the errors of unreadable directories.
//
// GetSkill reads each directory of the skill once and stats each file. The cache
// holds up to 16 MiB of SKILL.md files. GetSkill serves a cached SKILL.md as long
// as the change time proves the file unchanged (see [WithFs]). For a skill that is
// not directly below the first layer, and for a name that no call has seen yet,
// GetSkill also costs as much as ListSkills. For all other skills, Shadows has the
// value of the last list.
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

// states holds each description of a skill that a call has read. The filter must
// keep all of them.
type states []SkillInfo

// add records a state if the catalog has a filter.
func (c *Catalog) add(seen *states, state func() SkillInfo) {
	if c.skillFilter.active() {
		*seen = append(*seen, state())
	}
}

// shown reports whether the filter keeps every state.
func (c *Catalog) shown(seen states) bool {
	return !slices.ContainsFunc(seen, func(s SkillInfo) bool { return !c.skillFilter.keeps(s) })
}

// A skillReader is the part of a method that reads a skill.
type skillReader[T any] func(ctx context.Context, s *index.Snapshot, e *index.Entry, seen *states) (T, error)

// withSkill calls do for the skill with the given name. withSkill tries the entry
// of the last snapshot first. If do fails or the filter refuses the skill,
// withSkill scans the files and tries again.
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
	// A change invalidates the known entry, so the files are scanned.
	value, err = lookUpSkill(ctx, c, op, name, c.skills.Snapshot, do)
	if errors.Is(err, ErrSkillNotFound) && c.config.watch {
		// The system may not have reported a new skill yet.
		value, err = lookUpSkill(ctx, c, op, name, c.skills.Validate, do)
	}
	return value, err
}

// lookUpSkill calls do for a skill of the snapshot that look returns.
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
	e := c.skillFilter.apply(snapshot).Lookup(name)
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
	case !c.shown(seen): // the filter refuses the new content
		return zero, c.skillNotFound(op, name, snapshot)
	case err == nil:
		return value, nil
	case CodeOf(err) != "":
		return zero, err
	default:
		return zero, skillError(op, name, err)
	}
}

// skillNotFound returns the error for an unknown name. The message mentions a
// shown skill that declares the name, or else has a similar name.
func (c *Catalog) skillNotFound(op, name string, all *index.Snapshot) error {
	shown := c.skillFilter.apply(all).Entries
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

// errChanging reports a skill that changed between two looks at its files.
var errChanging = errors.New("it changes while it is read")

// skillError describes why a skill cannot be read.
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

// skillText is the content of a SKILL.md. It is immutable.
type skillText struct {
	raw      []byte
	content  string
	header   Frontmatter
	problems []problem.Problem
}

// loadAttempts is the number of attempts to read a skill that changes during the
// call.
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

// readSkill reads a skill once. readSkill returns errChanging if the skill changes
// during the call.
func (c *Catalog) readSkill(ctx context.Context, folder *index.SkillDir, s *index.Snapshot, e *index.Entry, o skillOptions, seen *states) (Skill, error) {
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
		Content:        text.content,
		Raw:            bytes.Clone(text.raw),
		Files:          make([]SkillFile, len(listed.Files)),
		FilesTruncated: listed.Truncated,
	}
	c.add(seen, func() SkillInfo { return skill.SkillInfo })
	// The directory may spell the file name in another letter case than the list.
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

// skillNow returns the SkillInfo of a list, computed from the given SKILL.md.
func (c *Catalog) skillNow(s *index.Snapshot, e *index.Entry, text skillText) SkillInfo {
	var problems []problem.Problem
	for _, p := range text.problems {
		problems = append(problems, p.In(c.skills.Place(e)))
	}
	skill := c.describeSkill(e, text.header, problems)
	skill.Shadows = c.shadows(s, e)
	return skill
}

// skillText returns the SKILL.md of an open directory. If the file is unchanged,
// skillText returns the cached text.
func (c *Catalog) skillText(folder *index.SkillDir, e *index.Entry) (skillText, confine.Info, error) {
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
