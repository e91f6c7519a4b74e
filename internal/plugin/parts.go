package plugin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A loading joins the fields of the manifest and of the entry of one plugin.
type loading struct {
	f               *finder
	d               *directory
	p               *Plugin
	format          *format
	manifest, entry definition
	root            bool // the entry has the whole marketplace as its source
}

// describe fills in the texts. The entry precedes the manifest, except for the version (Claude Code
// 2.1.330).
func (l *loading) describe(name string) {
	p, m, e := l.p, l.manifest, l.entry
	p.About = About{Name: name, DisplayName: cmp.Or(e.DisplayName, m.DisplayName),
		Version: cmp.Or(m.Version, e.Version), Description: cmp.Or(e.Description, m.Description),
		Homepage: cmp.Or(e.Homepage, m.Homepage), Repository: cmp.Or(e.Repository, m.Repository),
		License: cmp.Or(e.License, m.License), Author: cmp.Or(e.Author, m.Author), Keywords: e.Keywords}
	if len(p.Keywords) == 0 {
		p.Keywords = m.Keywords
	}
	if p.Manifest != "" && m.Name == "" {
		unnamed := problem.New(problem.PluginFieldIgnored, problem.Warning, escape.Path(p.Manifest),
			"the manifest has no name; the name of the plugin is "+quoted(name), `write a "name"`)
		unnamed.Key = "name"
		p.Problems = append(p.Problems, unnamed)
	}
}

// conflict reports whether the manifest and the entry both name components. Claude Code 2.1.330
// loads no such plugin if the entry is not strict.
func (l *loading) conflict() bool { return l.manifest.components() && l.entry.components() }

func (d *definition) components() bool { return len(d.paths) > 0 || !d.hooks.empty() }

// parts adds the parts of each place: the default directory, then the paths of the manifest, then
// the paths of the entry. Only the manifest replaces a default directory (Claude Code 2.1.330).
func (l *loading) parts() {
	if l.f.parts > maxParts {
		l.report(problem.PluginInvalid, l.d.path, "the plugin has no commands, skills and agents, "+
			"because the plugins before name too many paths", "name directories instead of files")
		return
	}
	l.p.Parts = make([]Part, 0, len(l.format.places))
	for _, pl := range l.format.places {
		declared := l.declared(pl)
		named := l.manifest.paths[pl.dir] != nil
		replaced := named && !pl.adds
		if pl.adds && l.root && l.entry.paths[pl.dir] != nil {
			replaced = l.lists(pl)
		}
		all := l.p.Parts[len(l.p.Parts):]
		if !replaced && l.exists(pl.dir) {
			all = append(all, l.defaultPart(pl, pl.dir))
		}
		all = append(all, declared...)
		// Without a manifest, the skills of the entry take the place of the SKILL.md (Claude Code
		// 2.1.330).
		single := pl.single && !named && l.f.options.Only == "" &&
			(l.p.Manifest != "" || len(declared) == 0)
		if single && !replaced && !l.d.isDir(pl.dir) && l.d.has("SKILL.md") {
			all = append(all, l.defaultPart(pl, "."))
		}
		l.p.Parts = append(l.p.Parts, slices.DeleteFunc(uncovered(all), l.crowded)...)
	}
	l.f.parts += len(l.p.Parts)
}

// declared returns the parts of a place that the manifest and the entry name.
func (l *loading) declared(pl place) (all []Part) {
	for _, p := range slices.Concat(l.manifest.paths[pl.dir], l.entry.paths[pl.dir]) {
		if part, ok := l.part(pl, p); ok {
			all = append(all, part)
		}
	}
	return all
}

// defaultPart returns the part of a path that neither the manifest nor the entry names.
func (l *loading) defaultPart(pl place, p string) Part {
	part, _ := l.part(pl, p)
	part.Declared = false
	return part
}

// crowded reports whether too many plugins before share the directory of a part.
func (l *loading) crowded(p Part) bool {
	if !strings.Contains(p.Pattern, "*") {
		return false // one file
	}
	key := sharedDir{p.Kind, p.Path}
	l.f.sharing[key]++
	if l.f.sharing[key] <= maxSharing {
		return false
	}
	message := "the directory is not listed for the plugin: %d plugins before share the directory"
	l.report(problem.PluginPathInvalid, p.Path, fmt.Sprintf(message, maxSharing),
		"give the plugin a directory of its own, or list single skills and files")
	return true
}

func (l *loading) report(code problem.Code, file, message, suggestion string) {
	l.p.Problems = append(l.p.Problems,
		problem.New(code, problem.Error, escape.Path(file), message, suggestion))
}

// A sharedDir is a directory with files of one kind.
type sharedDir struct {
	kind client.Files
	path string
}

// maxSharing bounds the number of plugins of a marketplace that share a directory of files, because
// each file is an entry of each plugin.
const maxSharing = 100

// maxParts bounds the memory of a table, because entries of a marketplace may share a manifest with
// many paths. Plugins after the number of parts have no parts.
const maxParts = 100_000

// lists reports whether an entry with the whole marketplace as its source lists all of its skills.
// The list is complete if a listed directory exists, and if the list contains neither the default
// directory nor the plugin (code.claude.com/docs/en/plugin-marketplaces, 2026-08).
func (l *loading) lists(pl place) bool {
	exists := false
	for _, p := range l.entry.paths[pl.dir] {
		if p == "." || p == pl.dir {
			return false
		}
		exists = exists || l.f.skillsIn(l.d, p) != missing
	}
	return exists
}

// exists reports whether the plugin has a default directory, and reports a file with the name.
func (l *loading) exists(dir string) bool {
	if l.d.isDir(dir) {
		return true
	}
	if _, ok := l.d.entry(dir); ok {
		l.report(problem.PluginPathInvalid, l.d.join(dir),
			"the file "+quoted(dir)+" has the name of a directory of the plugin", "rename the file")
	}
	return false
}

// part returns the part of a path. A path with the ending of the files of the place is the path of
// a file. The path of a file of another place with the same field is no part.
func (l *loading) part(pl place, p string) (part Part, ok bool) {
	part = Part{Kind: pl.kind, Path: l.d.join(p), Declared: true, Pattern: pl.pattern, Names: pl.names, Rules: pl.rules, Format: l.format.manifest}
	if pl.kind == client.Skills {
		if strings.EqualFold(path.Base(p), "SKILL.md") {
			l.report(problem.PluginPathInvalid, part.Path,
				"the path is a file, not the directory of a skill", "write the path of the directory")
			return part, false
		}
		if part.Single = pl.single; p != pl.dir && l.f.skillsIn(l.d, p) == oneSkill {
			part.Pattern = "SKILL.md"
		}
		return part, true
	}
	ext := strings.ToLower(path.Ext(p))
	if ext == path.Ext(pl.pattern) {
		part.File, part.Pattern = true, ""
	}
	return part, part.File || ext != ".md" && ext != ".toml"
}

// uncovered returns the parts of one place without the parts whose files are files of another part.
func uncovered(all []Part) []Part {
	if len(all) < 2 {
		return all
	}
	type place struct{ path, pattern string }
	places := make(map[place]bool, len(all))
	for _, p := range all {
		places[place{p.Path, p.Pattern}] = true
	}
	nested := []string{"**/*.md", "**/*.toml", "**/*.agent.md", "**/SKILL.md"}
	covered := func(p Part) bool {
		if p.Pattern == "SKILL.md" && p.Path != "." && places[place{path.Dir(p.Path), "*/SKILL.md"}] {
			return true
		}
		for dir := p.Path; dir != "."; {
			if dir = path.Dir(dir); slices.ContainsFunc(nested, func(pattern string) bool { return places[place{dir, pattern}] }) {
				return true
			}
		}
		return false
	}
	kept := make(map[place]bool, len(all))
	return slices.DeleteFunc(all, func(p Part) bool {
		key := place{p.Path, p.Pattern}
		if kept[key] || covered(p) {
			return true
		}
		kept[key] = true
		return false
	})
}

// config adds the values and the files of a field, after the default file.
func (l *loading) config(
	usual string, values *[]json.RawMessage, files *[]string, declared ...config,
) {
	if usual != "" && l.d.has(usual) {
		*files = append(*files, l.d.join(usual))
	}
	for _, c := range declared {
		*values = append(*values, c.values...)
		for _, file := range c.files {
			if file != usual {
				*files = append(*files, l.d.join(file))
			}
		}
	}
}
