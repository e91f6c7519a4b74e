package instruction

import (
	"cmp"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
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
	add := func(t Tree) { dirs = append(dirs, t.FS.Path(t.Dir)) }
	add(f.Root)
	for _, t := range f.Parents {
		add(t)
	}
	for _, path := range slices.Sorted(maps.Keys(f.user)) {
		add(f.user[path])
	}
	for _, l := range f.Rules.Layers() {
		add(Tree{FS: l.FS, Dir: l.Dir})
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

// maxAsked bounds the directories of an Asked. With more directories than an Observer watches, no
// Answer is Watched.
const maxAsked = 2000

// Asked are the single files that the calls of a catalog or of a view have returned, by the
// directory of the call and the hops. The zero value is empty. An Asked is safe for concurrent use.
type Asked struct {
	mu    sync.Mutex
	files map[asked]map[string]string // as first returned
}

type asked struct {
	dir  string
	hops int
}

// Add adds an Answer that is Watched, unless an Answer for the directory is known.
func (a *Asked) Add(hops int, answer Answer) {
	if !answer.Watched {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := asked{answer.Dir, hops}
	if a.files[key] != nil || len(a.files) >= maxAsked {
		return
	}
	if a.files == nil {
		a.files = map[asked]map[string]string{}
	}
	a.files[key] = answer.singles()
}

func (a *Asked) all() map[asked]map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.files)
}

// Follow returns a function that asks again for each directory of a, and returns the digests of the
// last call and of this call, by path. Commit makes this call the last call. The last call of a
// directory that was added since is the call that has added the directory.
func (a *Asked) Follow(ask func(Query) (Answer, error)) (since func() (before, now map[string]string, commit func())) {
	again := func(last map[asked]map[string]string) map[asked]map[string]string {
		all := make(map[asked]map[string]string, len(last))
		for key, files := range last {
			if answer, err := ask(Query{Name: key.dir, Hops: key.hops}); err == nil {
				files = answer.singles()
			}
			all[key] = files
		}
		return all
	}
	seen := again(a.all())
	return func() (before, now map[string]string, commit func()) {
		last := a.all()
		maps.Copy(last, seen)
		current := again(last)
		return joined(last), joined(current), func() { seen = current }
	}
}

// joined returns the digests of each path.
func joined(all map[asked]map[string]string) map[string]string {
	digests := map[string]string{}
	for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b asked) int {
		return cmp.Or(strings.Compare(a.dir, b.dir), cmp.Compare(a.hops, b.hops))
	}) {
		for path, digest := range all[key] {
			if known, ok := digests[path]; !ok || !strings.Contains(known, digest) {
				digests[path] = known + digest
			}
		}
	}
	return digests
}
