package loaders_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/frontmatter"
	"go.yaml.in/yaml/v3"
)

// A parseFunc reads the header and the text of a file. An error omits the file.
type parseFunc func(data []byte) (name, description, body string, err error)

// loopOf returns the loop that many programs write around a parser: each directory with a SKILL.md is
// a skill, and each Markdown file is a command. The loop omits skills without a description, and
// uses the name of the directory if the header has no name.
func loopOf(name string, parse parseFunc) loader {
	return loader{
		Name:     name,
		Skills:   func(dir string) (map[string]entry, error) { return loop(dir, true, parse) },
		Commands: func(dir string) (map[string]entry, error) { return loop(dir, false, parse) },
	}
}

func loop(dir string, skills bool, parse parseFunc) (map[string]entry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	got := map[string]entry{}
	for _, found := range entries {
		file := filepath.Join(dir, found.Name())
		if skills {
			file = filepath.Join(file, "SKILL.md")
		}
		if found.IsDir() != skills || !strings.HasSuffix(file, ".md") {
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
			name = strings.TrimSuffix(found.Name(), ".md")
		case name == "":
			name = found.Name()
		}
		got[name] = entry{Description: description, Body: body}
	}
	return got, nil
}

type header struct{ Name, Description string }

// splitLoop returns the loop with strings.SplitN and a YAML decoder.
func splitLoop() loader {
	return loopOf("Split loop", func(data []byte) (string, string, string, error) {
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

// frontmatterLoop returns the loop with github.com/adrg/frontmatter.
func frontmatterLoop() loader {
	return loopOf("adrg loop", func(data []byte) (string, string, string, error) {
		var h header
		body, err := frontmatter.Parse(bytes.NewReader(data), &h)
		return h.Name, h.Description, string(body), err
	})
}
