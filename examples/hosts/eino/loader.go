package eino

import (
	"context"
	"path/filepath"

	"github.com/toolshelf-go/toolshelf"
)

type backend struct{ catalog *toolshelf.Catalog }

// NewBackend returns a backend over a catalog, for example
// toolshelf.New(toolshelf.WithSkillsDir(dir)).
func NewBackend(catalog *toolshelf.Catalog) Backend { return backend{catalog} }

func (b backend) List(ctx context.Context) (all []FrontMatter, err error) {
	found, err := b.catalog.ListSkills(ctx)
	for _, s := range found {
		if s.Loadable && s.Description != "" {
			all = append(all, FrontMatter{Name: s.Name, Description: s.Description})
		}
	}
	return all, err
}

func (b backend) Get(ctx context.Context, name string) (Skill, error) {
	found, err := b.catalog.GetSkill(ctx, name)
	if err != nil {
		return Skill{}, err
	}
	return Skill{FrontMatter{found.Name, found.Description}, found.Content, filepath.Dir(found.Path)}, nil
}
