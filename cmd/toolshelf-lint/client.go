package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	table "github.com/toolshelf-go/toolshelf/client"
)

// A client states where a program looks for commands and skills in a project.
type client struct {
	commands   []string // directories of Markdown files, highest precedence first
	skills     []string
	skillDepth int      // levels of directories in which the client looks for skills
	looseNames bool     // the names of commands contain dots
	shown      int      // characters of a description and of when_to_use that a model sees; 0 if the client has no limit besides the specification of skills
	required   []string // the commands and skills that each project must have
}

// anyClient has the usual directories.
var anyClient = client{
	commands:   []string{"commands", ".claude/commands"},
	skills:     []string{"skills", ".claude/skills", ".agents/skills"},
	skillDepth: 4,
}

// lookup returns the client with a name: the places of Markdown files in a project. Nested skills
// may be six levels deep, the maximum.
func lookup(name string) (c client, err error) {
	row, err := table.Lookup(name)
	for _, p := range row.Commands {
		if p.Base == table.Project && strings.HasSuffix(p.Pattern, ".md") {
			c.commands = append(c.commands, p.Dir)
			c.looseNames = c.looseNames || p.Suffix() != ".md"
		}
	}
	c.skillDepth = 1
	for _, p := range row.Skills {
		if p.Base == table.Project {
			c.skills = append(c.skills, p.Dir)
			if p.Nested() {
				c.skillDepth = 6
			}
		}
	}
	if i := slices.IndexFunc(row.Fields, func(f table.Field) bool { return f.Name == "description" }); i >= 0 {
		c.shown = row.Fields[i].Limit
	}
	return c, err
}

// with returns the client with further directories, which each project must have.
func (c client) with(commands, skills []string) client {
	c.commands, c.skills = slices.Concat(c.commands, commands), slices.Concat(c.skills, skills)
	c.required = slices.Concat(commands, skills)
	return c
}

// options returns the options of a catalog over the directories that exist in dir. If
// none exists, options returns nil.
func (c client) options(dir string) []toolshelf.Option {
	commands, skills := existing(dir, c.commands), existing(dir, c.skills)
	if len(commands)+len(skills) == 0 {
		return nil
	}
	options := []toolshelf.Option{
		toolshelf.WithRoot(dir), toolshelf.WithNestedCommands(), toolshelf.WithSkillDepth(c.skillDepth),
		toolshelf.WithCommandsDir(commands...), toolshelf.WithSkillsDir(skills...),
	}
	if c.looseNames {
		options = append(options, toolshelf.WithLooseNames())
	}
	return options
}

// existing returns the names that are directories in dir. If several names lead to the
// same directory through links, existing returns the first name.
func existing(dir string, names []string) []string {
	var found []string
	var infos []os.FileInfo
next:
	for _, name := range names {
		info, err := os.Stat(below(dir, name))
		if err != nil || !info.IsDir() {
			continue
		}
		for _, other := range infos {
			if os.SameFile(info, other) {
				continue next
			}
		}
		found, infos = append(found, name), append(infos, info)
	}
	return found
}

// below returns the path of a directory of a project. The name may be absolute.
func below(project, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(project, name)
}
