package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

// check returns the diagnostics of the projects in the directories. The list is not nil.
func check(ctx context.Context, dirs []string, c client) ([]toolshelf.Diagnostic, error) {
	all := []toolshelf.Diagnostic{}
	for _, dir := range dirs {
		found, err := checkDir(ctx, dir, c)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func checkDir(ctx context.Context, dir string, c client) ([]toolshelf.Diagnostic, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	for _, name := range c.required {
		if _, err := os.ReadDir(below(dir, name)); err != nil {
			return nil, err
		}
	}
	options := c.options(dir)
	if options == nil {
		return nil, fmt.Errorf("%s has none of the directories %s; name the root of a project, or another client",
			dir, strings.Join(slices.Concat(c.commands, c.skills), ", "))
	}
	catalog, err := toolshelf.New(options...)
	if err != nil {
		return nil, err
	}
	defer catalog.Close()
	diagnostics, err := catalog.Lint(ctx)
	if err != nil {
		return nil, err
	}
	prefix := displayed(dir)
	for i, d := range diagnostics {
		if filepath.IsAbs(d.Path) {
			diagnostics[i].Path = displayed(d.Path)
		} else {
			diagnostics[i].Path = path.Join(prefix, d.Path)
		}
	}
	return diagnostics, nil
}

// displayed returns a path in the form of the output: relative to the working directory
// if the path is below the working directory, and with slashes.
func displayed(dir string) string {
	if filepath.IsAbs(dir) {
		if working, err := os.Getwd(); err == nil {
			if below, err := filepath.Rel(working, dir); err == nil && filepath.IsLocal(below) {
				dir = below
			}
		}
	}
	return filepath.ToSlash(dir)
}
