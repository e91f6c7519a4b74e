package agentframework

import (
	"context"

	"github.com/toolshelf-go/toolshelf"
)

type source struct{ *toolshelf.Catalog }

// NewSource returns a source over a catalog, for example toolshelf.New(WithSkillsDir(),
// WithSkillsFS("team", fsys)).
func NewSource(catalog *toolshelf.Catalog) Source { return source{catalog} }

// Skills returns the skills that have a description.
func (s source) Skills(ctx context.Context) (skills []*Skill, err error) {
	found, err := s.ListSkills(ctx)
	for _, info := range found {
		if !info.Loadable || info.Description == "" {
			continue
		}
		whole, err := s.GetSkill(ctx, info.Name)
		if err != nil {
			return nil, err
		}
		skill := &Skill{
			Frontmatter: Frontmatter{Name: info.Name, Description: info.Description, License: info.License,
				Compatibility: info.Compatibility, AllowedTools: info.Frontmatter.Text("allowed-tools"), Metadata: map[string]any{}},
			GetContent: func(ctx context.Context) (string, error) {
				current, err := s.GetSkill(ctx, info.Name)
				if err != nil {
					return "", err
				}
				return current.Prompt(), nil
			},
			AdditionalProperties: map[string]any{"fsskills.rootFS": whole.FS()},
		}
		for key, value := range info.Metadata {
			skill.Frontmatter.Metadata[key] = value
		}
		for _, file := range whole.Files {
			skill.Resources = append(skill.Resources, Resource{Name: file.Path, Read: func(ctx context.Context) (any, error) {
				content, err := s.ReadSkillFile(ctx, info.Name, file.Path)
				return string(content), err
			}})
		}
		skills = append(skills, skill)
	}
	return skills, err
}
