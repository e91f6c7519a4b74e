package toolshelf

import (
	"context"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// SkillInfo is what a list tells of a skill. Those of its fields that the
// specification (https://agentskills.io/specification) has are from the
// frontmatter of the skill's SKILL.md as its author wrote it, and empty where
// that has no such field or cannot be read.
type SkillInfo struct {
	Name          string            `json:"name"`                    // the folder's; what GetSkill takes
	DeclaredName  string            `json:"declared_name,omitempty"` // the frontmatter's
	Description   string            `json:"description"`             // line breaks within it are kept
	License       string            `json:"license,omitempty"`
	Compatibility string            `json:"compatibility,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`      // values as written; lists and mappings as JSON
	AllowedTools  []string          `json:"allowed_tools,omitempty"` // one for each tool, whether written as a text with blanks or commas or as a list

	DisableModelInvocation bool `json:"disable_model_invocation,omitempty"` // its author wants only the user to choose it
	UserInvocable          bool `json:"user_invocable"`                     // the user may choose it; false only where its author says user-invocable: false

	Path        string       `json:"path"`                  // of SKILL.md, in full, on the filesystem that it is on; empty where there is none
	Layer       string       `json:"layer"`                 // the folder, or the name of the FS, that it is from, as the option has it
	Hides       []string     `json:"hides,omitempty"`       // skills of the same name that come later: their layers, and the paths of their SKILL.md below them
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"` // defects of the skill; see DiagnosticCode
	Frontmatter Frontmatter  `json:"-"`                     // all that its author wrote
}

// ListSkills returns the skills: the subdirectories of the layers, with or
// without a usable SKILL.md, sorted by name case-insensitively. The Diagnostics
// of a skill describe its problems, which affect no other skill.
// [WithSkillDepth] looks for skills in deeper directories.
//
// A layer with a SKILL.md of its own is a skill itself if no direct
// subdirectory has a SKILL.md; its subdirectories then belong to that skill.
// Otherwise the subdirectories are listed, and the layer's SKILL.md is a
// diagnostic. A skill that is a layer has the name of the directory. If a skill
// cannot have this name, as at the top of an fs.FS, the skill has the name in
// its SKILL.md, or else the layer's name.
//
// Left out are hidden folders, those called node_modules, and names that are
// not one safe path element (contract list_skills: no "/", "\" or ".."; also no
// control characters), which Lint names. A link to a folder is a skill if it is
// followed (see WithSymlinks). Of several layers with a skill of one name the
// first one's counts; which others it hides is told. No skills are an empty
// list.
//
// If no layer's folder exists the error is ErrDirectoryNotFound; if one cannot
// be read, it is ErrPermissionDenied. For others see List, which also tells
// the cost.
//
// The catalog keeps the frontmatter of all skills in memory, within the bounds
// of List. If the 32 MiB are used up, ListSkills returns of a further large
// frontmatter only name, description, disable-model-invocation and
// user-invocable, each cut to 1 KB, with the diagnostic FRONTMATTER_NOT_KEPT.
// GetSkill returns the skill whole.
func (c *Catalog) ListSkills(ctx context.Context) ([]SkillInfo, error) {
	const op = "ListSkills"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	snapshot, err := c.skillSnapshot(ctx)
	if err != nil {
		return nil, c.skillsError(op, err)
	}
	list := make([]SkillInfo, len(snapshot.Entries))
	for i, e := range snapshot.Entries {
		list[i] = c.listedSkill(snapshot, e)
	}
	return list, nil
}

// listedSkill is what a list tells of a skill.
func (c *Catalog) listedSkill(s *index.Snapshot, e *index.Entry) SkillInfo {
	info := c.skillInfo(e)
	info.Hides = c.hides(s, e)
	return info
}

// hides names the skills that a skill hides.
func (c *Catalog) hides(s *index.Snapshot, e *index.Entry) (places []string) {
	for _, hidden := range s.Hides(e) {
		places = append(places, c.skills.Place(hidden))
	}
	return places
}

func (c *Catalog) skillInfo(e *index.Entry) SkillInfo {
	return c.describeSkill(e, newFrontmatter(e.Header), e.Problems)
}

// describeSkill is skillInfo with the header and the problems of the file as it
// is now.
func (c *Catalog) describeSkill(e *index.Entry, header Frontmatter, problems []problem.Problem) SkillInfo {
	s := SkillInfo{
		Name:          e.Name,
		DeclaredName:  header.Text("name"),
		Description:   strings.TrimSpace(header.Text("description")),
		License:       header.Text("license"),
		Compatibility: header.Text("compatibility"),
		Metadata:      metadata(header),
		AllowedTools:  allowedTools(header),
		Layer:         c.skills.Layer(e.Layer).Name,
		Frontmatter:   header,
	}
	s.DisableModelInvocation, _ = header.Bool("disable-model-invocation")
	invocable, said := header.Bool("user-invocable")
	s.UserInvocable = invocable || !said
	if e.Broken != index.ErrNoSkillFile {
		s.Path = c.skills.Layer(e.Layer).FS.Path(e.Path)
	}
	for _, p := range problems {
		s.Diagnostics = append(s.Diagnostics, newDiagnostic(p))
	}
	return s
}

// metadata reads the specification's map of string to string, as leniently as
// public files need it: one in seven puts something else in.
func metadata(header Frontmatter) map[string]string {
	v, _ := header.doc.Get("metadata")
	if v.Kind != matter.Mapping {
		return nil
	}
	m := make(map[string]string, len(v.Fields))
	for _, f := range v.Fields {
		switch f.Value.Kind {
		case matter.Mapping, matter.Sequence:
			m[f.Key] = string(f.Value.AppendJSON(nil))
		default:
			m[f.Key] = f.Value.Text
		}
	}
	return m
}

// allowedTools reads the tools of a header.
func allowedTools(header Frontmatter) []string {
	v, _ := header.doc.Get("allowed-tools")
	tools, _ := matter.Tools(v)
	return tools
}

// skillsError says what is wrong with the skills' folders.
func (c *Catalog) skillsError(op string, err error) error {
	return c.layerError(op, err, c.config.skills, "skills", "Skills")
}
