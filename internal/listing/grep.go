package listing

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/grep"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/shown"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// GrepOptions select the lines of Grep.
type GrepOptions struct {
	Pattern *grep.Pattern
	Files   []Glob // search files that match any of the globs; all files without globs
	Context int    // number of lines before and after each matching line
	Output  string // only the first matching line of each file; shown.OutputFiles counts no others
	// Options.Limit selects the first line of each file, then the second lines, and so on.
	Fair bool

	Searched *atomic.Int64 // counts the files that Grep has searched or skipped; or nil
}

// matchingFile are matching lines of a file.
type matchingFile struct {
	path  string // relative to the root
	lines []grep.Line
	total int // number of matching lines, including those beyond the limits
}

// Grep searches the files that Find with the globs would return. If name is a file, Grep
// searches the file, whatever the globs and the options.
//
// Options.Limit is the number of lines of the result: the first lines in path order, or, with
// GrepOptions.Fair, about the same number of lines of each file. The memory depends on the limit
// and on the number of directories.
func Grep[M any](ctx context.Context, fsys *confine.FS, name string, s GrepOptions, o Options,
	found *shown.Matches[M], build func(shown.Match) M) error {
	g := grepper[M]{ctx: ctx, fsys: fsys, search: s, limit: o.Limit, found: found}
	g.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
	g.found.Path, g.found.Output = name+"/", s.Output
	if g.limit == 0 {
		g.limit = math.MaxInt
	}
	d, dir, at, err := open(fsys, name, o)
	switch {
	case errors.Is(err, confine.ErrNotDir):
		file, err := fsys.OpenRegular(name)
		if err == nil {
			g.found.Path = name
			err = g.read("", name, file)
			g.count()
		}
		if err == nil {
			g.finish(build)
		}
		return err
	case err != nil:
		return err
	}
	defer dir.Close()
	g.reader = d
	skipped, err := walkFiles(ctx, d, dir, at, s.Files, g.files)
	r := d.report()
	g.found.Skipped += skipped + int(d.unread.Load())
	g.found.Ignored, g.found.Dependencies = r.Ignored, r.Dependencies
	g.found.Vanished, g.found.Warnings = r.Vanished, r.Warnings
	if err == nil {
		g.finish(build)
	}
	return err
}

// finish builds the matches.
func (g *grepper[M]) finish(build func(shown.Match) M) {
	g.cut()
	g.found.Matches = make([]M, 0, g.lines)
	for _, file := range g.all {
		for i, l := range file.lines {
			m := shown.Match{Path: file.path, Line: l.Number, Column: l.Column, Text: l.Text,
				TextColumn: l.TextColumn, Truncated: l.Truncated, Before: l.Before, After: l.After}
			if i+1 == len(file.lines) {
				m.More = file.total - len(file.lines)
			}
			g.found.Matches = append(g.found.Matches, build(m))
		}
	}
}

// A grepper is a call of Grep.
type grepper[M any] struct {
	ctx    context.Context
	fsys   *confine.FS
	reader *reader // of a directory
	search GrepOptions
	limit  int           // lines
	slots  chan struct{} // a goroutine that searches files has a place in slots

	last atomic.Pointer[lastLine] // no later line is a part of the result

	mu    sync.Mutex
	found *shown.Matches[M]
	all   []matchingFile // unsorted, until finish
	lines int            // lines in all, fewer than twice the limit
}

// A lastLine is the last line of the result, in the order in which the limit selects lines.
type lastLine struct {
	path  string
	index int // among the matching lines of the file
}

// files searches files of a directory. If other directories keep the processors busy, files
// starts no goroutines.
func (g *grepper[M]) files(in foundFiles) error {
	const chunk = 16
	all := len(in.files) + len(in.links)
	free := cap(g.slots) - len(g.slots)
	return parallel.Do(g.ctx, max(free, 1), (all+chunk-1)/chunk, func(i int) error {
		select {
		case g.slots <- struct{}{}:
			defer func() { <-g.slots }()
		case <-g.ctx.Done():
			return g.ctx.Err()
		}
		for j := i * chunk; j < min((i+1)*chunk, all); j++ {
			var err error
			if j < len(in.files) {
				err = g.file(in, in.files[j], false)
			} else {
				err = g.file(in, in.links[j-len(in.files)], true)
			}
			if err != nil {
				return err
			}
			g.count()
		}
		return nil
	})
}

// count adds a file to Searched.
func (g *grepper[M]) count() {
	if g.search.Searched != nil {
		g.search.Searched.Add(1)
	}
}

// file searches a regular file, or the target of a link. A file that is not regular any more is not
// a match of the globs. The result omits a link that does not lead to a file.
func (g *grepper[M]) file(in foundFiles, name string, link bool) error {
	var file *confine.File
	var err error
	if link {
		file, err = g.fsys.OpenRegular(in.path(name))
	} else {
		file, err = in.dir.OpenRegular(name)
	}
	switch {
	case err == nil:
		err = g.read(rulesDir(in.at.name), name, file)
	case errors.Is(err, confine.ErrNotRegular), errors.Is(err, confine.ErrSymlink),
		link && leadsNowhere(err):
		return nil
	case !link && errors.Is(err, fs.ErrNotExist):
		g.reader.vanished.Add(1)
		return nil
	}
	return g.skip(err)
}

// skip counts an unreadable file. skip returns the error of the context.
func (g *grepper[M]) skip(err error) error {
	if err == nil {
		return nil
	}
	if ended := g.ctx.Err(); ended != nil {
		return ended
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.found.Skipped++
	return nil
}

var blocks = sync.Pool{New: func() any { return new(text.Blocks) }}

// read searches and closes an open file.
func (g *grepper[M]) read(dir, name string, file *confine.File) error {
	defer file.Close()
	size := file.Info().Size
	if size == 0 {
		size = -1 // the filesystem may not know the size, as in /proc
	}
	b := blocks.Get().(*text.Blocks)
	defer func() {
		b.Reset(nil, 0) // the pool must not keep the file
		blocks.Put(b)
	}()
	b.Reset(file, size)
	request := grep.Request{Lines: min(g.limit, g.possible(dir, name)), Context: g.search.Context,
		Stop: g.search.Output == shown.OutputFiles}
	if g.search.Output != "" {
		request.Lines = min(request.Lines, 1)
	}
	if request.Lines == 0 {
		request.Context = 0
	}
	found, err := g.search.Pattern.Search(g.ctx, b, request)
	if err != nil && !isNotText(err) {
		return err
	}
	g.add(dir, name, found, err != nil)
	return nil
}

// possible returns the number of lines of a file that can be a part of the result.
func (g *grepper[M]) possible(dir, name string) int {
	last := g.last.Load()
	if last == nil {
		return math.MaxInt
	}
	after := comparePaths(joinPath(dir, name), last.path) > 0
	switch {
	case g.search.Fair && after:
		return last.index
	case g.search.Fair:
		return last.index + 1
	case after:
		return 0
	default:
		return math.MaxInt
	}
}

func isNotText(err error) bool {
	var notText *text.NotTextError
	return errors.As(err, &notText)
}

// add adds the result of a file. add keeps the first lines in path order.
func (g *grepper[M]) add(dir, name string, found grep.Found, binary bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if binary {
		g.found.Binary++
		return
	}
	g.found.Searched++
	if found.Total > 0 {
		g.found.Files++
	}
	g.found.Total += found.Total
	g.found.LongLines += found.Long
	if len(found.Lines) == 0 {
		return
	}
	g.all = append(g.all, matchingFile{joinPath(dir, name), found.Lines, found.Total})
	if g.lines += len(found.Lines); g.lines/2 >= g.limit {
		g.cut()
	}
}

// cut sorts the files and removes the lines beyond the limit.
func (g *grepper[M]) cut() {
	files := g.all
	slices.SortFunc(files, func(a, b matchingFile) int { return comparePaths(a.path, b.path) })
	siblings := make([]budget.Siblings, len(files))
	for i, first := 0, 0; i < len(files); i++ {
		n := len(files[i].lines)
		siblings[i] = budget.Siblings{First: first, Entries: n, Leading: n}
		if !g.search.Fair {
			first += n
		}
	}
	var last lastLine
	g.lines = 0
	for i, n := range budget.FirstEntries(siblings, g.limit) {
		if n < len(files[i].lines) {
			files[i].lines = slices.Clone(files[i].lines[:n])
		}
		if g.lines += n; n > 0 && (!g.search.Fair || n > last.index) {
			last = lastLine{files[i].path, n - 1}
		}
	}
	g.all = slices.DeleteFunc(files, func(f matchingFile) bool { return len(f.lines) == 0 })
	if g.lines == g.limit {
		g.last.Store(&last)
	}
}
