package adk

import (
	"bytes"
	"context"
	"io"

	"github.com/toolshelf-go/toolshelf"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool/skilltoolset"
	"google.golang.org/adk/v2/tool/skilltoolset/skill"
)

type skillSource struct {
	*toolshelf.Catalog
	skill.Source // for ListResources, which the toolset does not call
}

func (s skillSource) ListFrontmatters(ctx context.Context) (all []*skill.Frontmatter, err error) {
	skills, err := s.ListSkills(ctx)
	for _, info := range skills {
		all = append(all, &skill.Frontmatter{Name: info.Name, Description: info.Description})
	}
	return all, err
}

func (s skillSource) LoadFrontmatter(ctx context.Context, name string) (*skill.Frontmatter, error) {
	found, err := s.GetSkill(ctx, name)
	return &skill.Frontmatter{Name: found.Name, Description: found.Description}, err
}

func (s skillSource) LoadInstructions(ctx context.Context, name string) (string, error) {
	found, err := s.GetSkill(ctx, name)
	return found.Content, err
}

func (s skillSource) LoadResource(ctx context.Context, name, path string) (io.ReadCloser, error) {
	content, err := s.ReadSkillFile(ctx, name, path)
	return io.NopCloser(bytes.NewReader(content)), err
}

// AskSkills is Ask with ADK's toolset of skills in place of the instructions.
func AskSkills(ctx context.Context, config llmagent.Config, catalog *toolshelf.Catalog, question string) (string, error) {
	toolset, err := skilltoolset.New(ctx, skilltoolset.Config{Source: skillSource{catalog, skill.NewMergedSource()}})
	if err != nil {
		return "", err
	}
	config.Toolsets = append(config.Toolsets, toolset)
	return Ask(ctx, config, "", question)
}
