package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A result is the outcome of a check.
type result struct {
	diagnostics []toolshelf.Diagnostic // not nil
	files       int                    // number of checked files

	requests, first int // number of requests of -triggers, and of those that rank their skill first
}

// count returns the number of diagnostics with a severity.
func (r result) count(severity toolshelf.Severity) (n int) {
	for _, d := range r.diagnostics {
		if d.Severity == severity {
			n++
		}
	}
	return n
}

// String returns the summary, as in "12 files checked: 1 error, 2 warnings".
func (r result) String() string {
	of := func(n int, noun string) string {
		if n == 1 {
			return "1 " + noun
		}
		return fmt.Sprintf("%d %ss", n, noun)
	}
	s := fmt.Sprintf("%s checked: %s, %s", of(r.files, "file"), of(r.count(toolshelf.SeverityError), "error"), of(r.count(toolshelf.SeverityWarning), "warning"))
	if r.requests > 0 {
		s += fmt.Sprintf("; %d of %s as expected", r.first, of(r.requests, "request"))
	}
	return s
}

// check returns the diagnostics of the projects in the directories.
func check(ctx context.Context, dirs []string, c client) (result, error) {
	all := result{diagnostics: []toolshelf.Diagnostic{}}
	for _, dir := range dirs {
		found, err := checkDir(ctx, dir, c)
		if err != nil {
			return result{}, err
		}
		all.diagnostics = append(all.diagnostics, found.diagnostics...)
		all.files += found.files
		all.requests, all.first = all.requests+found.requests, all.first+found.first
	}
	return all, nil
}

func checkDir(ctx context.Context, dir string, c client) (checked result, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return result{}, err
	}
	for _, name := range c.required {
		if _, err := os.ReadDir(below(dir, name)); err != nil {
			return result{}, err
		}
	}
	options, exist := c.options(dir)
	if !exist && has(dir, "*/SKILL.md") {
		options, exist = c.with(further{skills: []string{"."}}).options(dir)
	}
	catalog, err := toolshelf.New(options...)
	if err != nil {
		return result{}, err
	}
	defer catalog.Close()
	count := toolshelf.WithProgress(func(p toolshelf.Progress) { checked.files = p.Files })
	if checked.diagnostics, err = catalog.Lint(ctx, count, c.rules); err != nil {
		return result{}, err
	}
	if !exist && checked.files+len(checked.diagnostics) == 0 {
		return result{}, fmt.Errorf("%s has none of the directories %s, and no instructions; %s",
			dir, strings.Join(c.directories(), ", "), proposal(dir))
	}
	prefix := displayed(dir)
	for i, d := range checked.diagnostics {
		file := escape.Decode(d.Path)
		if filepath.IsAbs(file) {
			file = displayed(file)
		} else {
			file = path.Join(prefix, file)
		}
		checked.diagnostics[i].Path = encodePath(file)
	}
	if c.triggers != nil {
		err = c.triggers.check(ctx, catalog, dir, c, &checked)
	}
	return checked, err
}

// has reports whether a file below dir matches a pattern.
func has(dir, pattern string) bool {
	found, err := fs.Glob(os.DirFS(dir), pattern)
	return err == nil && len(found) > 0
}

// proposal returns the call that checks the files of a directory that is no project.
func proposal(dir string) string {
	switch {
	case has(dir, "SKILL.md"):
		return "for a skill, write toolshelf-lint -skills . " + filepath.Join(dir, "..")
	case has(dir, "*/*/SKILL.md"):
		return "for a directory of skills, write toolshelf-lint -skills . " + dir
	case has(dir, "*.md"):
		return "for a directory of commands, write toolshelf-lint -commands . " + dir
	}
	return "name the root of a project, or another client"
}

// encodePath returns a path in a form that cannot begin or forge a line of the output.
func encodePath(file string) string {
	if strings.HasPrefix(file, "::") { // a workflow command of GitHub Actions
		file = "./" + file
	}
	return escape.Path(file)
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
