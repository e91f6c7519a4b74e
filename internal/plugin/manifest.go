package plugin

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A manifest is the manifest of a plugin.
type manifest struct {
	format *format
	path   string // relative to the filesystem
	object *object
	name   string
}

// manifestOf reads the first manifest of a directory.
func (f *finder) manifestOf(d *directory) *manifest {
	if d.searched {
		return d.manifest
	}
	d.searched = true
	var foreign *problem.Problem // of a file without the schema of the format
	for _, format := range f.formats {
		data, failed := f.read(d, format.manifest)
		if data == nil && failed == nil {
			continue
		}
		file := d.join(format.manifest)
		var o *object
		if failed == nil {
			o, failed = parse(file, data, &d.problems)
		}
		if format.schema != "" && (o == nil || o.text("$schema") != format.schema) {
			if foreign == nil {
				foreign = failed
				if failed == nil {
					foreign = foreignSchema(o, format.schema)
				}
			}
			continue
		}
		if failed == nil {
			m := &manifest{format: format, path: file, object: o}
			if failed = m.check(); failed == nil {
				d.manifest = m
				break
			}
		}
		f.reject(d, *failed)
		return nil
	}
	if foreign != nil && d.manifest == nil {
		d.foreign = foreign
	}
	return d.manifest
}

func foreignSchema(o *object, want string) *problem.Problem {
	p := problem.Problem{Code: problem.PluginInvalid, Severity: problem.Error, Path: o.path, Key: "$schema", Message: `the manifest has no "$schema"`, Suggestion: `write "$schema": "` + want + `"`}
	if o.has("$schema") {
		p.Message = "the manifest has another \"$schema\" than Agent Plugins 1.0.0"
	}
	return &p
}

func (f *finder) reject(d *directory, p problem.Problem) {
	d.rejected = true
	f.table.Problems = append(f.table.Problems, d.problems...)
	d.problems = nil
	p.Severity = problem.Error
	p.Message = "the plugin is not listed: " + p.Message
	f.report(p)
}

// check returns the problem that rejects a manifest.
func (m *manifest) check() *problem.Problem {
	o := m.object
	var rejected *problem.Problem
	reject := func(key, message, suggestion string) {
		if rejected == nil {
			rejected = &problem.Problem{Code: problem.PluginInvalid, Severity: problem.Error, Path: o.path, Key: key, Message: message, Suggestion: suggestion}
		}
	}
	if m.format.fields != nil {
		o.checkClosed(m.format.fields, reject)
	}
	m.name = strings.TrimSpace(o.text("name"))
	if m.format.fields != nil {
		m.name = o.text("name")
	}
	if (m.name != "" || m.format.fields != nil) && !m.format.valid(m.name) {
		reject("name", "the name "+quoted(m.name)+" is not valid", "choose another name")
	}
	return rejected
}

// checkClosed checks an object against the schema of Agent Plugins: each field has a text, except
// these fields.
func (o *object) checkClosed(fields []string, reject func(key, message, suggestion string)) {
	for _, key := range o.keys {
		value, want := o.members[key], "a text"
		ok := value[0] == '"'
		switch key {
		case "author":
			author, object := o.child(key+".", value)
			ok, want = object, "an object with texts"
			for i := 0; ok && i < len(author.keys); i++ {
				name := author.keys[i]
				ok = slices.Contains([]string{"name", "email", "url"}, name) && author.members[name][0] == '"'
			}
		case "keywords":
			var items []json.RawMessage
			want = "a list of texts"
			ok = value[0] == '[' && json.Unmarshal(value, &items) == nil && !slices.ContainsFunc(items, func(v json.RawMessage) bool { return v[0] != '"' })
		case "extensions":
			if !isObject(value) { // section 8.1: ignored
				o.ignore(key, "an object")
			}
			ok = true
		default:
			if !slices.Contains(fields, key) { // section 5.2: reported and ignored
				o.report(problem.PluginFieldIgnored, problem.Warning, key, "the field "+o.quote(key)+" is ignored: the format has no such field", "remove the field")
				ok = true
			}
		}
		if !ok {
			reject(key, "the field "+o.quote(key)+" is not "+want, "write "+want)
		}
	}
}

// load returns the plugin of a directory. The entry is nil outside of a marketplace. The result is
// nil if the directory is no plugin, or if the plugin is rejected.
func (f *finder) load(d *directory, e *entry) *Plugin {
	m := f.manifestOf(d)
	if d.rejected {
		return nil
	}
	format := bare
	switch {
	case m != nil:
		format = m.format
	case d.foreign != nil && e == nil:
		f.reject(d, *d.foreign)
		return nil
	case e == nil && !d.isPlugin():
		return nil
	}
	p := &Plugin{Dir: d.path, Problems: slices.Clone(d.problems)}
	var sources []*object // in order of precedence
	if m != nil {
		p.Manifest, p.Name = m.path, m.name
		sources = append(sources, m.object)
	} else if d.foreign != nil {
		ignored := *d.foreign
		ignored.Code, ignored.Severity, ignored.Message = problem.PluginFieldIgnored, problem.Warning, "the manifest is ignored: "+ignored.Message
		p.Problems = append(p.Problems, ignored)
	}
	if e != nil {
		p.Marketplace, p.Source = e.marketplace, e.source
		if format.fields == nil {
			sources = append(sources, e.object.with(&p.Problems))
		}
		if p.Name == "" {
			p.Name = e.name
		}
	}
	if m != nil {
		sources[0] = m.object.with(&p.Problems)
	}
	if p.Name == "" {
		p.Name = path.Base(d.path)
		if d.path == "." {
			p.Name = f.options.Name
		}
		if !name(p.Name) {
			f.reject(d, problem.Problem{Code: problem.PluginInvalid, Path: escape.Path(d.path), Message: "the plugin has no name", Suggestion: `write a manifest with a "name"`})
			return nil
		}
		if m != nil {
			m.object.with(&p.Problems).report(problem.PluginFieldIgnored, problem.Warning, "name", "the manifest has no name; the plugin has the name of the directory", `write a "name"`)
		}
	}
	if m != nil && e != nil && e.whole() && m.object.defines() && e.object.defines() {
		f.report(problem.Problem{Code: problem.PluginInvalid, Severity: problem.Error, Path: escape.Path(m.path),
			Message:    `the plugin is not listed: the manifest and the entry with "strict": false both name commands, agents, skills or hooks`,
			Suggestion: "remove the fields of the manifest or of the entry in " + escape.Path(f.table.Marketplace)})
		return nil
	}
	p.describe(sources, m != nil && e != nil)
	l := loading{f: f, d: d, p: p, format: format, entry: e}
	if m != nil {
		l.manifest = sources[0]
	}
	if e != nil && format.fields == nil {
		l.declared = sources[len(sources)-1]
	}
	l.parts()
	l.data()
	return p
}

// defines reports whether a manifest or an entry names components.
func (o *object) defines() bool {
	return slices.ContainsFunc([]string{"commands", "agents", "skills", "hooks"}, o.has)
}

// isPlugin reports whether the directory has a directory with components.
func (d *directory) isPlugin() bool {
	return slices.ContainsFunc(bare.places, func(p place) bool { return d.isDir(p.dir) })
}

func (o *object) with(problems *[]problem.Problem) *object {
	c := *o
	c.problems = problems
	return &c
}

// describe fills in the texts. The entry of a marketplace precedes the manifest, except for the version
// (Claude Code 2.1.330).
func (p *Plugin) describe(sources []*object, both bool) {
	if len(sources) == 2 {
		p.Version = sources[0].text("version")
		sources = []*object{sources[1], sources[0]}
	}
	for _, o := range sources {
		set := func(to *string, key string) {
			if *to == "" {
				*to = o.text(key)
			}
		}
		set(&p.Version, "version")
		set(&p.Description, "description")
		set(&p.Homepage, "homepage")
		set(&p.License, "license")
		if r, ok := o.child("repository.", o.members["repository"]); ok { // as in package.json
			set2 := r.text("url")
			if p.Repository == "" {
				p.Repository = set2
			}
		} else {
			set(&p.Repository, "repository")
		}
		if p.Keywords == nil {
			p.Keywords = o.texts("keywords", "a list of texts")
		}
		if p.Author == (Person{}) {
			p.Author = o.person("author")
		}
	}
}

// person returns a member that is an object, or a text with the name.
func (o *object) person(key string) Person {
	if author, ok := o.child(key+".", o.members[key]); ok {
		return Person{author.text("name"), author.text("email"), author.text("url")}
	}
	return Person{Name: o.text(key)}
}

func quoted(s string) string { return `"` + escape.Name(shortened(s)) + `"` }

// A loading is the computation of the parts of one plugin.
type loading struct {
	f                  *finder
	d                  *directory
	p                  *Plugin
	format             *format
	entry              *entry  // nil outside of a marketplace
	manifest, declared *object // the fields of the manifest and of the entry; nil without fields
	seen               map[Part]bool
}

// parts adds the default directories and the paths of the manifest and of the entry.
func (l *loading) parts() {
	l.seen = make(map[Part]bool)
	for _, pl := range l.format.places {
		if typ, ok := l.d.entries[pl.dir]; ok && !l.d.isDir(pl.dir) && typ.IsRegular() {
			l.invalid(pl.dir, "the file "+quoted(pl.dir)+" has the name of a directory of the plugin")
		}
		var paths []string                                                // of the fields
		named := !pl.fixed && l.manifest != nil && l.manifest.has(pl.dir) // by the manifest; an entry only adds (Claude Code 2.1.330)
		replaced := named && !pl.adds
		if named {
			paths = l.paths(l.manifest, pl.dir)
		}
		if !pl.fixed && l.declared != nil && l.declared.has(pl.dir) {
			paths = append(paths, l.paths(l.declared, pl.dir)...)
		}
		var declared []Part
		for _, p := range paths {
			declared = append(declared, l.part(pl, p)...)
		}
		if pl.adds && l.entry != nil && l.entry.root && l.declared != nil && l.declared.has(pl.dir) {
			// An entry with the whole marketplace as its source lists all of its skills, unless no listed directory exists.
			exists := func(p Part) bool { return l.f.skillsIn(l.d, l.relative(p.Path)) != missing }
			whole := func(p Part) bool { return p.Path == l.d.join(pl.dir) || p.Path == l.d.path }
			replaced = slices.ContainsFunc(declared, exists) && !slices.ContainsFunc(declared, whole)
		}
		if !replaced && l.d.isDir(pl.dir) {
			l.add(Part{Kind: pl.kind, Path: l.d.join(pl.dir), Pattern: pl.pattern, Names: pl.names, Rules: pl.rules})
		}
		for _, p := range declared {
			l.add(p)
		}
		if pl.kind == client.Skills && !pl.fixed && !named && !replaced && !l.d.isDir(pl.dir) && l.d.has("SKILL.md") {
			l.add(Part{Kind: pl.kind, Path: l.d.path, Pattern: "SKILL.md", Names: pl.names, Rules: pl.rules})
		}
	}
}

// add adds a part, unless the plugin has the part.
func (l *loading) add(p Part) {
	key := p
	key.Declared = false
	if !l.seen[key] {
		l.seen[key] = true
		l.p.Parts = append(l.p.Parts, p)
	}
}

// relative returns the path of a part below the plugin.
func (l *loading) relative(full string) string {
	if full == l.d.path {
		return "."
	}
	if l.d.path == "." {
		return full
	}
	return full[len(l.d.path)+1:]
}

// part returns the part of a declared path, if the place has such files.
func (l *loading) part(pl place, p string) []Part {
	part := Part{Kind: pl.kind, Path: l.d.join(p), Declared: true, Pattern: pl.pattern, Names: pl.names, Rules: pl.rules}
	if pl.kind == client.Skills {
		if strings.EqualFold(path.Base(p), "SKILL.md") {
			l.invalid(pl.dir, "the path "+quoted(p)+" is a file, not the directory of a skill")
			return nil
		}
		if l.f.skillsIn(l.d, p) == oneSkill {
			part.Pattern = "SKILL.md"
		}
		return []Part{part}
	}
	switch ext := path.Ext(p); {
	case strings.EqualFold(ext, path.Ext(pl.pattern)):
		part.File, part.Pattern = true, ""
	case strings.EqualFold(ext, ".md"), strings.EqualFold(ext, ".toml"):
		return nil // of another place with the same field
	}
	return []Part{part}
}

// paths returns the valid paths of a field, relative to the plugin.
func (l *loading) paths(o *object, key string) []string {
	var valid []string
	for _, given := range o.texts(key, "a path or a list of paths") {
		if p, reason := below(given); reason == "" {
			valid = append(valid, p)
		} else {
			o.report(problem.PluginPathInvalid, problem.Error, key, "the path "+quoted(given)+" "+reason, "write a path below the plugin, such as \"./"+key+"\"")
		}
	}
	return valid
}

func (l *loading) invalid(key, message string) {
	l.p.Problems = append(l.p.Problems, problem.Problem{Code: problem.PluginPathInvalid, Severity: problem.Error, Path: escape.Path(l.d.path), Key: key,
		Message: message, Suggestion: "name a directory"})
}

// data adds the values and files of hooks and MCP servers.
func (l *loading) data() {
	add := func(key, usual string, values *[]json.RawMessage, files *[]string) {
		if usual != "" && l.d.has(usual) {
			*files = append(*files, l.d.join(usual))
		}
		if l.format.fields != nil {
			return
		}
		for _, o := range []*object{l.manifest, l.declared} {
			if o == nil || !o.has(key) {
				continue
			}
			if isObject(o.members[key]) {
				*values = append(*values, o.members[key])
				continue
			}
			var items []json.RawMessage
			if json.Unmarshal(o.members[key], &items) != nil {
				items = []json.RawMessage{o.members[key]}
			}
			for _, item := range items {
				var given string
				if isObject(item) {
					*values = append(*values, item)
				} else if json.Unmarshal(item, &given) != nil {
					o.ignore(key, "an object or a path")
				} else if p, reason := below(given); reason != "" {
					o.report(problem.PluginPathInvalid, problem.Error, key, "the path "+quoted(given)+" "+reason, "write a path below the plugin")
				} else if full := l.d.join(p); !slices.Contains(*files, full) {
					*files = append(*files, full)
				}
			}
		}
	}
	add("hooks", l.format.hooks, &l.p.Hooks, &l.p.HookFiles)
	add("mcpServers", l.format.servers, &l.p.MCPServers, &l.p.MCPServerFiles)
}
