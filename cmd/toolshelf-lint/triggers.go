package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	table "github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/triggers"
)

// requests are the requests of the file of -triggers.
type requests struct {
	file string
	all  []triggers.Request
}

func readRequests(file string) (*requests, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all, err := triggers.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", displayed(file), err)
	}
	return &requests{file, all}, nil
}

// check adds the findings of the requests to the result of a directory.
func (r *requests) check(
	ctx context.Context, catalog *toolshelf.Catalog, dir string, c client, checked *result,
) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var skills []triggers.Skill
	for s, err := range catalog.Skills(ctx) {
		if err != nil && toolshelf.CodeOf(err) != toolshelf.CodeDirectoryNotFound {
			return err
		}
		if err != nil || !s.Loadable || s.Exposure != toolshelf.ExposeFull && s.Exposure != toolshelf.ExposeName {
			continue // no model sees the skill
		}
		shown := triggers.Skill{Name: s.Name, Content: s.Content, Path: encodePath(displayed(s.Path))}
		if below, err := filepath.Rel(full, s.Path); err == nil && filepath.IsLocal(below) {
			shown.Path = encodePath(path.Join(displayed(dir), filepath.ToSlash(below)))
		}
		if s.Exposure == toolshelf.ExposeFull {
			shown.Description = strings.TrimSpace(s.Description + " " + s.Frontmatter.Text("when_to_use"))
		}
		skills = append(skills, shown)
	}
	found, first, err := triggers.Check(ctx, skills, encodePath(displayed(r.file)), r.all, c.cuts())
	checked.diagnostics = append(checked.diagnostics, found...)
	checked.requests, checked.first = len(r.all), first
	return err
}

// cuts returns the beginnings of descriptions that the client shows a model, or without a client all
// clients.
func (c client) cuts() (all []triggers.Cut) {
	rows := []table.Client{c.Client}
	if c.Name == "" {
		rows = table.All()
	}
	for _, row := range rows {
		for _, f := range row.Fields {
			if f.Name == "description" && f.Cut > 0 && f.In(table.Skills) {
				all = append(all, triggers.Cut{Client: row.Title, Characters: f.Cut})
			}
		}
	}
	return all
}
