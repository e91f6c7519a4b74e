package loaders

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/frontmatter"
	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf"
)

// A Parse reads the header and the text of a file. An error omits the file.
type Parse func(data []byte) (name, description, body string, err error)

// Loop returns the loop that many programs write around a parser: each directory with a SKILL.md is
// a skill, and each Markdown file is a command. The loop omits skills without a description, and
// uses the name of the directory if the header has no name.
func Loop(name string, parse Parse) Loader {
	return Loader{
		Name:     name,
		Skills:   func(dir string) (map[string]Entry, error) { return loop(dir, true, parse) },
		Commands: func(dir string) (map[string]Entry, error) { return loop(dir, false, parse) },
	}
}

func loop(dir string, skills bool, parse Parse) (map[string]Entry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	got := map[string]Entry{}
	for _, entry := range entries {
		file := filepath.Join(dir, entry.Name())
		if skills {
			file = filepath.Join(file, "SKILL.md")
		}
		if entry.IsDir() != skills || !strings.HasSuffix(file, ".md") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		name, description, body, err := parse(data)
		switch {
		case err != nil || skills && strings.TrimSpace(description) == "":
			continue
		case !skills:
			name = strings.TrimSuffix(entry.Name(), ".md")
		case name == "":
			name = entry.Name()
		}
		got[name] = Entry{description, body}
	}
	return got, nil
}

type header struct{ Name, Description string }

// SplitLoop returns the loop with strings.SplitN and a YAML decoder.
func SplitLoop() Loader {
	return Loop("Split loop", func(data []byte) (string, string, string, error) {
		before, rest, opened := strings.Cut(string(data), "---")
		text, body, closed := strings.Cut(rest, "---")
		if !opened || !closed || strings.TrimSpace(before) != "" {
			return "", "", string(data), nil
		}
		var h header
		err := yaml.Unmarshal([]byte(text), &h)
		return h.Name, h.Description, body, err
	})
}

// FrontmatterLoop returns the loop with github.com/adrg/frontmatter.
func FrontmatterLoop() Loader {
	return Loop("adrg loop", func(data []byte) (string, string, string, error) {
		var h header
		body, err := frontmatter.Parse(bytes.NewReader(data), &h)
		return h.Name, h.Description, string(body), err
	})
}

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
