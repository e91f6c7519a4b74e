package instruction

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// An Answer is the result of Find. The caller must not change the Texts.
type Answer struct {
	Texts []Text

	Dir     string // the last directory on the way that exists
	Watched bool   // the Observer reports the changes of the files

	generation uint64 // of the Observer
	rules      *index.Snapshot
}

// Watched returns the directories of an Observer.
func (f *Finder) Watched() (dirs []string) {
	dirs = append(dirs, f.Root.FS.Path(f.Root.Dir))
	for _, t := range f.Parents {
		dirs = append(dirs, t.FS.Path(t.Dir))
	}
	for _, path := range slices.Sorted(maps.Keys(f.user)) {
		dirs = append(dirs, f.user[path].FS.Path(f.user[path].Dir))
	}
	for _, l := range f.Rules.Layers() {
		dirs = append(dirs, l.FS.Path(l.Dir))
	}
	return dirs
}

// Kept returns the last Answer to a Query, if neither the Observer nor the watch of Rules has
// reported a change since. Kept makes no system call.
func (f *Finder) Kept(q Query) (answer Answer, ok bool) {
	if kept := f.Answers.Get(q.file()); kept != nil && f.Observer.Unchanged(kept.Value.generation) && f.Rules.Unchanged(kept.Value.rules) {
		return kept.Value, true
	}
	return Answer{}, false
}

// file returns the key of the Answer in the cache.
func (q Query) file() index.File {
	return index.File{Layer: q.Hops, Path: strings.Join(append([]string{q.Name}, q.Refused...), "\x00")} // no path has a zero byte
}

// keep returns the Answer of a call, and keeps an Answer whose files are watched.
func (c *call) keep(all []Text, rules *index.Snapshot) Answer {
	a := Answer{Texts: all, Dir: c.way[len(c.way)-1].dir, rules: rules}
	if a.generation, a.Watched = c.seen.Generation(); a.Watched {
		kept := &index.Cached[Answer]{File: c.file(), Value: a}
		for _, t := range all {
			kept.Size += sizeOf(t)
		}
		c.Answers.Put(kept)
	}
	return a
}

// maxLinks bounds the links from one file.
const maxLinks = 8

// look watches a file, and the targets of links.
func (c *call) look(fsys *confine.FS, file string) {
	if c.seen == nil {
		return
	}
	for range maxLinks {
		c.seen.File(fsys.Path(file))
		if info, err := fsys.Lstat(file); err != nil || info.Mode&fs.ModeSymlink == 0 {
			return
		}
		target, err := fsys.ReadLink(file)
		if err != nil {
			break
		}
		c.seen.Link(fsys.Path(file), fsys.Path(target))
		file = target
	}
	c.seen.Fail()
}

// sizeOf estimates the memory of a text, in bytes.
func sizeOf(t Text) int64 {
	n := 512 + len(t.Path) + len(t.Layer) + len(t.Scope) + len(t.Text) + len(t.Description) + len(t.Digest)
	for _, s := range slices.Concat(t.Globs, t.Imports) {
		n += 16 + len(s)
	}
	for _, p := range t.Problems {
		n += 256 + len(p.Path) + len(p.Message)
	}
	return int64(n)
}

// singles returns the digests of the single files, by path.
func (a Answer) singles() map[string]string {
	files := map[string]string{}
	for _, t := range a.Texts {
		if t.Single {
			files[t.Path] = t.Digest // "" if the file cannot be read
		}
	}
	return files
}

// Asked are the single files that the calls of a catalog or of a view have returned, by the
// directory of the call and the hops. The zero value is empty.
type Asked struct {
	digests changes.Asked[question, map[string]string]
}

type question struct {
	dir  string
	hops int
}

// Add adds an Answer that is Watched.
func (a *Asked) Add(hops int, answer Answer) {
	if answer.Watched {
		a.digests.Add(question{answer.Dir, hops}, answer.singles())
	}
}

// Follow is changes.Asked.Follow.
func (a *Asked) Follow(ask func(Query) (Answer, error)) (since func(*changes.Names)) {
	again := func(q question) (map[string]string, error) {
		answer, err := ask(Query{Name: q.dir, Hops: q.hops})
		return answer.singles(), err
	}
	return a.digests.Follow(again, func(files map[string]string) map[string]string { return files })
}
