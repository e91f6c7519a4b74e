package plugin

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Source is the place of the files of a plugin, as an entry of a marketplace states the place.
// The fields other than Kind are texts of the author.
type Source struct {
	Kind string `json:"kind"` // "relative", "local", "github", "url", "git-subdir", "npm", "archive", "command", or another word of the marketplace; "" without a marketplace

	// The fields of the kind, as written; "" without a value.
	Path     string `json:"path,omitempty"`
	Repo     string `json:"repo,omitempty"`
	URL      string `json:"url,omitempty"`
	Ref      string `json:"ref,omitempty"`
	SHA      string `json:"sha,omitempty"`
	Package  string `json:"package,omitempty"`
	Version  string `json:"version,omitempty"`
	Registry string `json:"registry,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Command  string `json:"command,omitempty"`
	Mode     string `json:"mode,omitempty"`
}

// An entry is an entry of a marketplace.
type entry struct {
	object      *object
	name        string
	marketplace string // the name
	source      Source
	dir         string // of a relative source, below the marketplace
	root        bool   // the source is the directory of the marketplace
	strict      bool   // the manifest may name components too
	excerpt     string // with Options.Digest: a marketplace of the entry alone, with all members that have an effect on the plugin
}

// marketplace reads the first marketplace of a directory, and reports whether the directory has a
// marketplace.
func (f *finder) marketplace(top *directory) bool {
	for _, m := range marketplaces {
		data, failed := f.read(top, m.path)
		if data == nil && failed == nil {
			continue
		}
		f.table.Marketplace = top.join(m.path)
		if own := find(m.manifest); own != nil {
			f.bare = own
			if f.claude = m.first; m.first {
				f.formats = ordered(f.options.Manifests, own)
			}
		}
		if failed != nil {
			f.report(*failed)
		} else {
			f.readMarketplace(top, data)
		}
		return true
	}
	return false
}

// readMarketplace adds the plugins of a marketplace.
func (f *finder) readMarketplace(top *directory, data []byte) {
	o, failed := parse(f.table.Marketplace, data, &f.table.Problems)
	if failed != nil {
		failed.Message = "the marketplace is not listed: " + failed.Message
		f.report(*failed)
		return
	}
	entries, ok := list(o.members["plugins"])
	if !ok {
		o.report(problem.PluginInvalid, problem.Error, "plugins", `the marketplace is not listed: the field "plugins" is not a list`, `write a list "plugins"`)
		return
	}
	base := ""   // of bare names
	before := "" // the members of an excerpt that precede the entry
	if o.has("name") {
		before = `"name": ` + string(o.members["name"]) + ", "
	}
	if metadata, ok := o.child("metadata.", o.members["metadata"]); ok && metadata.has("pluginRoot") {
		before += `"metadata": {"pluginRoot": ` + string(metadata.members["pluginRoot"]) + "}, "
		given := metadata.text("pluginRoot")
		clean, reason := below(given)
		if base = clean; reason != "" {
			metadata.report(problem.PluginPathInvalid, problem.Error, "metadata", "the path "+quoted(given)+" "+reason, "write a path below the marketplace")
		}
	}
	market := o.text("name")
	if market != "" && !name(market) {
		o.report(problem.PluginFieldIgnored, problem.Warning, "name", "the name "+quoted(market)+" of the marketplace is not valid", "choose another name")
		market = ""
	}
	seen := make(map[string]bool, len(entries))
	for first := 0; first < len(entries); first += maxAhead {
		var next []*entry
		var dirs []string
		for i := first; i < min(first+maxAhead, len(entries)) && f.ctx.Err() == nil; i++ {
			e := f.entry(o, "plugins["+strconv.Itoa(i)+"].", entries[i], base)
			if e == nil {
				continue
			}
			if seen[e.name] {
				o.report(problem.Shadowed, problem.Warning, "plugins", fmt.Sprintf("the entry %d is not listed: an earlier entry has the name %s", i, quoted(e.name)), "choose another name")
				continue
			}
			seen[e.name] = true
			e.marketplace = market
			if f.options.Digest != nil {
				e.excerpt = "{" + before + `"plugins": [` + string(entries[i]) + "]}\n"
			}
			next = append(next, e)
			dir := ""
			if e.dir != "" {
				dir = top.join(e.dir)
			}
			dirs = append(dirs, dir)
		}
		f.each(dirs, func(i int) { f.add(f.fromEntry(top, next[i])) })
	}
}

// entry returns an entry with a valid name and source, or reports the reason and returns nil.
func (f *finder) entry(o *object, place string, value json.RawMessage, base string) *entry {
	fail := func(code problem.Code, message, suggestion string) *entry {
		o.report(code, problem.Error, "plugins", "the entry "+strings.TrimSuffix(place, ".")+" is not listed: "+message, suggestion)
		return nil
	}
	fields, ok := o.child(place, value)
	if !ok {
		return fail(problem.PluginInvalid, "the entry is not an object", "write an object with a name and a source")
	}
	e := &entry{object: fields, name: fields.text("name"), strict: string(fields.members["strict"]) != "false"}
	if !name(e.name) {
		return fail(problem.PluginInvalid, "the name "+quoted(e.name)+" is not valid", "choose another name")
	}
	source, local := fields.members["source"], true
	switch {
	case isObject(source):
		remote, _ := fields.child(place+"source.", source)
		e.source = Source{Kind: remote.text("source"), Path: remote.text("path"), Repo: remote.text("repo"), URL: remote.text("url"), Ref: remote.text("ref"), SHA: remote.text("sha"),
			Package: remote.text("package"), Version: remote.text("version"), Registry: remote.text("registry"), SHA256: remote.text("sha256"), Command: remote.text("command"), Mode: remote.text("mode")}
		if e.source.Kind == "" {
			return fail(problem.PluginInvalid, "the source has no kind", `write a "source" in the source`)
		}
		local = e.source.Kind == "local" // Codex, core-plugins/src/marketplace.rs, 2026-11
	case len(source) > 0 && source[0] == '"':
		e.source = Source{Kind: "relative", Path: fields.text("source")}
	default:
		return fail(problem.PluginInvalid, "the entry has no source", `write a "source" such as "./plugins/name"`)
	}
	if !local {
		return e
	}
	dir, reason := below(e.source.Path)
	if reason != "" {
		return fail(problem.PluginPathInvalid, "the source "+quoted(e.source.Path)+" "+reason, "write a path below the marketplace")
	}
	if base != "" && !strings.ContainsAny(e.source.Path, "/") && dir != "." { // Claude Code 2.1.239
		dir = path.Join(base, dir)
	}
	e.dir, e.root = dir, dir == "."
	return e
}

// fromEntry returns the plugin of an entry.
func (f *finder) fromEntry(top *directory, e *entry) *Plugin {
	if e.dir == "" {
		p := &Plugin{Marketplace: e.marketplace, Source: e.source, Format: f.bare.manifest}
		l := loading{p: p, entry: e.object.with(&p.Problems).definition(f.bare)}
		l.describe(e.name)
		p.Hooks, p.MCPServers = l.entry.hooks.values, l.entry.servers.values
		return f.sealed(p, nil, e)
	}
	full := top.join(e.dir)
	d, err := f.open(full)
	d.listed = true
	if err != nil {
		if f.ctx.Err() == nil {
			f.report(problem.New(problem.PluginPathInvalid, problem.Error, escape.Path(full), "the plugin "+
				quoted(e.name)+" is not listed: cannot read the directory: "+escape.Reason(err),
				"correct the source in "+escape.Path(f.table.Marketplace)))
		}
		return nil
	}
	return f.load(d, e)
}
