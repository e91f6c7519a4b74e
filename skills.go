package toolshelf

import (
	"bytes"
	"context"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// SkillInfo describes a skill in a list. The fields defined by the Agent Skills
// specification (https://agentskills.io/specification) come from the frontmatter
// of SKILL.md, unchanged. A field is empty if the frontmatter lacks the field or
// cannot be read.
type SkillInfo struct {
	Name          string            `json:"name"`                    // the directory name, as accepted by GetSkill
	DeclaredName  string            `json:"declared_name,omitempty"` // the name in the frontmatter
	Description   string            `json:"description"`             // may contain line breaks
	License       string            `json:"license,omitempty"`
	Compatibility string            `json:"compatibility,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`      // values as written; lists and mappings in JSON
	AllowedTools  []string          `json:"allowed_tools,omitempty"` // one item per tool; the field may be a list, or a text with blanks or commas

	DisableModelInvocation bool `json:"disable_model_invocation,omitempty"` // only the user may choose the skill
	UserInvocable          bool `json:"user_invocable"`                     // the user may choose the skill; false only for user-invocable: false

	Loadable    bool         `json:"loadable"`              // GetSkill can load the skill; false without a usable SKILL.md
	Path        string       `json:"path"`                  // full path of SKILL.md on the filesystem of the file; empty without a SKILL.md
	Layer       string       `json:"layer"`                 // the directory or the FS name, as given to the option
	Shadows     []string     `json:"shadows,omitempty"`     // lower-precedence skills with the same name, as the layer and the path of SKILL.md below the layer
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"` // defects of the skill; see DiagnosticCode
	Frontmatter Frontmatter  `json:"-"`                     // the complete frontmatter; in JSON only as a member of a Skill
}

// ListSkills returns the skills in case-insensitive name order. The skills are the
// subdirectories of the layers, with or without a usable SKILL.md, as Loadable reports.
// The Diagnostics of a skill describe its problems, which affect no other skill.
// [WithSkillDepth] looks for skills in deeper directories.
//
// A layer with a SKILL.md of its own is a skill itself if no direct subdirectory
// has a SKILL.md; its subdirectories then belong to that skill. Otherwise the
// subdirectories are listed, and the layer's SKILL.md causes a diagnostic. A skill
// that is a layer has the name of the directory. If a skill cannot have this name,
// as at the top of an fs.FS, the skill has the name in its SKILL.md, or else the
// layer's name.
//
// ListSkills omits hidden directories, directories called node_modules, and names
// other than a single safe path element (contract list_skills: no "/", "\" or
// ".."; also no control characters). [Catalog.Lint] reports the unsafe names. A
// link to a directory is a skill if [WithSymlinks] permits the link. If several
// layers contain the same name, the first layer wins, and Shadows names the other
// skills. A directory without a SKILL.md shadows nothing: ListSkills lists the skill of
// a lower layer in its place. Without skills, the list is empty.
//
// ListSkills returns [ErrDirectoryNotFound] if no layer directory exists (the missing
// directories of [WithConventionalDirs] are empty), and [ErrPermissionDenied] without permission to read a layer directory.
// [Catalog.List] describes the other errors and the cost.
//
// The catalog keeps the frontmatter of all skills in memory, within the bounds of
// List. If the 32 MiB are used up, ListSkills returns of a further large
// frontmatter only name, description, disable-model-invocation and user-invocable,
// each cut to 1 KB, with the diagnostic FRONTMATTER_NOT_KEPT. GetSkill returns the
// complete skill.
func (c *Catalog) ListSkills(ctx context.Context) ([]SkillInfo, error) {
	const op = "ListSkills"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	snapshot, err := c.skills.shownSnapshot(ctx, op)
	if err != nil {
		return nil, err
	}
	list := make([]SkillInfo, len(snapshot.Entries))
	for i, e := range snapshot.Entries {
		list[i] = c.listedSkill(snapshot, e)
	}
	return list, nil
}

// Skills ranges over the skills of ListSkills with the text of each SKILL.md, in the same order.
// Content and Raw have the text. Files is nil and FilesTruncated true: [Catalog.GetSkill] lists the
// files of a skill. A skill that cannot be loaded has Loadable false, no text, and the reason in
// Diagnostics.
//
// The skills are those of the time when the range begins. Skills omits a skill that is removed
// during the range. If a skill changes during the range, the skill has the new text. If an error of
// ListSkills occurs, or ctx ends, Skills yields the error once, with a zero Skill, and ends.
//
// Skills costs one scan, as ListSkills does. A scan of new files reads each file once, as a whole.
// Skills reads the other files ahead of the consumer, several at the same time (see
// [WithMaxReads]). A range holds at most 64 MiB of texts from the scan and 32 MiB of texts ahead of
// the consumer. If new files have more than 64 MiB, Skills reads some files twice, and every file
// of more than 64 KiB.
func (c *Catalog) Skills(ctx context.Context) iter.Seq2[Skill, error] {
	return loadAll(ctx, c, c.skills, "Skills", c.loadSkill, func(s *index.Snapshot, e *index.Entry, err error) Skill {
		info := c.listedSkill(s, e)
		info.Loadable, info.Diagnostics = false, newDiagnostics(c.skills.unread(e, err))
		return Skill{SkillInfo: info, Source: c.skillSource(e)}
	})
}

// loadSkill is a loader.
func (c *Catalog) loadSkill(ctx context.Context, s *index.Snapshot, e *index.Entry, texts *listedTexts) (reading[Skill, SkillInfo], error) {
	skill := Skill{Source: c.skillSource(e), FilesTruncated: true}
	if raw, _, ok := texts.find(e); ok && e.Whole() {
		skill.SkillInfo, skill.Content, skill.Raw = c.listedSkill(s, e), string(raw[e.Body():]), raw
	} else {
		o, err := c.openSkill(ctx, s, e)
		if err != nil {
			return reading[Skill, SkillInfo]{}, err
		}
		defer o.dir.Close()
		text, err := attempt(ctx, o, func() (skillText, error) { text, _, err := o.text(confine.Info{}); return text, err })
		if err != nil {
			return reading[Skill, SkillInfo]{}, err
		}
		skill.SkillInfo, skill.Content, skill.Raw = o.info(text), text.content, bytes.Clone(text.raw) // the cache has the original
	}
	return reading[Skill, SkillInfo]{skill, []SkillInfo{skill.SkillInfo}}, nil
}

// listedSkill returns the SkillInfo of an entry for a list.
func (c *Catalog) listedSkill(s *index.Snapshot, e *index.Entry) SkillInfo {
	info := c.skillInfo(e)
	info.Shadows = c.shadows(s, e)
	return info
}

// shadows returns the places of the skills that a skill shadows.
func (c *Catalog) shadows(s *index.Snapshot, e *index.Entry) (places []string) {
	for _, other := range s.Shadows(e) {
		places = append(places, c.skills.Place(other))
	}
	return places
}

func (c *Catalog) skillInfo(e *index.Entry) SkillInfo {
	return c.describeSkill(e, newFrontmatter(e.Header()), e.Problems())
}

// describeSkill is skillInfo with the current header and problems of the file.
func (c *Catalog) describeSkill(e *index.Entry, header Frontmatter, problems []problem.Problem) SkillInfo {
	s := SkillInfo{
		Name:          e.Name,
		DeclaredName:  header.Text("name"),
		Description:   strings.TrimSpace(header.Text("description")),
		License:       header.Text("license"),
		Compatibility: header.Text("compatibility"),
		Metadata:      metadata(header),
		AllowedTools:  allowedTools(header),
		Loadable:      e.Broken() == nil,
		Layer:         c.skills.Layer(e.Layer()).Name,
		Frontmatter:   header,
	}
	s.DisableModelInvocation, _ = header.Bool("disable-model-invocation")
	invocable, said := header.Bool("user-invocable")
	s.UserInvocable = invocable || !said
	if e.Broken() != index.ErrNoSkillFile {
		s.Path = c.skills.Layer(e.Layer()).FS.Path(e.Spelled())
	}
	for _, p := range problems {
		s.Diagnostics = append(s.Diagnostics, newDiagnostic(p))
	}
	return s
}

// metadata reads the field metadata. The specification defines a map of string to
// string. One in seven public files has other values, so metadata accepts any
// mapping.
func metadata(header Frontmatter) map[string]string {
	v, _ := header.doc.Get("metadata")
	if v.Kind != matter.Mapping {
		return nil
	}
	m := make(map[string]string, len(v.Fields()))
	for _, f := range v.Fields() {
		switch f.Value.Kind {
		case matter.Mapping, matter.Sequence:
			m[f.Key] = string(f.Value.AppendJSON(nil))
		default:
			m[f.Key] = f.Value.Text
		}
	}
	return m
}

// allowedTools reads the field allowed-tools.
func allowedTools(header Frontmatter) []string {
	v, _ := header.doc.Get("allowed-tools")
	tools, _ := matter.Tools(v)
	return tools
}

// SkillLayers returns the names of the layers of skills, as given to the options, in
// order of precedence. A missing directory that no option names is omitted, and after
// Close every such directory. SkillLayers stats the directories that no option names.
func (c *Catalog) SkillLayers() []string {
	open := c.enter()
	if open {
		defer c.leave()
	}
	var all []string
	for i, l := range c.skills.layers {
		exists := l.named
		if !exists && open {
			at := c.skills.Layer(i)
			_, err := at.FS.Info(at.Dir)
			exists = err == nil
		}
		if exists {
			all = append(all, l.name)
		}
	}
	return all
}

// SkillSubdir returns the directory of a listed skill below its layer, with slashes, as
// in "tools/pdf" (see [WithSkillDepth]). For a skill that is the layer itself, SkillSubdir
// returns ".". For a skill without a SKILL.md, or of another catalog, SkillSubdir returns
// "". SkillSubdir reads nothing, and works after Close.
func (c *Catalog) SkillSubdir(s SkillInfo) string {
	for _, l := range c.skills.Layers() {
		if l.Name != s.Layer || s.Path == "" {
			continue
		}
		below, err := filepath.Rel(l.FS.Path(l.Dir), s.Path)
		if err == nil && filepath.IsLocal(below) {
			return path.Dir(filepath.ToSlash(below))
		}
	}
	return ""
}
