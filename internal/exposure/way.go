package exposure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// A Below finds the skills in the directories below the root. All fields are set once. A Below is
// safe for concurrent use.
type Below struct {
	Skills *index.Index
	Root   *confine.FS
	Layers []index.Layer // of Skills in the root, for which clients also look in the directories below

	Observer *watch.Observer // nil if nothing is watched

	kept  index.Dirs
	asked changes.Asked[string, *Way] // by the last directory on the way
}

// A Way has the skills of a catalog, and of the directories on the way from the root to a path. An
// entry of a directory has the name of the directory and ":" before its name. A Way is immutable.
type Way struct {
	Index *index.Index
	Root  *index.Snapshot // of the catalog
	All   *index.Snapshot // of Index

	path  string
	base  int // number of layers in the root and elsewhere
	names map[*index.Entry]string
}

// To returns the Way to a path below the root, which may be missing. The argument s is a snapshot
// of Skills. If s is nil, name is a name that Dir accepts, and the Way has the skills of its
// directory. The error is an error of a directory on the way.
func (b *Below) To(ctx context.Context, s *index.Snapshot, name string) (*Way, error) {
	if s == nil {
		return b.at(ctx, name)
	}
	look := b.Observer.Begin()
	layers, err := b.layers(ctx, name, look)
	if err != nil {
		return nil, err
	}
	w, err := b.way(ctx, s, name, layers, look)
	if _, watched := look.Generation(); err == nil && watched {
		elems := strings.SplitAfter(name, "/")[:len(layers)/max(len(b.Layers), 1)]
		b.asked.Add(strings.TrimSuffix(strings.Join(elems, ""), "/"), w)
	}
	return w, err
}

// at returns a Way with the skills of the directory of a name, and no others.
func (b *Below) at(ctx context.Context, name string) (*Way, error) {
	dir, _ := Dir(name)
	layers, err := b.layers(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	above := len(b.Layers) * strings.Count(dir, "/")
	clear(layers[:min(above, len(layers))])
	return b.way(ctx, nil, dir, layers, nil)
}

func (b *Below) way(
	ctx context.Context, s *index.Snapshot, name string, layers []index.Layer, look *watch.Look,
) (w *Way, err error) {
	w = &Way{Index: b.Skills, Root: s, All: s, path: name, base: len(b.Skills.Layers())}
	if s != nil && !slices.ContainsFunc(layers, func(l index.Layer) bool { return l.FS != nil }) {
		return w, nil
	}
	w.Index, w.All, err = b.Skills.Extend(ctx, s, layers, &b.kept, look)
	if err != nil || s == nil {
		return w, err
	}
	w.names = map[*index.Entry]string{}
	first := map[string]*index.Entry{}
	for e := range w.All.Winners() {
		if !w.Has(e) || e.Broken() == index.ErrNoSkillFile {
			continue
		}
		below := b.Layers[(e.Layer()-w.base)%len(b.Layers)].Dir
		bare := e.Name[len(path.Clean(strings.TrimSuffix(w.Index.LayerOf(e).Dir, below)))+1:]
		other, known := first[bare]
		if same := s.Lookup(bare); known {
			delete(w.names, other)
		} else if same == nil || same.Broken() == index.ErrNoSkillFile {
			w.names[e] = bare
		}
		first[bare] = e
	}
	return w, nil
}

// The limits of Everywhere: the files of one search, and the searches. Each search omits the
// directories that the searches before have found.
const maxFound, maxSearches = 100_000, 100

// Everywhere returns Skills and a snapshot of Skills with the skills of each directory below the
// root, except directories in which To finds none, and directories behind links.
func (b *Below) Everywhere(ctx context.Context, s *index.Snapshot) (*index.Index, *index.Snapshot, error) {
	var globs []string
	for _, l := range b.Layers {
		globs = append(globs, path.Join(listing.QuoteGlob(l.Dir), "**"))
	}
	glob, err := listing.ParseGlob("*/**/{" + strings.Join(globs, ",") + "}")
	if len(globs) == 0 || err != nil {
		return b.Skills, s, nil
	}
	options := listing.Options{Hidden: true, Gitignore: true, NoMetadata: true, Limit: maxFound}
	omit := func(text string) {
		if g, err := listing.ParseGlob(text); err == nil {
			options.Exclude = append(options.Exclude, g)
		}
	}
	omit("node_modules")
	known, dirs := map[string]bool{}, []string{}
	for n, more := 0, true; more && n < maxSearches; n++ {
		found, err := listing.Find(ctx, b.Root, ".", glob, options)
		if ctx.Err() != nil || errors.Is(err, fs.ErrClosed) {
			return nil, nil, errors.Join(ctx.Err(), err)
		}
		more = found.Total > len(found.Files)
		for _, file := range found.Files {
			for _, l := range b.Layers {
				for i := range file {
					dir, rest := file[:i], file[i:]
					if !strings.HasPrefix(rest, "/"+l.Dir+"/") || known[dir+"/"+l.Dir] {
						continue
					}
					known[dir+"/"+l.Dir], dirs = true, append(dirs, dir)
					if more {
						omit(listing.QuoteGlob(dir + "/" + l.Dir))
					}
				}
			}
		}
	}
	slices.Sort(dirs)
	var layers []index.Layer
	for _, dir := range slices.Compact(dirs) {
		for _, l := range b.Layers {
			layers = append(layers, below(dir, l))
		}
	}
	layers = layers[:min(len(layers), maxLayers-len(b.Skills.Layers()))]
	return b.Skills.Extend(ctx, s, layers, nil, nil)
}

// Has reports whether a layer can be in a directory below the root.
func (b *Below) Has(layer string) bool {
	ends := func(l index.Layer) bool { return strings.HasSuffix(layer, "/"+l.Name) }
	return slices.ContainsFunc(b.Layers, ends)
}

// below returns a layer of the root in a directory below.
func below(dir string, l index.Layer) index.Layer {
	l.Name, l.Dir, l.Prefix = path.Join(dir, l.Name), path.Join(dir, l.Dir), dir+":"+l.Prefix
	l.Optional, l.InRoot = true, false
	return l
}

// layers returns the layers of the directories on the way to a path, in the order of the
// directories. A layer without a filesystem does not exist. No directory of dependencies has
// skills, and no ignored directory.
func (b *Below) layers(
	ctx context.Context, name string, look *watch.Look,
) (all []index.Layer, err error) {
	if len(b.Layers) == 0 || name == "." {
		return nil, nil
	}
	look.Dir(b.Root.Path("."))
	dir, err := b.Root.OpenDir(".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var ignored listing.Ignored
	for at := "."; err == nil && name != "" && len(all) < maxLayers-len(b.Skills.Layers()); {
		var elem string
		elem, name, _ = strings.Cut(name, "/")
		look.File(b.Root.Path(path.Join(at, ".gitignore")))
		skips, failed := ignored.Has(ctx, dir, at, elem)
		if err = failed; skips || err != nil || elem == ".git" || elem == "node_modules" {
			break
		}
		at = path.Join(at, elem)
		look.Dir(b.Root.Path(at))
		var next *confine.Dir
		if next, err = dir.OpenDir(elem); errors.Is(err, confine.ErrSymlink) {
			next, err = b.Root.OpenDir(at)
		}
		if err != nil {
			break
		}
		dir.Close()
		dir = next
		for _, l := range b.Layers {
			first, _, _ := strings.Cut(l.Dir, "/")
			look.Dir(b.Root.Path(path.Join(at, first)))
			_, failed := dir.Lstat(first)
			l = below(at, l)
			if l.Permitted = true; errors.Is(failed, fs.ErrNotExist) {
				l = index.Layer{}
			}
			all = append(all, l)
		}
		err = ctx.Err()
	}
	if dir != nil {
		dir.Close()
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, confine.ErrNotDir) {
		err = nil // the file itself, or a file that the caller is about to write
	}
	return all, err
}

// maxLayers is the number of layers that an index can have.
const maxLayers = 1<<16 - 64

// Dir returns the directory of the name of a skill below the root, such as "packages/web" of
// "packages/web:deploy".
func Dir(name string) (dir string, ok bool) {
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 || !names.Loose(name[colon+1:]) {
		return "", false
	}
	dir = name[:colon]
	if dir == "." || path.Clean(dir) != dir || !filepath.IsLocal(dir) {
		return "", false
	}
	for elem := range strings.SplitSeq(dir, "/") {
		// The dots of .config and [...slug] lead nowhere.
		if strings.Trim(elem, ".") == "" || !names.Loose(strings.ReplaceAll(elem, ".", "_")) {
			return "", false
		}
	}
	return dir, true
}

// Qualified reports whether a name is no name of a list, and has a directory.
func Qualified(name string) bool {
	_, ok := Dir(name)
	return ok && !names.Loose(name)
}

// Has reports whether an entry is of a directory on the way.
func (w *Way) Has(e *index.Entry) bool { return e.Layer() >= w.base }

// Name returns the name of an entry as a client shows the name: without the directory if no other
// skill has the name. A nil Way changes no name.
func (w *Way) Name(e *index.Entry) string {
	if w != nil && w.names[e] != "" {
		return w.names[e]
	}
	return e.Name
}

// Find returns the name of the entry that Name has given a name. If no entry has the name, but a
// directory beside the way can have the skill, Find returns false.
func (w *Way) Find(name string) (full string, ok bool) {
	for e, bare := range w.names {
		if bare == name {
			return e.Name, true
		}
	}
	_, beside := Dir(name)
	return name, !beside || w.All.Lookup(name) != nil
}

// Ordered returns the entries of the catalog, and then the entries of each directory on the way.
func (w *Way) Ordered(entries []*index.Entry) []*index.Entry {
	if w == nil || w.names == nil {
		return entries
	}
	level := func(e *index.Entry) int { return max(e.Layer()+1-w.base, 0) }
	return slices.SortedStableFunc(slices.Values(entries),
		func(a, b *index.Entry) int { return level(a) - level(b) })
}

// The limits of the globs of a skill. A skill cannot use up the limits of other skills.
const (
	maxGlobBytes = 16 << 10 // with braces expanded; later globs do not count
	maxSteps     = 1 << 18  // of the comparisons
)

// Applies reports whether a skill of the catalog applies to the path: the header has no paths, or
// one of the globs matches the path or a directory on the way, as in a .gitignore file.
func (w *Way) Applies(e *index.Entry) bool {
	header := e.Header()
	value, _ := header.Get("paths")
	globs := instruction.GlobsOf(value)
	if len(globs) == 0 || w.Has(e) {
		return true
	}
	var all []listing.Glob
	left, steps := maxGlobBytes, maxSteps
	for _, text := range globs {
		if left <= 0 {
			break
		}
		text = strings.TrimSuffix(text, "/")
		within := text + "/**"
		if !strings.Contains(text, "/") {
			within = "**/" + within
		}
		for _, text := range []string{text, within} {
			glob, err := listing.ParseGlob(text)
			if left -= len(text) + glob.Size(); err == nil {
				all = append(all, glob)
			}
		}
	}
	matcher := listing.NewGlobs(all)
	ok, _ := matcher.Match(w.path, &steps)
	return ok
}

// states returns the states of the shown entries of the directories on the way, by name.
func (w *Way) states(shown *index.Snapshot) map[string]string {
	all := map[string]string{}
	for _, e := range shown.Entries {
		if w.Has(e) {
			digest := ""
			if seal := e.Seal(); seal != nil {
				digest = seal.Digest
			}
			all[e.Name] = fmt.Sprint(e.Stamp, digest)
		}
	}
	return all
}

// Follow returns the changes.Asked.Follow of the directories that calls have asked for. Without an
// Observer, no call is known, and Follow returns nil. The function shown returns the entries that
// pass the filter.
func (b *Below) Follow(
	ask func(dir string) (*Way, error), shown func(*Way) *index.Snapshot,
) func(*changes.Names) {
	if b.Observer == nil {
		return nil
	}
	return b.asked.Follow(ask, func(w *Way) map[string]string { return w.states(shown(w)) })
}
