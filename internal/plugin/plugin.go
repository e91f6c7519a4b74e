// Package plugin reads the marketplaces and the manifests of plugins, and finds the plugins of a
// directory. A plugin is a directory with commands, skills and agents. The package reads only JSON
// files and names of directories. The package executes nothing and fetches nothing.
//
// A [Table] has the parts of each plugin: the directories and files in which another package looks
// for commands, skills and agents. A part may be missing.
package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// MaxSize is the size of the largest JSON file that Find reads, in bytes.
const MaxSize = 8 << 20

// Options are the options of [Find].
type Options struct {
	// Manifests are the paths of the first manifests below a plugin, in the order of precedence, as
	// in client.Client.Manifests. Find ignores a path without a format. The manifest of the client
	// of the marketplace and then the other manifests in the order of the table of formats follow.
	Manifests []string

	// Only, if not "", is a manifest below each plugin: the subdirectories with this manifest are
	// the plugins, and Find reads nothing else. A SKILL.md beside the manifest is a skill of the
	// directory of Find.
	Only string

	Reads   int    // the number of directories to read at the same time from a slow filesystem; 0 means 1
	MaxSize int64  // the size of the largest JSON file that the Recorder reads, in bytes
	Name    string // the name of a plugin in the directory "." that has no manifest with a name

	Digest func(raw map[string]string) string // if not nil, each plugin has its Raw, and this digest of Raw
}

// A Table has the plugins of a directory.
type Table struct {
	Marketplace string            // the path of the marketplace relative to the filesystem; "" without a marketplace
	Plugins     []*Plugin         // in order of precedence
	Problems    []problem.Problem // of the marketplace, of the directory, and of plugins that the table omits
}

// A Plugin is one plugin of a [Table].
type Plugin struct {
	About

	Dir         string // relative to the filesystem; "" for a plugin whose files are elsewhere
	Marketplace string // the name of the marketplace; "" without a marketplace
	Manifest    string // the path relative to the filesystem; "" without a manifest
	Source      Source // zero without a marketplace
	Format      string // the path of the manifest of the format, below a plugin; the plugin may have no manifest
	Parts       []Part

	// Hooks and MCPServers are the values that a manifest or an entry contains, as written. The
	// files are the paths of JSON files with further values, relative to the filesystem. Find reads
	// no such file, and a file may be missing.
	Hooks, MCPServers         []json.RawMessage
	HookFiles, MCPServerFiles []string

	Problems []problem.Problem // the paths are relative to the filesystem

	// With Options.Digest, Raw has the bytes from which Find has made the plugin, by the paths of
	// the files relative to the directory of Find: the manifest, and the part of the marketplace
	// that concerns the plugin. The path decides the format.
	Raw    map[string]string
	Digest string // of Raw; "" if Raw is empty
	File   string // the path of the manifest, or else of the marketplace, relative to the filesystem
}

// An About has the texts of a plugin, or of its manifest or its entry in a marketplace.
type About struct {
	Name, DisplayName, Version, Description, Homepage, Repository, License string

	Keywords []string
	Author   Person
}

// sealed sets the digest of a plugin.
func (f *finder) sealed(p *Plugin, m *manifest, e *entry) *Plugin {
	if f.options.Digest == nil || m == nil && e == nil {
		return p
	}
	p.Raw = make(map[string]string)
	if m != nil {
		p.Raw[access.FromTop(f.dir, m.path)] = m.raw
	}
	if e != nil {
		p.Raw[access.FromTop(f.dir, f.table.Marketplace)] = e.excerpt
	}
	p.Digest, p.File = f.options.Digest(p.Raw), cmp.Or(p.Manifest, f.table.Marketplace)
	return p
}

// A Person is an author.
type Person struct{ Name, Email, URL string }

// A Part is a place of the files of a plugin.
type Part struct {
	Kind     client.Files // client.Commands, client.Skills or client.Agents
	Path     string       // clean, relative to the filesystem
	File     bool         // the path is the path of a file
	Declared bool         // a manifest or an entry names the path
	Pattern  string       // of the files below the directory; "SKILL.md" if the directory is one skill; "" for a file
	Single   bool         // a SKILL.md of a directory of skills makes the directory the only skill; otherwise only subdirectories are skills
	Names    client.NameRule
	Rules    client.Rules
	Format   string // Plugin.Format
}

// Find returns the plugins of a directory. The directory is a marketplace, a plugin or a directory
// of plugins: Find looks for a marketplace, then for a manifest or for directories of commands,
// skills and agents, and then in the subdirectories. A marketplace inside of a plugin does not
// count. Find returns an error only if the directory cannot be read, or if ctx ends. Find reads the
// files of a plugin by the Sub of its directory, and calls Release after the manifest.
func Find(ctx context.Context, files *access.Recorder, dir string, o Options) (Table, error) {
	f := &finder{ctx: ctx, files: files, dir: dir, options: o, formats: ordered(o.Manifests, nil), bare: claudeFormat, dirs: make(map[string]*directory), skills: make(map[string]skillDir), sharing: make(map[sharedDir]int)}
	top := f.list(dir)
	defer top.files.Release()
	if top.err != nil {
		return Table{}, top.err
	}
	f.dirs[dir], top.top = top, true
	if o.Only != "" {
		f.formats = slices.DeleteFunc([]*format{find(o.Only)}, func(f *format) bool { return f == nil })
		f.search(top)
	} else if listed := f.marketplace(top); !listed || !top.listed && f.manifestOf(top) != nil {
		if p := f.load(top, nil); p != nil {
			f.add(p)
		} else if !listed && !top.rejected {
			f.search(top)
		}
	}
	f.table.Problems = problem.Limit(f.table.Problems)
	return f.table, ctx.Err()
}

// A finder is one call of Find.
type finder struct {
	ctx     context.Context
	files   *access.Recorder
	dir     string // as given to Find
	options Options
	formats []*format
	bare    *format // of plugins without a manifest
	claude  bool    // the marketplace belongs to Claude Code, which reads no manifest of another program
	table   Table
	parts   int                   // of all plugins
	sharing map[sharedDir]int     // the number of plugins that share the directory
	dirs    map[string]*directory // by path; several entries of a marketplace may share a directory
	skills  map[string]skillDir   // by the paths of the plugin and of the declared directory
}

// A directory is the open directory of a plugin.
type directory struct {
	path     string
	files    *access.Recorder
	entries  []access.Entry   // in the order of names.Compare
	top      bool             // the directory that the caller names
	listed   bool             // an entry of the marketplace has the directory
	searched bool             // manifest, failed and foreign are set
	manifest *manifest        // nil without a valid manifest
	failed   *problem.Problem // of a manifest that is not valid
	rejected bool             // failed is reported
	foreign  *problem.Problem // of a manifest without the schema of the format
	err      error
}

// open returns a directory with its manifest.
func (f *finder) open(dir string) (*directory, error) {
	if f.dirs[dir] == nil {
		f.dirs[dir] = f.look(dir)
	}
	return f.dirs[dir], f.dirs[dir].err
}

// each opens directories at the same time, and calls load for each in order, one call at a time,
// once the directory and the directories before are open. An empty path needs no directory.
func (f *finder) each(dirs []string, load func(i int)) {
	looked, ready := make([]*directory, len(dirs)), make([]bool, len(dirs))
	seen := make(map[string]bool, len(dirs))
	for i, dir := range dirs {
		ready[i] = dir == "" || f.dirs[dir] != nil || seen[dir]
		seen[dir] = true
	}
	var mu sync.Mutex // guards looked, ready and the variables below
	next, loading := 0, false
	// due returns the next directory to load, unless another goroutine loads. The others look ahead.
	due := func(mine bool) (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if loading && !mine {
			return 0, false
		}
		if loading = next < len(dirs) && ready[next] && f.ctx.Err() == nil; loading {
			next++
		}
		return next - 1, loading
	}
	_ = parallel.Each(f.ctx, max(1, f.options.Reads), len(dirs), func(i int) {
		if !ready[i] {
			d := f.look(dirs[i])
			mu.Lock()
			looked[i], ready[i] = d, true
			mu.Unlock()
		}
		for i, ok := due(false); ok; i, ok = due(true) {
			if looked[i] != nil {
				f.dirs[dirs[i]] = looked[i]
			}
			load(i)
		}
	})
}

// maxAhead bounds the memory of directories that Find has read and not loaded.
const maxAhead = 256

// look reads the names of the files and the manifest of a directory. Several goroutines may call
// look.
func (f *finder) look(dir string) *directory {
	d := f.list(dir)
	defer d.files.Release()
	if d.err == nil {
		f.searchManifest(d)
	}
	return d
}

// list reads the names of the files of a directory.
func (f *finder) list(dir string) *directory {
	d := &directory{path: dir, files: f.files.Sub(dir)}
	if d.err = f.ctx.Err(); d.err == nil {
		d.entries, d.err = d.files.ReadDir(".")
	}
	slices.SortFunc(d.entries, func(a, b access.Entry) int { return names.Compare(a.Name, b.Name) })
	return d
}

// entry returns the type bits of a file.
func (d *directory) entry(name string) (typ fs.FileMode, ok bool) {
	i, ok := slices.BinarySearchFunc(d.entries, name, func(e access.Entry, name string) int {
		return names.Compare(e.Name, name)
	})
	if ok {
		typ = d.files.Type(".", d.entries[i])
	}
	return typ, ok
}

// has reports whether the directory can have a file with the path.
func (d *directory) has(file string) bool {
	first, _, nested := strings.Cut(file, "/")
	_, ok := d.entry(first)
	return ok && (!nested || d.isDir(first))
}

// isDir reports whether the directory has a subdirectory, or a link, with the name.
func (d *directory) isDir(name string) bool {
	typ, ok := d.entry(name)
	return ok && (typ.IsDir() || typ&fs.ModeSymlink != 0)
}

// join returns the path of a file of the directory, relative to the filesystem.
func (d *directory) join(file string) string { return access.Below(d.path, file) }

// search looks for plugins in the subdirectories.
func (f *finder) search(top *directory) {
	var dirs []string
	for _, e := range top.entries {
		name := e.Name
		if name[0] != '.' && top.isDir(name) && (f.options.Only == "" || f.holds(top, e)) {
			dirs = append(dirs, top.join(name))
		}
	}
	for next := range slices.Chunk(dirs, maxAhead) {
		f.each(next, func(i int) { f.found(top, next[i]) })
	}
}

// found adds the plugin of a subdirectory, if any.
func (f *finder) found(top *directory, dir string) {
	d, err := f.open(dir)
	if err == nil {
		f.add(f.load(d, nil))
	} else if typ, _ := top.entry(path.Base(dir)); f.ctx.Err() == nil && typ.IsDir() {
		f.report(problem.New(problem.DirectoryUnreadable, problem.Error, escape.Path(dir),
			"cannot read the directory: "+escape.Reason(err), "let the program read the directory"))
	}
	delete(f.dirs, dir) // no other plugin has the directory
}

// holds reports whether a subdirectory has the manifest of Options.Only.
func (f *finder) holds(top *directory, e access.Entry) bool {
	if top.files.Type(".", e)&fs.ModeSymlink != 0 { // the target may be outside of top
		return f.files.Has(top.join(e.Name), f.options.Only)
	}
	return top.files.Has(e.Name, f.options.Only)
}

// report adds problems of the table.
func (f *finder) report(all ...problem.Problem) {
	if f.table.Problems = append(f.table.Problems, all...); len(f.table.Problems) > maxProblems {
		f.table.Problems = problem.Limit(f.table.Problems)
	}
}

// add adds a plugin, unless p is nil.
func (f *finder) add(p *Plugin) {
	if p == nil {
		return
	}
	p.Problems = problem.Limit(p.Problems)
	f.table.Plugins = append(f.table.Plugins, p)
}

// skillDir is the content of a directory that a manifest declares as skills.
type skillDir int

const (
	_         skillDir = iota
	missing            // the directory does not exist, or cannot be read
	oneSkill           // the directory has a SKILL.md
	manySkill          // the subdirectories may have a SKILL.md
)

// skillsIn reads the names of the files of a declared directory of skills.
func (f *finder) skillsIn(d *directory, dir string) skillDir {
	if dir == "." {
		if d.has("SKILL.md") {
			return oneSkill
		}
		return manySkill
	}
	key := d.path + "\x00" + dir
	if known := f.skills[key]; known != 0 {
		return known
	}
	kind := missing
	if first, _, _ := strings.Cut(dir, "/"); d.isDir(first) {
		if all, err := d.files.ReadDir(dir); err == nil {
			kind = manySkill
			if slices.ContainsFunc(all, func(e access.Entry) bool {
				return e.Name == "SKILL.md" && !d.files.Type(dir, e).IsDir()
			}) {
				kind = oneSkill
			}
		}
	}
	f.skills[key] = kind
	return kind
}
