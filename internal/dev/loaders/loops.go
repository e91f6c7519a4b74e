package loaders

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
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
		Name: name,
		Skills: func(dir string) (map[string]Entry, error) {
			return loop(dir, func(entry fs.DirEntry) (string, bool) {
				return filepath.Join(entry.Name(), "SKILL.md"), entry.IsDir()
			}, parse, func(file, name, description string) (string, bool) {
				if name == "" {
					name = filepath.Base(filepath.Dir(file))
				}
				return name, strings.TrimSpace(description) != ""
			})
		},
		Commands: func(dir string) (map[string]Entry, error) {
			return loop(dir, func(entry fs.DirEntry) (string, bool) {
				return entry.Name(), !entry.IsDir() && strings.HasSuffix(entry.Name(), ".md")
			}, parse, func(file, _, _ string) (string, bool) {
				return strings.TrimSuffix(filepath.Base(file), ".md"), true
			})
		},
	}
}

func loop(dir string, candidate func(fs.DirEntry) (string, bool), parse Parse, accept func(file, name, description string) (string, bool)) (map[string]Entry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	got := map[string]Entry{}
	for _, entry := range entries {
		file, ok := candidate(entry)
		if !ok {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		name, description, body, err := parse(data)
		if err != nil {
			continue
		}
		if name, ok := accept(filepath.Join(dir, file), name, description); ok {
			got[name] = Entry{description, body}
		}
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
	load := func(option toolshelf.Option, read func(context.Context, *toolshelf.Catalog, map[string]Entry) error) (_ map[string]Entry, err error) {
		catalog, err := toolshelf.New(option)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, catalog.Close()) }()
		got := map[string]Entry{}
		return got, read(context.Background(), catalog, got)
	}
	return Loader{
		Name: "toolshelf",
		Skills: func(dir string) (map[string]Entry, error) {
			return load(toolshelf.WithSkillsDir(dir), func(ctx context.Context, catalog *toolshelf.Catalog, got map[string]Entry) error {
				prompt, err := catalog.SkillsPrompt(ctx)
				if err != nil {
					return err
				}
				for skill, err := range catalog.Skills(ctx) {
					if err != nil {
						return err
					}
					if slices.Contains(prompt.Included, skill.Name) {
						got[skill.Name] = Entry{skill.Description, skill.Content}
					}
				}
				return nil
			})
		},
		Commands: func(dir string) (map[string]Entry, error) {
			return load(toolshelf.WithCommandsDir(dir), func(ctx context.Context, catalog *toolshelf.Catalog, got map[string]Entry) error {
				for command, err := range catalog.Commands(ctx) {
					if err != nil {
						return err
					}
					got[command.Name] = Entry{command.Metadata.Description, command.Content}
				}
				return nil
			})
		},
	}
}
