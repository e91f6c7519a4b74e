package index

import (
	"cmp"
	"errors"
	"hash/maphash"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Plugins finds the plugins in the directory of a layer. The indexes of all kinds share the result.
type Plugins struct {
	Options plugin.Options

	mu    sync.Mutex
	last  *pluginTable
	parts map[client.Files]*pluginParts // the last of each kind
}

// A pluginTable is the result of plugin.Find, and is immutable except the reads.
type pluginTable struct {
	plugin.Table
	reads access.Reads // guarded by Plugins.mu
}

// pluginParts are the parts of one kind in a table, and are immutable.
type pluginParts struct {
	*pluginTable
	all      []*Part // in the order of precedence
	order    map[*Part]int
	declared map[*Part]bool // a plugin names the path, so the path has to exist
}

// A Part is a place of files in a plugin. The Layer is a copy of the layer with the plugins, with
// the directory, the names and the rules of the part. As long as the key is the same, a scan has
// the same Part.
type Part struct {
	Layer
	Plugin    string // the name of the plugin
	PluginDir string // the directory of the plugin, relative to FS; no link leads out of the directory

	key  partKey
	hash uint64 // of key
}

// A partKey distinguishes the parts of a layer. Two parts of one key have equal files.
type partKey struct {
	plugin.Part
	plugin, dir string
	digest      string // of the manifest and of the entry of a marketplace, in a layer with Layer.Sealed
}

func (k partKey) hash() uint64 { return maphash.Comparable(seed, k) }

// compare orders the parts of a layer. A layer without plugins has no pluginParts.
func (t *pluginParts) compare(p, q *Part) int {
	if t == nil {
		return 0
	}
	return cmp.Compare(t.order[p], t.order[q])
}

// newPart returns a part of a layer.
func newPart(l Layer, key partKey) *Part {
	p := &Part{Plugin: key.plugin, PluginDir: key.dir, key: key, hash: key.hash()}
	l.Plugins, l.Dir = nil, key.Path
	if key.File {
		l.Dir, l.Only = path.Dir(key.Path), path.Base(key.Path)
	}
	pattern := key.Pattern
	switch {
	case key.File && path.Ext(key.Path) == ".toml":
		pattern = "*.toml"
	case key.File:
		pattern = "*.md"
	case pattern == ownSkillPattern:
		l.Own, pattern = OwnOnly, "*/"+ownSkillPattern
	case key.Single:
		l.Own = OwnFirst
	default:
		l.Own = OwnNever
	}
	place := client.Place{Pattern: pattern, Name: key.Names, Prefix: key.plugin + ":"}
	p.Layer = l.WithPlace(Place{Place: place, Rules: key.Rules, Of: key.Format})
	p.Loose, p.Subdirs = true, p.Files
	return p
}

// ownSkillPattern is the pattern of a part that is one skill.
const ownSkillPattern = "SKILL.md"

// find returns the parts of a layer. If the files that the last call has read are unchanged, or if a
// store fails, find returns parts of the last table.
func (p *Plugins) find(s *scan, dirPath string) (*pluginParts, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	table, err := p.table(s, dirPath)
	if err != nil {
		return nil, err
	}
	p.last = table
	return p.partsOf(s.config.kind.files, s.at), nil
}

// table returns the plugins of a layer; see find.
func (p *Plugins) table(s *scan, dirPath string) (*pluginTable, error) {
	if p.last != nil && p.last.reads.Unchanged(&s.Source, func(*access.Read) bool { return true }) {
		return p.last, nil
	}
	now := new(pluginTable)
	var err error
	recorder := access.NewRecorder(&s.Source, &now.reads, p.Options.MaxSize)
	defer recorder.Close()
	options := p.Options
	options.Reads = s.Reads
	if s.at.Sealed {
		sums := make(Sums)
		options.Digest = func(raw map[string]string) string {
			return SealOf(PluginList, sums.Files(raw)).Digest
		}
	}
	if now.Table, err = plugin.Find(s.Context, recorder, dirPath, options); err != nil {
		return nil, err
	}
	for r := range now.reads.All {
		if r.Err == nil {
			continue
		}
		known := s.failed(r.Err, false) && p.last != nil && p.last.reads.Has(r.File)
		s.hide(r.File, "", known, r.Err) // a manifest can give the plugin any name
		switch {
		case known:
			if s.config.kind.plugins {
				s.reportFailure(r.File, r.Err)
			}
			return p.last, nil
		case errors.Is(r.Err, fs.ErrPermission):
			s.refusal.Store(true)
		}
	}
	return now, nil
}

// partsOf returns the parts of a kind in the last table.
func (p *Plugins) partsOf(kind client.Files, l *Layer) *pluginParts {
	last := p.parts[kind]
	if last != nil && last.pluginTable == p.last {
		return last
	}
	known := make(map[uint64]*Part, len(p.last.Plugins)) // by hash
	if last != nil {
		for _, part := range last.all {
			known[part.hash] = part
		}
	}
	now := &pluginParts{pluginTable: p.last, declared: make(map[*Part]bool),
		order: make(map[*Part]int, len(p.last.Plugins))}
	for _, found := range p.last.Plugins {
		for _, place := range found.Parts {
			if place.Kind != kind {
				continue
			}
			declared := place.Declared
			place.Declared = false // the files are the same
			key := partKey{place, found.Name, found.Dir, found.Digest}
			part := known[key.hash()]
			if part == nil || part.key != key {
				part = newPart(*l, key)
				known[part.hash] = part
			}
			if declared {
				now.declared[part] = true
			}
			// Two entries of a marketplace can be one plugin.
			if _, repeated := now.order[part]; !repeated {
				now.order[part] = len(now.order)
				now.all = append(now.all, part)
			}
		}
	}
	if p.parts == nil {
		p.parts = make(map[client.Files]*pluginParts)
	}
	p.parts[kind] = now
	return now
}

// Digest is Plugin.Digest of package plugin, for the plugin of the part.
func (p *Part) Digest() string { return p.key.digest }

// PluginTable returns the plugins of a layer in a snapshot. The paths are relative to the
// filesystem of the layer. The caller must not change the plugins.
func (x *Index) PluginTable(s *Snapshot, layer int) []*plugin.Plugin {
	if table := s.layers[layer].plugins; table != nil {
		return table.Plugins
	}
	return nil
}

// PluginsOf returns copies of the plugins of a layer in a snapshot, with full paths. The paths of
// their problems are those of Place.
func (x *Index) PluginsOf(s *Snapshot, layer int) (all []*plugin.Plugin) {
	table := s.layers[layer].plugins
	if table == nil {
		return nil
	}
	full := func(file string) string { return x.config.Layers[layer].FS.Path(file) }
	paths := func(files []string) (all []string) {
		for _, file := range files {
			all = append(all, full(file))
		}
		return all
	}
	for _, p := range table.Plugins {
		found := *p
		found.HookFiles, found.MCPServerFiles = paths(p.HookFiles), paths(p.MCPServerFiles)
		for _, file := range []*string{&found.Dir, &found.Manifest} {
			if *file != "" {
				*file = full(*file)
			}
		}
		found.Problems = make([]problem.Problem, len(p.Problems))
		for i, each := range p.Problems {
			found.Problems[i] = each.In(x.config.place(layer, each.Path))
		}
		all = append(all, &found)
	}
	return all
}

// scanPlugins adds the files of all plugins of a layer.
func scanPlugins(s *scan, dir *confine.Dir, dirPath string) error {
	s.Top = access.NewTop(dir, dirPath)
	table, err := s.at.Plugins.find(s, dirPath)
	if err != nil {
		return err
	}
	s.plugins = table
	if s.config.kind.plugins {
		for _, p := range slices.Concat(table.Problems, pluginProblems(table.Plugins)) {
			s.report(p.In(s.place(p.Path)))
		}
	}
	parts := table.all
	type place struct{ within, path string }
	scans, places := make([]*scan, len(parts)), make(map[place]int)
	if s.at.Sealed {
		for _, p := range parts {
			places[place{p.PluginDir, p.key.Path}]++
		}
	}
	read := new(sync.Map)
	err = parallel.Each(s.Context, s.Reads, len(parts), func(i int) {
		scans[i] = s.within(parts[i], max(1, s.Reads/len(parts)))
		if places[place{parts[i].PluginDir, parts[i].key.Path}] > 1 {
			scans[i].shared = read
		}
		scans[i].scanPart()
	})
	s.parts = make(map[*Part][]access.ListedDir, len(parts))
	var before *Part
	seen := make(map[string]bool) // the paths of the plugin
	for _, of := range scans {
		if of == nil { // ctx has ended
			continue
		}
		if before == nil || before.Plugin != of.part.Plugin || before.PluginDir != of.part.PluginDir {
			clear(seen)
		}
		before = of.part
		for _, e := range of.entries {
			if !seen[e.Path] && !isBare(e) {
				seen[e.Path] = true
				s.entries = append(s.entries, e)
			}
		}
		if !of.provesNothing(of.entries) {
			s.parts[of.part] = of.dirs
		}
		s.problems, s.hidden = append(s.problems, of.problems...), append(s.hidden, of.hidden...)
		if of.incomplete.Load() {
			s.incomplete.Store(true)
		}
		if of.refusal.Load() {
			s.refusal.Store(true)
		}
	}
	return err
}

func pluginProblems(plugins []*plugin.Plugin) (all []problem.Problem) {
	for _, p := range plugins {
		all = append(all, p.Problems...)
	}
	return all
}

// within returns a scan of a part, which reads at most the given number of files at the same time.
func (s *scan) within(p *Part, reads int) *scan {
	of := &scan{
		Source: access.Source{Context: s.Context, FS: s.FS.Within(p.PluginDir), Remote: s.Remote, Reads: reads,
			Opened: s.Opened, Top: s.Top, Watch: s.Watch, Look: s.Look},
		index: s.index, config: s.config, layer: s.layer, at: &p.Layer, part: p, version: s.version,
		before: s.before, resumed: s.resumed, plugins: s.plugins, collectors: s.collectors,
		exactCase: s.exactCase,
	}
	if s.refused != nil {
		of.refused = s.refused.Within(p.PluginDir)
	}
	return of
}

// scanPart adds the files of a part. A problem with one part does not affect the others.
func (s *scan) scanPart() {
	dirPath := s.at.Dir
	s.Visit(dirPath)
	dir, err := s.OpenDir(dirPath)
	if err == nil {
		defer dir.Close()
		err = s.config.kind.scan(s, dir, dirPath)
	}
	at := s.part.key.Path
	switch {
	case err == nil && s.at.Only != "" && len(s.entries) == 0 && len(s.problems) == 0:
		err = fs.ErrNotExist
		fallthrough
	case err != nil && s.Context.Err() == nil:
		s.reportPart(at, err)
	}
}

// reportPart reports a part that cannot be read. Only a path that the plugin declares has to exist.
func (s *scan) reportPart(at string, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s.plugins.declared[s.part] {
			s.warn(problem.PluginPathInvalid, at,
				"the plugin names the path, and the path does not exist",
				"create the file or directory, or remove the path from the plugin")
		}
	case errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink):
		s.report(s.linkProblem(at, err))
	default:
		s.unlisted(at, s.at.Prefix, "files", path.Clean, err)
	}
}
