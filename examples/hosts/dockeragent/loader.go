package dockeragent

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/toolshelf-go/toolshelf"
)

func loadSkillsFromDir(dir string, recursive bool) (skills []Skill) {
	levels := 1
	if recursive {
		levels = 6
	}
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(dir), toolshelf.WithSkillDepth(levels))
	if err != nil {
		return nil
	}
	defer catalog.Close()
	found, _ := catalog.ListSkills(context.Background()) // no skills if the directory is missing
	for _, s := range found {
		if s.Loadable && s.Description != "" {
			skills = append(skills, Skill{Name: cmp.Or(s.DeclaredName, s.Name), Description: s.Description, FilePath: s.Path,
				BaseDir: filepath.Dir(s.Path), License: s.License, Compatibility: s.Compatibility, Metadata: s.Metadata,
				AllowedTools: s.AllowedTools})
		}
	}
	return skills
}
