package crush

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
)

func newSkill(header agentmd.Frontmatter, text string) *Skill {
	invocable, _ := header.Bool("user-invocable")
	disabled, _ := header.Bool("disable-model-invocation")
	return &Skill{Name: header.Text("name"), Description: header.Text("description"), License: header.Text("license"),
		Compatibility: header.Text("compatibility"), Instructions: strings.TrimSpace(text),
		UserInvocable: invocable, DisableModelInvocation: disabled}
}

// ParseContent parses a SKILL.md.
func ParseContent(content []byte) (*Skill, error) {
	doc := agentmd.Parse(content)
	if doc.Frontmatter.Format == "" {
		return nil, errors.New("no YAML frontmatter found")
	}
	return newSkill(doc.Frontmatter, string(doc.Body)), nil
}

// DiscoverWithStates finds the skills below the paths. If several paths have a skill of one name,
// the last path wins.
func DiscoverWithStates(paths []string) (skills []*Skill, states []*SkillState) {
	layers := slices.Clone(paths)
	slices.Reverse(layers)
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(layers...), toolshelf.WithSkillDepth(6), toolshelf.WithSymlinks(toolshelf.SymlinksAll))
	if err != nil {
		return nil, []*SkillState{{State: StateError, Err: err}}
	}
	defer catalog.Close()
	for found, err := range catalog.Skills(context.Background()) {
		if errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			break
		}
		state := &SkillState{Name: found.Name, Path: found.Path, Err: err}
		states = append(states, state)
		skill := newSkill(found.Frontmatter, found.Content)
		skill.Metadata, skill.Path, skill.SkillFilePath = found.Metadata, filepath.Dir(found.Path), found.Path
		if err == nil && !found.Loadable {
			state.Err = errors.New(found.Diagnostics[0].String())
		} else if err == nil {
			state.Err = skill.Validate()
		}
		if state.Err != nil {
			state.State = StateError
			continue
		}
		skills = append(skills, skill)
	}
	return skills, states
}
