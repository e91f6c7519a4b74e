package kit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
)

func newSkill(header agentmd.Frontmatter, name, path, text string) *Skill {
	if declared := header.Text("name"); declared != "" {
		name = declared
	}
	disabled, _ := header.Bool("disable-model-invocation")
	return &Skill{Name: name, Description: header.Text("description"), Content: strings.TrimSpace(text), Path: path,
		License: header.Text("license"), Compatibility: header.Text("compatibility"), AllowedTools: header.Text("allowed-tools"),
		DisableModelInvocation: disabled, Tags: header.List("tags"), When: header.Text("when")}
}

// LoadSkill reads one file, which may have no header.
func LoadSkill(path string) (*Skill, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	doc := agentmd.Parse(data)
	base := filepath.Base(path)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if strings.EqualFold(name, "SKILL") {
		name = filepath.Base(filepath.Dir(path))
	}
	return newSkill(doc.Frontmatter, name, path, string(doc.Body)), nil
}

// LoadSkillsFromDir loads the skills of a directory, and its Markdown and text files.
func LoadSkillsFromDir(dir string) (skills []*Skill, err error) {
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(dir))
	if err != nil {
		return nil, err
	}
	defer catalog.Close()
	for found, err := range catalog.Skills(context.Background()) {
		switch {
		case errors.Is(err, toolshelf.ErrDirectoryNotFound):
			return nil, nil
		case err != nil:
			return skills, err
		case found.Loadable:
			skill := newSkill(found.Frontmatter, found.Name, found.Path, found.Content)
			skill.Metadata = found.Metadata
			skills = append(skills, skill)
		}
	}
	for _, pattern := range []string{"*.md", "*.txt"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			skill, failed := LoadSkill(file)
			if err = errors.Join(err, failed); failed == nil {
				skills = append(skills, skill)
			}
		}
	}
	return skills, err
}
