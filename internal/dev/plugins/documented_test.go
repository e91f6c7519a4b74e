// Package plugins reads marketplaces and plugins without the code of the library, as the
// documentation of the clients describes them. The tests compare the library with this reader on
// testdata/marketplace.txtar and on public repositories.
//
// Sources: the pages plugins-reference, plugin-marketplaces, skills and sub-agents of
// code.claude.com/docs/en (2026-08-22), the release 2.1.330 of Claude Code, the Agent Plugins
// specification 1.0.0 and the draft of 1.1.0, and geminicli.com/docs/extensions.
package plugins

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An Entry is a command, a skill or an agent of a plugin.
type Entry struct {
	Kind, Plugin, Name string // Name has the prefix "plugin:"
	Path               string // relative to the root of the filesystem
}

func (e Entry) String() string { return e.Kind + " " + e.Name + " " + e.Path }

// A Set is the reading of one directory.
type Set struct {
	Plugins []string // the names of the plugins that are loaded
	Remote  []string // the names of the entries with a remote source
	Faults  []string // a plugin that is rejected, or a path that is refused
	Entries []Entry  // sorted
}

// marketplaces are the files that make a directory a marketplace.
var marketplaces = []string{".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json", ".github/plugin/marketplace.json"}

// manifests are the files that make a directory a plugin.
var manifests = []string{"plugin.json", ".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".cursor-plugin/plugin.json", "gemini-extension.json", "qwen-extension.json"}

var portable = regexp.MustCompile(`^https://agent-plugins\.org/schemas/1\.\d+\.\d+/plugin\.schema\.json$`)

// A definition is a manifest, or an entry of a marketplace.
type definition struct {
	Schema                   string `json:"$schema"`
	Name                     string
	Source                   json.RawMessage
	Strict                   *bool
	Commands, Agents, Skills paths
}

func (d definition) declares() bool { return d.Commands.set || d.Agents.set || d.Skills.set }

// path returns the source of an entry of a marketplace, or reports that the source is remote.
func (d definition) path(pluginRoot, beside string) (source string, remote bool, err error) {
	var object struct{ Source, Path string }
	if json.Unmarshal(d.Source, &source) != nil {
		err = json.Unmarshal(d.Source, &object)
		source, remote = object.Path, err == nil && object.Source != "local"
	}
	switch bare := !strings.HasPrefix(source, ".") && !strings.Contains(source, "/"); {
	case bare && source != "" && pluginRoot != "":
		source = "./" + path.Join(pluginRoot, source)
	case beside != ".claude-plugin" && source != "" && source[0] != '/' && source[0] != '.':
		source = "./" + source
	}
	return source, remote, err
}

// paths is a string or a list of strings.
type paths struct {
	set bool
	all []string
}

func (p *paths) UnmarshalJSON(data []byte) error {
	var one string
	if p.set = true; json.Unmarshal(data, &one) == nil {
		p.all = []string{one}
		return nil
	}
	return json.Unmarshal(data, &p.all)
}

// Read reads a marketplace, a plugin, or a directory of plugins.
func Read(fsys fs.FS, dir string) Set {
	r := &reader{fsys: fsys}
	r.read(dir)
	slices.SortFunc(r.set.Entries, func(a, b Entry) int { return cmp.Compare(a.String(), b.String()) })
	return r.set
}

type reader struct {
	fsys fs.FS
	set  Set
}

func (r *reader) fault(where string, err any) {
	r.set.Faults = append(r.set.Faults, fmt.Sprintf("%s: %v", where, err))
}

func (r *reader) read(dir string) {
	for _, file := range marketplaces {
		if data, err := fs.ReadFile(r.fsys, path.Join(dir, file)); err == nil {
			r.marketplace(dir, data, path.Dir(file))
			return
		}
	}
	if r.isPlugin(dir) {
		r.plugin(dir, dir, definition{}, manifests)
		return
	}
	children, _ := fs.ReadDir(r.fsys, dir)
	for _, c := range children {
		if sub := path.Join(dir, c.Name()); c.Name()[0] != '.' && r.isPlugin(sub) {
			r.plugin(sub, dir, definition{}, manifests)
		}
	}
}

// isPlugin reports whether a directory has a manifest or a component at its default place.
func (r *reader) isPlugin(dir string) bool {
	return slices.ContainsFunc(append([]string{"commands", "agents", "skills", "SKILL.md"}, manifests...), func(name string) bool {
		_, err := fs.Stat(r.fsys, path.Join(dir, name))
		return err == nil
	})
}

// marketplace reads the plugins of a marketplace. The manifests of the client of the marketplace
// come first.
func (r *reader) marketplace(root string, data []byte, beside string) {
	order := append([]string{beside + "/plugin.json"}, manifests...)
	seen, covered := map[string]bool{}, false
	defer func() {
		if _, file, _ := r.manifest(root, order, false); file != "" && !covered {
			r.plugin(root, root, definition{}, order)
		}
	}()
	var m struct {
		Metadata struct{ PluginRoot string }
		Plugins  []json.RawMessage
	}
	if err := json.Unmarshal(data, &m); err != nil {
		r.fault(root, err)
		return
	}
	for i, raw := range m.Plugins {
		var d definition
		if err := json.Unmarshal(raw, &d); err != nil {
			r.fault(fmt.Sprintf("plugins[%d]", i), err)
			continue
		}
		if !validName(d.Name) || seen[d.Name] || d.Source == nil {
			r.fault(fmt.Sprintf("plugins[%d]", i), "the entry has no source, no valid name, or the name of an earlier entry")
			continue
		}
		seen[d.Name] = true
		source, remote, err := d.path(m.Metadata.PluginRoot, beside)
		if remote {
			r.set.Remote = append(r.set.Remote, d.Name)
			continue
		}
		dir := ""
		if err == nil {
			dir, err = r.below(root, root, source)
		}
		if err == nil && !r.isDir(dir) {
			err = errors.New("the source is no directory")
		}
		covered = covered || err == nil && dir == root
		if err != nil {
			r.fault(d.Name, err)
			continue
		}
		r.plugin(dir, root, d, order)
	}
}

// plugin reads one plugin. An entry of a marketplace has a name; the zero definition is no entry.
func (r *reader) plugin(dir, root string, entry definition, order []string) {
	m, file, err := r.manifest(dir, order, entry.Name != "")
	name := cmp.Or(m.Name, entry.Name, path.Base(dir))
	conflict := entry.Strict != nil && !*entry.Strict && m.declares() && entry.declares()
	switch {
	case err != nil:
	case conflict:
		err = errors.New("the manifest and the entry with strict false both define the plugin")
	case file == "plugin.json" && !portableName(name), !validName(name):
		err = fmt.Errorf("invalid name %q", name)
	}
	if err != nil {
		r.fault(cmp.Or(entry.Name, dir), err)
		return
	}
	r.set.Plugins = append(r.set.Plugins, name)
	p := part{reader: r, plugin: name, root: dir, seen: map[string]bool{}, endings: []string{".md"}}
	switch file {
	case "plugin.json": // Agent Plugins: only skills/*/SKILL.md
		p.skills("./skills")
		return
	case ".codex-plugin/plugin.json": // no commands and no agents; skills of the manifest replace the default (Codex 0.169.0)
		if !m.Skills.set {
			p.skills("./skills")
		}
		for _, s := range m.Skills.all {
			p.skills(s)
		}
		return
	case "gemini-extension.json":
		p.endings = []string{".toml"}
	case "qwen-extension.json":
		p.endings = []string{".md", ".toml"}
	}
	// commands and agents of a manifest replace the default, an entry adds.
	p.each(m.Commands, "./commands", entry.Commands, p.commands)
	p.each(m.Agents, "./agents", entry.Agents, p.agents)

	p.allSkills(m, entry, file, dir == root)
}

// allSkills adds the skills: the manifest and the entry add to the default directory, except for an
// entry at the root of the marketplace.
func (p part) allSkills(m, entry definition, file string, atRoot bool) {
	dir, listed := p.root, entry.Skills.all
	exclusive := atRoot && len(listed) > 0 && slices.ContainsFunc(listed, func(s string) bool {
		d, err := p.below(dir, dir, s)
		return err == nil && p.isDir(d)
	}) && !slices.ContainsFunc(listed, func(s string) bool { return path.Clean(s) == "skills" || path.Clean(s) == "." })
	if !exclusive {
		p.skills("./skills")
	}
	for _, s := range append(slices.Clone(m.Skills.all), listed...) {
		p.skills(s)
	}
	if p.isFile(path.Join(dir, "SKILL.md")) && !m.Skills.set && (file != "" || !entry.Skills.set) && !exclusive && !p.isDir(path.Join(dir, "skills")) {
		p.skill(dir)
	}
}

// manifest returns the first manifest of a plugin. A plugin.json without the schema of Agent
// Plugins is another program's, and rejects a plugin only outside of a marketplace.
func (r *reader) manifest(dir string, order []string, listed bool) (d definition, file string, err error) {
	var foreign error
	for _, file := range order {
		name, err := r.below(dir, dir, "./"+file)
		if err != nil {
			continue
		}
		data, err := fs.ReadFile(r.fsys, name)
		if err != nil {
			continue
		}
		d = definition{}
		if err := json.Unmarshal(data, &d); err != nil {
			return d, file, err
		}
		if file == "plugin.json" {
			if !portable.MatchString(d.Schema) {
				d, foreign = definition{}, fmt.Errorf("unknown $schema %q", d.Schema)
				continue
			}
			var texts struct {
				Version, Description, Homepage, Repository, License string
				Author                                              map[string]string
				Keywords                                            []string
			}
			if err := json.Unmarshal(data, &texts); err != nil {
				return d, file, err
			}
		}
		if d.Name == "" {
			return d, file, errors.New("the manifest has no name")
		}
		return d, file, nil
	}
	if listed {
		foreign = nil
	}
	return definition{}, "", foreign
}

// validName is the rule of Claude Code 2.1.330.
func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, " @:/\\")
}

// portableName is the rule of Agent Plugins 1.0.0, section 5.5.
func portableName(name string) bool {
	ok, _ := regexp.MatchString(`^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$`, name)
	return ok && !strings.Contains(name, "--") && !strings.Contains(name, "..")
}

// A part adds the entries of one plugin.
type part struct {
	*reader
	plugin, root string
	endings      []string
	seen         map[string]bool
}

// each calls add for the paths of a manifest or the default path, and for the paths of an entry.
func (p part) each(manifest paths, byDefault string, entry paths, add func(string)) {
	if !manifest.set {
		manifest.all = []string{byDefault}
	}
	for _, place := range append(slices.Clone(manifest.all), entry.all...) {
		add(place)
	}
}

func (p part) add(kind, file, name string) {
	if key := kind + " " + file; !p.seen[key] {
		p.seen[key] = true
		p.set.Entries = append(p.set.Entries, Entry{kind, p.plugin, p.plugin + ":" + name, file})
	}
}

// files calls add with each file of a place that has an ending, and with the names of the
// directories above the file.
func (p part) files(place string, endings []string, add func(file, prefix, stem string)) {
	from, err := p.below(p.root, p.root, place)
	if err != nil {
		p.fault(p.plugin, err)
		return
	}
	if p.isFile(from) {
		if stem, ok := cut(path.Base(from), endings); ok {
			add(from, "", stem)
		}
		return
	}
	p.walk(from, "", func(file, prefix string) {
		if stem, ok := cut(path.Base(file), endings); ok && !strings.EqualFold(stem, "README") {
			add(file, prefix, stem)
		}
	})
}

func cut(name string, endings []string) (stem string, ok bool) {
	for _, ending := range endings {
		if stem, ok := strings.CutSuffix(name, ending); ok && stem != "" {
			return stem, true
		}
	}
	return "", false
}

func (p part) walk(dir, prefix string, add func(file, prefix string)) {
	children, _ := fs.ReadDir(p.fsys, dir)
	for _, c := range children {
		name := path.Join(dir, c.Name())
		if target, err := p.below(p.root, dir, "./"+c.Name()); err != nil || c.Name()[0] == '.' {
			continue
		} else if p.isDir(target) {
			p.walk(name, prefix+c.Name()+":", add)
		} else if p.isFile(target) {
			add(name, prefix)
		}
	}
}

func (p part) commands(place string) {
	p.files(place, p.endings, func(file, prefix, stem string) { p.add("command", file, prefix+stem) })
}

func (p part) agents(place string) {
	p.files(place, []string{".md"}, func(file, prefix, stem string) { p.add("agent", file, prefix+cmp.Or(p.header(file), stem)) })
}

// skills adds the skill of a directory with a SKILL.md, else the skills of its subdirectories.
func (p part) skills(place string) {
	dir, err := p.below(p.root, p.root, place)
	if err != nil {
		p.fault(p.plugin, err)
		return
	}
	if p.skill(dir) {
		return
	}
	children, _ := fs.ReadDir(p.fsys, dir)
	for _, c := range children {
		if _, err := p.below(p.root, dir, "./"+c.Name()); err == nil && c.Name()[0] != '.' {
			p.skill(path.Join(dir, c.Name()))
		}
	}
}

func (p part) skill(dir string) bool {
	file := path.Join(dir, "SKILL.md")
	if target, err := p.below(p.root, dir, "./SKILL.md"); err != nil || !p.isFile(target) {
		return false
	}
	base := path.Base(dir)
	if dir == "." {
		base = p.plugin
	}
	name := p.header(file)
	if strings.ContainsAny(name, "/\\") { // no name of a directory
		name = ""
	}
	p.add("skill", file, cmp.Or(name, base))
	return true
}

var line = regexp.MustCompile(`(?m)^name:[ \t]*(.*?)[ \t]*$`)

// header returns the name in the frontmatter of a file, or "".
func (r *reader) header(file string) string {
	data, _ := fs.ReadFile(r.fsys, file)
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	text, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return ""
	}
	text, _, ok = strings.Cut("\n"+text, "\n---")
	if !ok {
		return ""
	}
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		if match := line.FindStringSubmatch(text); match != nil {
			return strings.Trim(match[1], `"'`)
		}
		return ""
	}
	if fields["name"] == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(fields["name"]))
}

// below returns the path that a "./" path of a manifest names after the links. The path must not
// leave the plugin.
func (r *reader) below(root, from, name string) (string, error) {
	if name != "." && !strings.HasPrefix(name, "./") || strings.Contains(name, `\`) || slices.Contains(strings.Split(name, "/"), "..") {
		return "", fmt.Errorf("invalid path %q", name)
	}
	at, rest := from, strings.Split(path.Clean(name), "/")
	for links := 0; len(rest) > 0; {
		next := path.Join(at, rest[0])
		rest = rest[1:]
		if info, err := fs.Lstat(r.fsys, next); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, err := fs.ReadLink(r.fsys, next)
			if links++; err != nil || path.IsAbs(target) || links > 40 {
				return "", fmt.Errorf("%q leads out of the plugin", name)
			}
			next = path.Join(at, target)
		}
		if at = next; root != "." && at != root && !strings.HasPrefix(at, root+"/") || !fs.ValidPath(at) {
			return "", fmt.Errorf("%q leads out of the plugin", name)
		}
	}
	return at, nil
}

func (r *reader) isDir(name string) bool {
	info, err := fs.Stat(r.fsys, name)
	return err == nil && info.IsDir()
}

func (r *reader) isFile(name string) bool {
	info, err := fs.Stat(r.fsys, name)
	return err == nil && info.Mode().IsRegular()
}
