package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/toolshelf-go/toolshelf"
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

// The directories of the clients follow their documentation. Every client also has the
// directory .agents/skills of the client guide of Agent Skills, as in
// toolshelf.WithConventionalDirs. A depth of 6, the maximum, also stands for an
// undocumented depth.
var clients = map[string]client{
	"claude": {
		commands:   []string{".claude/commands"},
		skills:     []string{".claude/skills", ".agents/skills"},
		skillDepth: 1,
		shown:      1536, // of commands and skills, in the list for the model
	},
	"codex": {
		commands:   []string{".codex/prompts"},
		skills:     []string{".codex/skills", ".agents/skills"},
		skillDepth: 6,
	},
	"cursor": {
		commands:   []string{".cursor/commands"},
		skills:     []string{".cursor/skills", ".agents/skills"},
		skillDepth: 6,
	},
	"gemini": {
		skills:     []string{".gemini/skills", ".agents/skills"},
		skillDepth: 1,
	},
	"opencode": {
		commands:   []string{".opencode/commands", ".opencode/command"},
		skills:     []string{".opencode/skills", ".claude/skills", ".agents/skills"},
		skillDepth: 6,
	},
	"vscode": {
		commands:   []string{".github/prompts"}, // name.prompt.md
		skills:     []string{".github/skills", ".claude/skills", ".agents/skills"},
		skillDepth: 6,
		looseNames: true,
	},
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
