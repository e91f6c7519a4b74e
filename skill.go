package toolshelf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/digest"
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
	Source         SkillSource `json:"-"`                         // the catalog of the skill, for FS
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
// as the change time proves the file unchanged (see [WithFs]). For each layer with
// precedence, GetSkill also stats the directory that could hold a skill of the name.
// With [WithSkillDepth], GetSkill reads the directories that contain such directories,
// and stats each, unless the skill is directly below the first layer. For a name that
// no call has seen yet, GetSkill also costs as much as ListSkills. Shadows has the
// value of the last list.
func (c *Catalog) GetSkill(ctx context.Context, name string, opts ...SkillOption) (Skill, error) {
	const op = "GetSkill"
	var o skillOptions
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if err := c.begin(ctx, op); err != nil {
		return Skill{}, err
	}
	if err := c.checkSkillName(op, name); err != nil {
		return Skill{}, err
	}
	return skillLookup(c, op, name, func(ctx context.Context, open *openSkill) (Skill, error) {
		return attempt(ctx, open, func() (Skill, error) { return open.readOnce(ctx, o) })
	}).resolve(ctx)
}

func (c *Catalog) checkSkillName(op, name string) error {
	if names.Loose(name) {
		return nil
	}
	correction := "use the name of the skill's directory, without separators, control characters and leading dot"
	meant, _ := c.skills.meant(name)
	meant = strings.TrimSuffix(meant, "/SKILL.md")
	if names.Loose(meant) {
		correction = "write " + quote(meant)
	}
	return &Error{Code: CodeInvalidSkillName, Op: op, Path: name, Message: "invalid skill name " + quote(name) + ": " + correction}
}

// skillHint completes the message for an unknown name: a shown skill that declares
// the name, or else the skill with the most similar name.
func skillHint(shown []*index.Entry, name string) string {
	for _, e := range shown {
		if declared := newFrontmatter(e.Header()).Text("name"); declared == name && e.Name != name {
			return "the skill in the directory " + quote(e.Name) + " declares this name; use the name of the directory"
		}
	}
	return suggestion(shown, name, "list the skills for the names")
}

// An openSkill is the open directory of a skill during a call.
type openSkill struct {
	*Catalog
	snapshot *index.Snapshot
	entry    *index.Entry
	dir      *index.SkillDir
	states   []SkillInfo // what the call has seen of the skill; see reading
}

// skillLookup is a lookup of a skill by its directory name. The function read reads files of
// the open directory.
func skillLookup[T any](c *Catalog, op, name string, read func(context.Context, *openSkill) (T, error)) lookup[T, SkillInfo] {
	return lookup[T, SkillInfo]{c, c.skills, op, name, name, func(ctx context.Context, s *index.Snapshot, e *index.Entry) (reading[T, SkillInfo], error) {
		open, err := c.openSkill(ctx, s, e)
		if err != nil {
			return reading[T, SkillInfo]{}, err
		}
		defer open.dir.Close()
		value, err := read(ctx, open)
		return reading[T, SkillInfo]{value, open.states}, err
	}}
}

// openSkill opens the directory of an entry.
func (c *Catalog) openSkill(ctx context.Context, s *index.Snapshot, e *index.Entry) (*openSkill, error) {
	if e.Broken() != nil {
		return nil, e.Broken()
	}
	dir, err := c.skills.OpenSkill(ctx, e)
	if err != nil {
		return nil, err
	}
	o := &openSkill{Catalog: c, snapshot: s, entry: e, dir: dir}
	o.record(func() SkillInfo { return c.listedSkill(s, e) })
	return o, nil
}

// record adds a state of the skill if the catalog has a filter.
func (o *openSkill) record(state func() SkillInfo) {
	if o.skills.filter.active() {
		o.states = append(o.states, state())
	}
}

// skillText is the content of a SKILL.md. It is immutable.
type skillText struct {
	raw      []byte
	content  string
	header   Frontmatter
	problems []problem.Problem
}

// readAttempts is the number of attempts to read a skill that changes during the
// call.
const readAttempts = 3

// attempt calls read again if the skill changes during the call.
func attempt[T any](ctx context.Context, o *openSkill, read func() (T, error)) (T, error) {
	for attempts := 1; ; attempts++ {
		value, err := read()
		if attempts == readAttempts || ctx.Err() != nil || !errors.Is(err, digest.ErrChanging) && !o.dir.Outdated(err) {
			return value, err
		}
		if err := o.dir.Renew(ctx); err != nil {
			return value, err
		}
	}
}

// readOnce returns digest.ErrChanging if the skill changes during the call.
func (o *openSkill) readOnce(ctx context.Context, options skillOptions) (Skill, error) {
	listed, err := o.dir.Files(ctx)
	if err != nil {
		return Skill{}, err
	}
	var own confine.Info
	if listed.Own >= 0 {
		own = listed.Files[listed.Own].Info
	}
	text, info, err := o.text(own)
	if err != nil {
		return Skill{}, err
	}
	if listed.Own < 0 || !index.SameFile(own, info) {
		return Skill{}, digest.ErrChanging
	}
	skill := Skill{
		SkillInfo:      o.info(text),
		Content:        text.content,
		Raw:            bytes.Clone(text.raw),
		Files:          make([]SkillFile, len(listed.Files)),
		FilesTruncated: listed.Truncated,
		Source:         o.skillSource(o.entry),
	}
	o.record(func() SkillInfo { return skill.SkillInfo })
	// The directory may spell the file name in another letter case than the list.
	skill.Path = o.skills.Layer(o.entry.Layer()).FS.Path(path.Join(path.Dir(o.entry.Path), listed.Files[listed.Own].Name))
	for i, f := range listed.Files {
		skill.Files[i] = SkillFile{Path: f.Name, Size: f.Info.Size}
	}
	for _, p := range listed.Problems {
		skill.Diagnostics = append(skill.Diagnostics, newDiagnostic(p))
	}
	if options.digests {
		problems, err := o.digest(ctx, listed, skill.Files)
		if err != nil {
			return Skill{}, err
		}
		skill.Diagnostics = append(skill.Diagnostics, problems...)
	}
	return skill, nil
}

// info returns the SkillInfo of a list, computed from the given SKILL.md.
func (o *openSkill) info(text skillText) SkillInfo {
	var problems []problem.Problem
	for _, p := range text.problems {
		problems = append(problems, p.In(o.skills.Place(o.entry)))
	}
	skill := o.describeSkill(o.entry, text.header, problems)
	skill.Shadows = o.shadows(o.snapshot, o.entry)
	return skill
}

// text returns the SKILL.md. If the file is unchanged since the last read or scan, text makes
// no request for bytes in memory. The argument is the metadata of the file in the listing of
// the directory, or the zero Info.
func (o *openSkill) text(listed confine.Info) (skillText, confine.Info, error) {
	if listed.Version != "" {
		if text, ok := o.keptText(listed); ok {
			return text, listed, nil
		}
	}
	now := time.Now()
	f, err := o.dir.Open(path.Base(o.entry.Path))
	if err != nil {
		return skillText{}, confine.Info{}, err
	}
	defer f.Close()
	info := f.Info()
	if text, ok := o.keptText(info); ok {
		return text, info, nil
	}
	raw, err := o.readOpen(f)
	if err != nil {
		return skillText{}, info, err
	}
	return o.parse(raw, info, now), info, nil
}

// keptText returns the SKILL.md with the given metadata, if the catalog has the bytes.
func (o *openSkill) keptText(info confine.Info) (skillText, bool) {
	if kept := o.caches.skills.Get(o.entry.File()); kept != nil && index.SameFile(kept.Info, info) {
		return kept.Value, true
	}
	raw, listed, ok := o.caches.skillTexts.find(o.entry)
	if !ok || !index.SameFile(listed, info) {
		return skillText{}, false
	}
	return o.parse(raw, listed, time.Now()), true
}

// parse converts a SKILL.md.
func (o *openSkill) parse(raw []byte, info confine.Info, read time.Time) skillText {
	doc, _ := matter.Parse(raw, true)
	text := skillText{raw: raw, content: string(raw[doc.Body:]), header: newFrontmatter(doc.Frontmatter), problems: doc.Problems}
	if o.skills.Settled(o.entry.Layer(), info, read) {
		o.caches.skills.Put(&index.Cached[skillText]{File: o.entry.File(), Info: info, Value: text, Size: int64(len(raw) + len(text.content) + doc.Memory())})
	}
	return text
}
