package trpc

import (
	"context"
	"path"
	"path/filepath"

	"github.com/toolshelf-go/toolshelf"
)

type repository struct{ *toolshelf.Catalog }

// NewRepository returns a repository over a catalog, for example
// toolshelf.New(toolshelf.WithSkillsDir(roots...)).
func NewRepository(catalog *toolshelf.Catalog) Repository { return repository{catalog} }

func (r repository) Summaries() (all []Summary) {
	found, _ := r.ListSkills(context.Background()) // the interface has no error
	for _, s := range found {
		if s.Loadable && s.Description != "" {
			all = append(all, Summary{Name: s.Name, Description: s.Description})
		}
	}
	return all
}

func (r repository) Get(name string) (*Skill, error) {
	found, err := r.GetSkill(context.Background(), name)
	if err != nil {
		return nil, err
	}
	skill := &Skill{Summary: Summary{Name: found.Name, Description: found.Description}, Body: found.Content}
	for _, file := range found.Files {
		if ext := path.Ext(file.Path); file.Path == "SKILL.md" || ext != ".md" && ext != ".txt" {
			continue
		}
		content, err := r.ReadSkillFile(context.Background(), name, file.Path)
		if err != nil {
			return nil, err
		}
		skill.Docs = append(skill.Docs, Doc{Path: file.Path, Content: string(content)})
	}
	return skill, nil
}

func (r repository) Path(name string) (string, error) {
	found, err := r.GetSkill(context.Background(), name)
	if err != nil {
		return "", err
	}
	return filepath.Dir(found.Path), nil
}
