package toolshelf

import (
	"cmp"
	"context"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/exposure"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/layers"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/observe"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/search"
	"github.com/toolshelf-go/toolshelf/internal/skill"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// SkillInfo describes a skill in a list. The fields defined by the Agent Skills
// specification (https://agentskills.io/specification) come from the frontmatter
// of SKILL.md, unchanged. A field is empty if the frontmatter lacks the field or
// cannot be read.
type SkillInfo struct {
	Name          string            `json:"name"`                    // the directory name, or the name by the rule of a place of WithClient; as accepted by GetSkill
	DeclaredName  string            `json:"declared_name,omitempty"` // the name in the frontmatter
	Description   string            `json:"description"`             // may contain line breaks
	License       string            `json:"license,omitempty"`
	Compatibility string            `json:"compatibility,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`      // values as written; lists and mappings in JSON
	AllowedTools  []string          `json:"allowed_tools,omitempty"` // one item per tool; the field may be a list, or a text with blanks or commas

	DisableModelInvocation bool `json:"disable_model_invocation,omitempty"` // only the user may choose the skill
	UserInvocable          bool `json:"user_invocable"`                     // the user may choose the skill; false only for user-invocable: false

	Exposure Exposure `json:"exposure,omitempty"` // what a model and a user see

	Loadable    bool         `json:"loadable"`              // GetSkill can load the skill; false without a usable SKILL.md
	Path        string       `json:"path"`                  // full path of SKILL.md on the filesystem of the file; empty without a SKILL.md
	Layer       string       `json:"layer"`                 // the directory or the FS name, as given to the option
	Plugin      string       `json:"plugin,omitempty"`      // the name of the plugin, which begins Name; "" for a skill of no plugin
	Shadows     []string     `json:"shadows,omitempty"`     // lower-precedence skills with the same name, as the layer and the path of SKILL.md below the layer
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"` // defects of the skill; see DiagnosticCode
	Frontmatter Frontmatter  `json:"-"`                     // the complete frontmatter; in JSON only as a member of a Skill
}

// ListSkills returns the skills in case-insensitive name order: the subdirectories of the layers,
// with or without a usable SKILL.md, as Loadable reports. Diagnostics describe the problems of a
// skill. [WithSkillDepth] looks for skills in deeper directories. Without skills, the list is
// empty.
//
// ListSkills omits hidden directories, node_modules, and names other than a single safe path
// element. If several layers contain the same name, the first layer wins, and Shadows names the
// other skills. A directory without a SKILL.md shadows nothing. A layer with a SKILL.md of its own
// is a skill if no direct subdirectory has a SKILL.md. In some places of [WithClient], a file is a
// skill.
//
// If no layer directory exists, not even the default directory "skills", ListSkills returns
// [ErrDirectoryNotFound]; with WithClient, the list is empty. [Catalog.List] describes the other
// errors and the cost.
func (c *Catalog) ListSkills(ctx context.Context) ([]SkillInfo, error) {
	const op = "ListSkills"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	return c.listSkills(ctx, op)
}

func (c *Catalog) listSkills(ctx context.Context, op string) ([]SkillInfo, error) {
	_, snapshot, err := c.skills.list(ctx, op)
	if err != nil {
		return nil, err
	}
	list := make([]SkillInfo, len(snapshot.Entries))
	for i, e := range c.skills.way.Ordered(snapshot.Entries) {
		list[i] = c.listedSkill(snapshot, e)
		list[i].Name = c.skills.way.Name(e)
	}
	return list, nil
}

// Skills ranges over the skills of ListSkills with the text of each SKILL.md, in the same order.
// Content has the text. Raw and Files are nil, and FilesTruncated is true. A skill that cannot be
// loaded has Loadable false, no text, and the reason in Diagnostics.
//
// The skills are those of the time when the range begins. Skills omits a skill that is removed
// during the range, and shows the new text of a skill that changes. If an error of ListSkills
// occurs, or ctx ends, Skills yields the error once, with a zero Skill, and ends.
//
// Skills costs one scan, as ListSkills does, and reads each file once, or twice if new files have
// more than 64 MiB. A range holds at most 96 MiB of texts.
func (c *Catalog) Skills(ctx context.Context) iter.Seq2[Skill, error] {
	return loadAll(ctx, c, c.skills, "Skills", skillReader{}, func(s *index.Snapshot, e *index.Entry, err error) Skill {
		info := c.listedSkill(s, e)
		info.Loadable, info.Diagnostics = false, newDiagnostics(c.skills.unread(e, err))
		return Skill{SkillInfo: info, Source: c.skillSource(e, "")}
	})
}

// listedSkill returns the SkillInfo of an entry for a list.
func (c *Catalog) listedSkill(s *index.Snapshot, e *index.Entry) SkillInfo {
	return c.describeSkill(s, e, agentmd.NewFrontmatter(e.Header()), e.Problems())
}

// describeSkill is listedSkill with the current header and problems of the file. Without a snapshot,
// the SkillInfo has no Shadows.
func (c *Catalog) describeSkill(in *index.Snapshot, e *index.Entry, header Frontmatter, problems []problem.Problem) SkillInfo {
	metadata, _ := agentmd.Header(&header).Get("metadata")
	s := SkillInfo{
		Name:          e.Name,
		DeclaredName:  header.Text("name"),
		Description:   strings.TrimSpace(header.Text("description")),
		License:       header.Text("license"),
		Compatibility: header.Text("compatibility"),
		Metadata:      metadata.Texts(),
		AllowedTools:  toolsIn(header, "allowed-tools"),
		Loadable:      e.Broken() == nil,
		Layer:         c.skills.LayerOf(e).Name,
		Plugin:        e.Plugin(),
		Diagnostics:   newDiagnostics(problems),
		Frontmatter:   header,
	}
	s.DisableModelInvocation, _ = header.Bool("disable-model-invocation")
	invocable, said := header.Bool("user-invocable")
	s.UserInvocable = invocable || !said
	if e.Broken() != index.ErrNoSkillFile {
		s.Path = c.skills.LayerOf(e).FS.Path(e.Spelled())
	}
	if s.Exposure = c.exposureOf(e, s); in != nil {
		s.Shadows = c.skills.shadows(in, e)
	}
	return s
}

// toolsIn reads a field with the names of tools.
func toolsIn(header Frontmatter, key string) []string {
	v, _ := agentmd.Header(&header).Get(key)
	return matter.Tools(v)
}

// SkillLayers is documented at bridge.Catalog.
func (c bridged) SkillLayers() []string {
	open := c.lifetime.Enter()
	if open {
		defer c.lifetime.Leave()
	}
	return layers.Existing(c.skills.layers, c.skills.Layers(), !open)
}

// SkillSubdir is documented at bridge.Catalog.
func (c bridged) SkillSubdir(s SkillInfo) string { return c.skills.Subdir(s.Layer, s.Path) }

// A Skill is a complete skill, without the contents of the files beside SKILL.md.
type Skill struct {
	SkillInfo
	Content        string       `json:"content"`                   // the Markdown after the frontmatter, unchanged
	Files          []SkillFile  `json:"files"`                     // sorted by the bytes of Path; includes SKILL.md
	FilesTruncated bool         `json:"files_truncated,omitempty"` // Files is incomplete
	Raw            []byte       `json:"-"`                         // the bytes of SKILL.md; the caller may modify them
	Source         source       `json:"-"`                         // the catalog of the skill, for FS
	Rules          client.Rules `json:"-"`                         // the placeholder rules of the client of the layer; zero without WithClient
}

// MarshalJSON returns a JSON object with the fields of s and the member
// "frontmatter". The JSON form of a SkillInfo has no such member.
func (s Skill) MarshalJSON() ([]byte, error) {
	return escape.Marshal(struct {
		SkillInfo
		Frontmatter    Frontmatter `json:"frontmatter"`
		Content        string      `json:"content"`
		Files          []SkillFile `json:"files"`
		FilesTruncated bool        `json:"files_truncated,omitempty"`
	}{s.SkillInfo, s.Frontmatter, s.Content, s.Files, s.FilesTruncated})
}

// A SkillFile is a file of a skill.
type SkillFile struct {
	Path   string `json:"path"`             // relative to the skill's directory, with slashes, as accepted by ReadSkillFile
	Size   int64  `json:"size"`             // size in bytes
	SHA256 string `json:"sha256,omitempty"` // 64 lowercase hexadecimal digits; only with Digests
}

// GetSkill returns the skill with the given name: the name of the directory, as in ListSkills,
// including letter case. The name of a plugin may be missing: see [WithPlugins] and
// [ErrAmbiguousName]. Files contains the regular files below the directory, with hidden files and
// without .git and node_modules, up to 10,000 files and directories and 16 levels. GetSkill follows
// links only to files inside the directory of the skill. Raw, Content and Frontmatter describe the
// same state of the file, and with [Digests], Files one state of the directory.
//
// GetSkill returns [ErrInvalidSkillName], [ErrSkillNotFound] if no layer has the name or the
// directory has no SKILL.md, [ErrFileTooLarge], and [ErrFileRead] if SKILL.md cannot be read or the
// skill keeps changing. [Catalog.ListSkills] describes the errors of unreadable directories.
//
// GetSkill reads each directory of the skill once and stats each file. For a new name, GetSkill
// also costs as much as ListSkills. The document docs/methods.md has the details.
func (c *Catalog) GetSkill(ctx context.Context, name string, opts ...SkillOption) (Skill, error) {
	const op = "GetSkill"
	var o skillOptions
	each(opts, func(opt SkillOption) { opt.applySkill(&o) })
	if err := c.begin(ctx, op); err != nil {
		return Skill{}, err
	}
	l := skillLookup(c, op, name, o.path, skillReader{files: true, digests: o.digests})
	call := c.observer.Begin(ctx)
	now, err := l.find(ctx)
	return now.sent(call, c.skills, Event{Action: EventLoaded, Name: name}, err)
}

// A skillReader is the reader of skills.
type skillReader struct {
	files   bool // read all files, as GetSkill does
	digests bool
}

func (r skillReader) read(ctx context.Context, c *Catalog, s *index.Snapshot, e *index.Entry,
	kept *index.Cached[string]) (now reading[Skill], err error) {
	o := &openSkill{Catalog: c, snapshot: s, entry: e}
	var whole skill.Whole
	if kept != nil {
		whole.Text = c.caches.skills.Describe(c.skills.Index, e, kept.Value, kept.Info)
		err = whole.Rejected
	} else if err = o.open(ctx); err == nil {
		defer o.dir.Close()
		if r.files {
			whole, err = o.dir.Whole(ctx, skill.Wanted{Digests: r.digests})
		} else {
			whole.Text, err = o.dir.Latest(ctx)
		}
	}
	if !r.files {
		o.states = nil
	}
	now.passes = o.passes()
	if err != nil {
		return now, err
	}
	now.value = Skill{Content: whole.Content(), FilesTruncated: !r.files || whole.Truncated,
		Source: c.skillSource(e, whole.Digest), Rules: c.skills.LayerOf(e).Rules}
	if r.files {
		now.value.Raw = whole.Bytes()
		now.value.SkillInfo, now.value.Files = o.whole(&whole)
	} else {
		now.value.SkillInfo = o.info(&whole.Text)
		o.states = []SkillInfo{now.value.SkillInfo}
	}
	now.outcome = outcome{digest: now.value.Source.digest, bytes: whole.Text.Size()}
	return now, nil
}

// skillHint completes the message for an unknown name: a shown skill that declares
// the name, or else the skill with the most similar name.
func skillHint(shown []*index.Entry, name string) string {
	for _, e := range shown {
		if declared := agentmd.NewFrontmatter(e.Header()).Text("name"); declared == name && e.Name != name {
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
	dir      skill.Dir
	states   []SkillInfo // what the call has seen of the skill; see reading
}

// skillLookup is a lookup of a skill by its directory name, or by a name of the skills for a path.
func skillLookup[T any](c *Catalog, op, name string, at *pathOption, r reader[T],
) lookup[T] {
	return lookup[T]{catalog: c, from: c.skills, op: op, name: name, stem: name, reader: r,
		beside: c.beside(op, name, at)}
}

// A skillPart is the reader of a part of a skill. The function reads from the open directory.
type skillPart[T any] func(context.Context, *openSkill) (T, error)

func (part skillPart[T]) read(ctx context.Context, c *Catalog, s *index.Snapshot, e *index.Entry,
	_ *index.Cached[string]) (now reading[T], err error) {
	o := &openSkill{Catalog: c, snapshot: s, entry: e}
	if err := o.open(ctx); err != nil {
		return now, err
	}
	defer o.dir.Close()
	now.value, err = part(ctx, o)
	now.passes, now.outcome = o.passes(), outcome{digest: o.dir.Digest, bytes: o.dir.Size}
	return now, err
}

// passes returns the function that asks the filter about all states.
func (o *openSkill) passes() func() bool {
	if o.skills.filter.Keeps == nil {
		return nil
	}
	return func() bool {
		return !slices.ContainsFunc(o.states, func(s SkillInfo) bool { return !keeps(o.keep.skills, s) })
	}
}

// open opens the directory of the entry.
func (o *openSkill) open(ctx context.Context) error {
	if err := o.entry.Broken(); err != nil {
		return err
	}
	opened, err := o.skills.OpenSkill(ctx, o.entry)
	if err != nil {
		return err
	}
	o.dir = o.caches.skills.Of(opened)
	if o.skills.filter.Keeps != nil {
		o.states = append(o.states, o.listedSkill(o.snapshot, o.entry))
		o.dir.Seen = func(text skill.Text) { o.states = append(o.states, o.info(&text)) }
	}
	return nil
}

// whole returns the SkillInfo and the files of a state of the skill.
func (o *openSkill) whole(w *skill.Whole) (SkillInfo, []SkillFile) {
	var info SkillInfo
	if w.Described {
		info = o.listedSkill(o.snapshot, o.entry)
	} else {
		info = o.info(&w.Text)
	}
	if own := w.Files[w.Own].Name; !strings.HasSuffix(o.entry.Spelled(), own) { // the directory may spell the file name in another letter case than the list
		info.Path = o.skills.LayerOf(o.entry).FS.Path(path.Join(path.Dir(o.entry.Path), own))
	}
	for _, problems := range [][]problem.Problem{w.Listing.Problems, w.Lost} {
		info.Diagnostics = append(info.Diagnostics, newDiagnostics(problems)...)
	}
	files := make([]SkillFile, len(w.Files))
	for i, f := range w.Files {
		files[i] = SkillFile{Path: f.Name, Size: f.Info.Size}
		if w.Sums != nil {
			files[i].SHA256 = w.Sums[i]
		}
	}
	return info, files
}

// info returns the SkillInfo of a list, computed from the given SKILL.md.
func (o *openSkill) info(text *skill.Text) SkillInfo {
	var problems []problem.Problem
	for _, p := range text.Problems {
		problems = append(problems, p.In(o.skills.Place(o.entry)))
	}
	return o.describeSkill(o.snapshot, o.entry, agentmd.NewFrontmatter(text.Header), problems)
}

// A source is the catalog that returned a [Skill], and what an observer learns of a [Skill], a
// [Command] or an [Agent]. The zero source is no catalog.
type source struct {
	catalog *Catalog // of a skill
	inFS    bool     // the layer of the skill is an fs.FS

	observer *observe.Observer[Event]
	digest   string // Event.Digest; "" without an observer
}

// Equal returns true, because the source is not part of the content of a skill. The
// package github.com/google/go-cmp uses Equal to compare skills. reflect.DeepEqual and
// == compare the catalogs, so skills of two catalogs differ; use go-cmp, or compare the
// fields.
func (source) Equal(source) bool { return true }

// skillSource returns the source of a skill. The digest of SKILL.md counts without a seal.
func (c *Catalog) skillSource(e *index.Entry, digest string) source {
	if seal := e.Seal(); seal != nil {
		digest = seal.Digest
	}
	return source{cmp.Or(c.whole, c), c.skills.LayerOf(e).Store != nil, c.observer, digest}
}

// A SkillOption is an option of one GetSkill call: [Digests] or [ForPath].
type SkillOption interface{ applySkill(*skillOptions) }

type skillOption func(*skillOptions)

func (f skillOption) applySkill(o *skillOptions) { f(o) }

type skillOptions struct {
	digests bool
	path    *pathOption
}

// Digests makes GetSkill compute the SHA-256 of every file of the skill. Up to 200,000 digests are
// cached as long as the change times of the files prove the files unchanged (see [WithFs]). A file
// larger than the limit of [WithMaxFileSize] gets a diagnostic instead of a digest.
func Digests() SkillOption {
	return skillOption(func(o *skillOptions) { o.digests = true })
}

// newSkills returns the skills of a new catalog. The error is the error of the watch.
func (c *Catalog) newSkills(user userDirs) (*collection, error) {
	skills := &collection{
		engine:      c.config.skillSearcher,
		filter:      &filter{Keeps: keepsEntries(c.keep.skills, c.listedSkill)},
		layers:      c.config.skills.All,
		description: headerDescription,
		texts:       &c.caches.skills.Texts,
		noun:        "skill",
		file:        "SKILL.md",
		invalid:     CodeInvalidSkillName,
		names: names.Rule{Loose: true, Plugins: len(c.config.plugins.All) > 0,
			Advice: "use the name of the skill's directory, without separators, control characters and leading dot"},
		notFound: CodeSkillNotFound,
		hint:     skillHint,
	}
	if skills.exposure, c.settings = c.exposure, c.openSettings(user); c.settings != nil {
		skills.refresh = func(ctx context.Context) error { _, err := await(ctx, c, c.settings.Refresh); return err }
	}
	skills.filter.Settings = c.settings.Last
	drop := func(now *index.Snapshot) {
		c.caches.skills.Retain(now)
		c.usages.Skills.Kept.Retain(now.HasFile)
	}
	opened, err := skills.open(c, user, client.Skills, drop, index.Config{Depth: c.config.skillDepth, Broken: true}, search.Config{})
	c.caches.skills.MaxFileSize, c.caches.skills.DigestOf = c.config.maxFileSize, c.observer.Digest
	c.usages.Skills.Index, c.usages.Skills.Texts = skills.Index, skills.texts
	if err != nil {
		return nil, err
	}
	c.below = exposure.Below{Skills: skills.Index, Root: c.root}
	for i, l := range skills.layers {
		if at := skills.Layer(i); l.Place.Below && l.Parent == "" && at.FS == c.root {
			c.below.Layers = append(c.below.Layers, at)
		}
	}
	if c.config.watch && c.below.Layers != nil {
		list := len(c.indexes) - 1
		c.below.Observer = watch.NewObserver([]string{c.root.Path(".")}, func() { c.changes.Notify(list, skills.Last()) })
	}
	return opened, nil
}
