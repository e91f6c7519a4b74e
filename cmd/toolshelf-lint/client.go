package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolshelf-go/toolshelf"
	table "github.com/toolshelf-go/toolshelf/client"
)

// A client states where a program looks for commands, skills and agents in a project.
type client struct {
	table.Client
	rules      toolshelf.LintOption // nil for the rules of Agent Skills
	skillDepth int                  // levels of directories in which the client looks for skills
	required   []string             // the directories that each project must have
	readers    []table.Client       // the clients whose instructions are checked
	triggers   *requests            // of -triggers, or nil

	further // directories besides the places of the client
}

// anyClient has the usual directories.
var anyClient = client{
	Client: table.Client{
		Commands: []table.Place{{Dir: "commands", Pattern: "**/*.md"}, {Dir: ".claude/commands", Pattern: "**/*.md"}},
		Skills:   []table.Place{{Dir: "skills", Pattern: "*/SKILL.md"}, {Dir: ".claude/skills", Pattern: "*/SKILL.md"}, {Dir: ".agents/skills", Pattern: "*/SKILL.md"}},
		Agents:   []table.Place{{Dir: "agents", Pattern: "**/*.md", Name: table.FromHeader}, {Dir: ".claude/agents", Pattern: "**/*.md", Name: table.OnlyHeader}},
	},
	skillDepth: 4,
	readers:    slices.DeleteFunc(table.All(), noInstructions),
}

func noInstructions(c table.Client) bool { return len(c.Instructions) == 0 }

// lookup returns the client with a name, with the places of a project only. The specification
// "agentskills" has the usual directories.
func lookup(name string) (client, error) {
	if spec := table.AgentSkills(); name == spec.Name {
		c := anyClient
		c.rules = toolshelf.LintFor(spec)
		return c, nil
	}
	row, err := table.Lookup(name)
	if err != nil {
		return client{}, fmt.Errorf("%w (for a client of your own, use -commands, -skills, -agents and -plugins, or call Lint with LintFor)", err)
	}
	ofUser := func(p table.Place) bool { return p.Base != table.Project }
	row.Commands, row.Skills, row.Agents = slices.DeleteFunc(row.Commands, ofUser), slices.DeleteFunc(row.Skills, ofUser), slices.DeleteFunc(row.Agents, ofUser)
	return client{Client: row, rules: toolshelf.LintFor(row), skillDepth: 1, readers: slices.DeleteFunc([]table.Client{row}, noInstructions)}, nil
}

// published has the directory itself as the directory of skills, by the rules for a publication:
// those of the specification.
var published = client{rules: toolshelf.LintFor(table.AgentSkills()), skillDepth: 1}.with(further{skills: []string{"."}})

// further are the directories of the flags, which each project must have.
type further struct{ commands, skills, agents, plugins []string }

// with returns the client with further directories.
func (c client) with(f further) client {
	c.further, c.required = f, slices.Concat(f.commands, f.skills, f.agents, f.plugins)
	return c
}

// directories returns the names of all directories, relative to a project or absolute.
func (c client) directories() (all []string) {
	for _, p := range slices.Concat(c.Commands, c.Skills, c.Agents) {
		all = append(all, p.Dir)
	}
	return slices.Compact(append(all, c.required...))
}

// options returns the options of a catalog over the directories that exist in dir and over the
// instructions, and whether a directory exists.
func (c client) options(dir string) (all []toolshelf.Option, exist bool) {
	var row table.Client
	row.Manifests = c.Manifests
	var commands, skills, agents, plugins []string
	row.Commands, commands = existing(dir, c.Commands, c.commands)
	row.Skills, skills = existing(dir, c.Skills, c.skills)
	row.Agents, agents = existing(dir, c.Agents, c.agents)
	_, plugins = existing(dir, nil, c.plugins)
	places := len(row.Commands) + len(row.Skills) + len(row.Agents)
	all = []toolshelf.Option{toolshelf.WithRoot(dir), toolshelf.WithHome(""), toolshelf.WithNestedCommands(), toolshelf.WithSkillDepth(c.skillDepth), toolshelf.WithInstructions(c.readers...)}
	if places > 0 {
		all = append(all, toolshelf.WithClient(row))
	}
	return append(all, toolshelf.WithCommandsDir(commands...), toolshelf.WithSkillsDir(skills...), toolshelf.WithAgentsDir(agents...), toolshelf.WithPlugins(plugins...)),
		places+len(commands)+len(skills)+len(agents)+len(plugins) > 0
}

// existing returns the places and the further names that are directories in dir. If several lead to
// the same directory through links, for files of the same kind, existing returns the first.
func existing(dir string, places []table.Place, names []string) (found []table.Place, further []string) {
	var infos []os.FileInfo
	var suffixes []string
	exists := func(name, suffix string) bool {
		info, err := os.Stat(below(dir, name))
		if err != nil || !info.IsDir() {
			return false
		}
		for i, other := range infos {
			if os.SameFile(info, other) && (suffixes[i] == suffix || suffix == "") {
				return false
			}
		}
		infos, suffixes = append(infos, info), append(suffixes, suffix)
		return true
	}
	for _, p := range places {
		if exists(p.Dir, p.Suffix()) {
			found = append(found, p)
		}
	}
	for _, name := range names {
		if exists(name, "") {
			further = append(further, name)
		}
	}
	return found, further
}

// below returns the path of a directory of a project. The name may be absolute.
func below(project, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(project, name)
}
