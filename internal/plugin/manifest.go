package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A manifest is the manifest of a directory. Several entries of a marketplace may share the
// directory, so the fields are decoded once.
type manifest struct {
	format   *format
	minor    uint   // the minor version of Agent Plugins 1
	path     string // relative to the filesystem
	raw      string // the bytes of the file, with Options.Digest
	fields   definition
	problems []problem.Problem // reported with the first plugin of the directory
}

// A definition is the fields of a manifest or of an entry of a marketplace.
type definition struct {
	About

	paths map[string][]string // the valid paths of a field, relative to the plugin; nil for a missing field

	hooks, servers config
}

// A config is the values of a field that has objects and paths of JSON files.
type config struct {
	values []json.RawMessage
	files  []string // relative to the plugin
}

func (c config) empty() bool { return len(c.values)+len(c.files) == 0 }

// manifestOf returns the first manifest of a directory. The result is nil if the directory has no
// manifest, or if the manifest is rejected.
func (f *finder) manifestOf(d *directory) *manifest {
	f.searchManifest(d)
	if d.failed != nil && !d.rejected {
		f.reject(d, d.manifest.problems, *d.failed)
		d.manifest = nil
	}
	return d.manifest
}

// searchManifest reads the first manifest of a directory. A manifest that is not valid has only
// problems.
func (f *finder) searchManifest(d *directory) {
	if d.searched {
		return
	}
	d.searched = true
	for _, format := range f.formats {
		data, failed := f.read(d, format.manifest)
		if data == nil && failed == nil {
			continue
		}
		m := &manifest{format: format, path: d.join(format.manifest)}
		if f.options.Digest != nil {
			m.raw = string(data)
		}
		var o *object
		if failed == nil {
			o, failed = parse(m.path, data, &m.problems)
		}
		if format.schema {
			foreign := true // the manifest of another program
			if failed == nil {
				m.minor, foreign, failed = o.checkSchema()
			}
			if failed != nil && (foreign || f.claude) {
				d.foreign = failed
				continue
			}
		}
		if failed == nil {
			failed = m.decode(o)
		}
		m.problems = problem.Limit(m.problems)
		d.manifest, d.failed = m, failed
		return
	}
}

// checkSchema returns the minor version of Agent Plugins 1, or the problem of another $schema. A
// manifest with another major version is no manifest of another program, and section 5.2 demands to
// reject the plugin. A later minor version changes no component (section 10), so Find reads the
// manifest. Codex 0.171.0 rejects the later version too, 2026-11.
func (o *object) checkSchema() (minor uint, foreign bool, failed *problem.Problem) {
	const format = schemas + "1.%d.%d/plugin.schema.json"
	given, _ := Text(o.members["$schema"])
	var patch uint
	if _, err := fmt.Sscanf(given, format, &minor, &patch); err == nil && given == fmt.Sprintf(format, minor, patch) {
		return minor, false, nil
	}
	message := "the $schema is not of version 1 of Agent Plugins"
	if len(o.members["$schema"]) == 0 {
		message = `the manifest has no "$schema"`
	}
	return 0, !strings.HasPrefix(given, schemas), &problem.Problem{Code: problem.PluginInvalid, Severity: problem.Error, Path: o.path, Key: "$schema",
		Message: message, Suggestion: `write "$schema": "` + fmt.Sprintf(format, 0, 0) + `"`}
}

// reject reports the manifest of a directory that is no plugin.
func (f *finder) reject(d *directory, problems []problem.Problem, p problem.Problem) {
	d.rejected = true
	f.report(problem.Limit(problems)...)
	p.Severity, p.Message = problem.Error, "the plugin is not listed: "+p.Message
	f.report(p)
}

// decode sets the fields, or returns the problem that rejects the manifest.
func (m *manifest) decode(o *object) (rejected *problem.Problem) {
	reject := func(key, message, suggestion string) {
		if rejected == nil {
			rejected = &problem.Problem{Code: problem.PluginInvalid, Severity: problem.Error, Path: o.path, Key: escape.Name(shortened(key)), Message: message, Suggestion: suggestion}
		}
	}
	if m.format.fields != nil {
		o.checkClosed(m.format.fields, m.minor, reject)
	}
	if rejected != nil {
		return rejected
	}
	m.fields = o.definition(m.format)
	if m.format.fields == nil {
		m.fields.Name = strings.TrimSpace(m.fields.Name)
	}
	if (m.fields.Name != "" || m.format.fields != nil) && !m.format.valid(m.fields.Name) {
		reject("name", "the name "+quoted(m.fields.Name)+" is not valid", "choose another name")
	}
	return rejected
}

// checkClosed checks an object against the schema of Agent Plugins 1, sections 5 and 8. Each field
// is a text, except the fields of the cases. A field that the format does not have is ignored, and
// reported unless a later version can have the field.
func (o *object) checkClosed(fields [][]string, minor uint, reject func(key, message, suggestion string)) {
	later := minor >= uint(len(fields))
	known := slices.Concat(fields[:min(minor, uint(len(fields))-1)+1]...)
	for _, key := range o.keys {
		value, want := o.members[key], "a text"
		ok := value[0] == '"'
		switch key {
		case "author":
			want = "an object of texts"
			author, isObject := o.child(key+".", value)
			ok = isObject && !slices.ContainsFunc(author.keys, func(name string) bool {
				return !slices.Contains([]string{"name", "email", "url"}, name) || author.members[name][0] != '"'
			})
		case "keywords":
			want = "a list of texts"
			items, isList := list(value)
			ok = isList && !slices.ContainsFunc(items, func(v json.RawMessage) bool { return v[0] != '"' })
		case "extensions":
			if ok = true; !isObject(value) { // section 8.1: reported and ignored
				o.ignore(key, "an object")
			}
		default:
			if slices.Contains(known, key) {
				break
			}
			ok = true
			delete(o.members, key)
			if !later { // section 5.2: reported and ignored
				o.report(problem.PluginFieldIgnored, problem.Warning, key, "the field "+o.quote(key)+" is ignored: the format has no such field", "remove the field")
			}
		}
		if !ok {
			reject(key, "the field "+o.quote(key)+" is not "+want, "write "+want)
		}
	}
}

// definition decodes the fields that the format has.
func (o *object) definition(format *format) definition {
	d := definition{About: About{Name: o.text("name"), DisplayName: o.text("displayName"),
		Version: o.text("version"), Description: o.text("description"), Homepage: o.text("homepage"),
		License: o.text("license"), Keywords: o.texts("keywords", "a list of texts")}}
	if r, ok := o.child("repository.", o.members["repository"]); ok { // as in package.json
		d.Repository = r.text("url")
	} else {
		d.Repository = o.text("repository")
	}
	if a, ok := o.child("author.", o.members["author"]); ok {
		d.Author = Person{a.text("name"), a.text("email"), a.text("url")}
	} else {
		d.Author.Name = o.text("author")
	}
	for _, p := range format.places {
		if !p.fixed && d.paths[p.dir] == nil && o.has(p.dir) {
			if d.paths == nil {
				d.paths = make(map[string][]string)
			}
			d.paths[p.dir] = o.paths(p.dir)
		}
	}
	if format.fields == nil {
		d.hooks, d.servers = o.config("hooks"), o.config("mcpServers")
	}
	return d
}

// paths returns the valid paths of a field. The result is not nil.
func (o *object) paths(key string) []string {
	valid := []string{}
	for _, given := range o.texts(key, "a path or a list of paths") {
		if p, ok := o.below(key, given); ok {
			valid = append(valid, p)
		}
	}
	return valid
}

// below returns a path of a field in its clean form, or reports the path.
func (o *object) below(key, given string) (string, bool) {
	p, reason := below(given)
	if reason != "" {
		o.report(problem.PluginPathInvalid, problem.Error, key, "the path "+quoted(given)+" of the field "+o.quote(key)+" "+reason, "write a path below the plugin, such as ./"+key)
	}
	return p, reason == ""
}

// config returns the values of a field that is an object, a path, or a list of objects and paths.
func (o *object) config(key string) (c config) {
	if !o.has(key) {
		return c
	}
	items, isList := list(o.members[key])
	if !isList {
		items = []json.RawMessage{o.members[key]}
	}
	for _, item := range items {
		given, isText := Text(item)
		switch {
		case isObject(item):
			c.values = append(c.values, bytes.Clone(item)) // the item would keep the file in memory
		case !isText:
			o.ignore(key, "an object or a path")
		default:
			if p, ok := o.below(key, given); ok {
				c.files = append(c.files, p)
			}
		}
	}
	return c
}

func quoted(s string) string { return `"` + escape.Name(shortened(s)) + `"` }

// load returns the plugin of a directory. The entry is nil outside of a marketplace. The result is
// nil if the directory is no plugin, or if the plugin is rejected.
func (f *finder) load(d *directory, e *entry) *Plugin {
	m := f.manifestOf(d)
	format := f.bare
	switch {
	case d.rejected:
		return nil
	case m != nil:
		format = m.format
	case e == nil && d.foreign != nil:
		f.reject(d, nil, *d.foreign)
		return nil
	case e == nil && (f.options.Only != "" || !f.isPlugin(d)):
		return nil
	}
	p := &Plugin{Dir: d.path, Format: format.manifest}
	l := loading{f: f, d: d, p: p, format: format}
	if m != nil {
		p.Manifest, p.Problems, m.problems = m.path, m.problems, nil
		l.manifest = m.fields
	} else if d.foreign != nil {
		ignored := *d.foreign
		ignored.Code, ignored.Severity, ignored.Message = problem.PluginFieldIgnored, problem.Warning, "the manifest is ignored: "+ignored.Message
		p.Problems, d.foreign = append(p.Problems, ignored), nil
	}
	if e != nil {
		p.Marketplace, p.Source = e.marketplace, e.source
		l.root = e.root
		if format.fields == nil { // Agent Plugins, section 5.1: no other file has fields of the manifest
			l.entry = e.object.with(&p.Problems).definition(format)
		}
	}
	if e != nil && !e.strict && l.conflict() {
		// Other entries may share the directory.
		f.report(append(p.Problems, problem.New(problem.PluginInvalid, problem.Error,
			escape.Path(p.Manifest), "the plugin "+quoted(e.name)+" is not listed: "+
				`the manifest and the entry with "strict": false both name components`,
			"remove the fields of the manifest or of the entry in "+
				escape.Path(f.table.Marketplace)))...)
		return nil
	}
	l.describe(f.nameOf(d, m, e))
	if !name(p.Name) {
		f.reject(d, p.Problems, problem.Problem{Code: problem.PluginInvalid, Path: escape.Path(d.path), Message: "the name " + quoted(p.Name) + " of the directory is not valid",
			Suggestion: `write a manifest with a "name"`})
		return nil
	}
	l.parts()
	l.config(format.hooks, &p.Hooks, &p.HookFiles, l.manifest.hooks, l.entry.hooks)
	l.config(format.servers, &p.MCPServers, &p.MCPServerFiles, l.manifest.servers, l.entry.servers)
	return f.sealed(p, m, e)
}

// nameOf returns the name of a plugin: of its manifest, its entry or its directory. Claude Code
// 2.1.330 puts the name of the manifest before names of commands, also if the entry has another
// name.
func (f *finder) nameOf(d *directory, m *manifest, e *entry) string {
	switch {
	case m != nil && m.fields.Name != "":
		return m.fields.Name
	case e != nil:
		return e.name
	case d.path == ".":
		return f.options.Name
	}
	return path.Base(d.path)
}

// isPlugin reports whether a directory without a manifest has the components of a plugin. The
// directory of another plugin is no component, even with the name of a component. Only the
// directory that the caller names may consist of one skill (Claude Code 2.1.330, --plugin-dir).
func (f *finder) isPlugin(d *directory) bool {
	if d.top && d.has("SKILL.md") {
		return true
	}
	return slices.ContainsFunc(f.bare.places, func(p place) bool {
		if !d.isDir(p.dir) {
			return false
		}
		if !d.top {
			return true
		}
		below, err := f.open(d.join(p.dir))
		return err == nil && f.manifestOf(below) == nil && !below.rejected
	})
}
