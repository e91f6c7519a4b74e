package loaders

import (
	"context"
	"slices"

	"github.com/toolshelf-go/toolshelf"
)

// Toolshelf returns the loader of this library. A skill is shown if SkillsPrompt shows it.
func Toolshelf() Loader {
	return Loader{
		Name: "toolshelf",
		Skills: func(dir string) (map[string]Entry, error) {
			catalog, err := toolshelf.New(toolshelf.WithSkillsDir(dir))
			if err != nil {
				return nil, err
			}
			defer catalog.Close()
			prompt, err := catalog.SkillsPrompt(context.Background())
			if err != nil {
				return nil, err
			}
			got := map[string]Entry{}
			for skill, err := range catalog.Skills(context.Background()) {
				if err != nil {
					return nil, err
				}
				if slices.Contains(prompt.Included, skill.Name) {
					got[skill.Name] = Entry{skill.Description, skill.Content}
				}
			}
			return got, nil
		},
		Commands: func(dir string) (map[string]Entry, error) {
			catalog, err := toolshelf.New(toolshelf.WithCommandsDir(dir))
			if err != nil {
				return nil, err
			}
			defer catalog.Close()
			got := map[string]Entry{}
			for command, err := range catalog.Commands(context.Background()) {
				if err != nil {
					return nil, err
				}
				got[command.Name] = Entry{command.Metadata.Description, command.Content}
			}
			return got, nil
		},
	}
}
