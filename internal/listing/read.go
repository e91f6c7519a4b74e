package listing

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/ignore"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A dirent is an entry of a directory, without metadata. A call collects dirents, selects
// some, and reads only the metadata of the selected dirents.
type dirent struct {
	name string
	kind Kind          // the type in the directory
	now  Kind          // after describe: the type in the metadata; kindGone for a removed entry
	info *confine.Info // the metadata, if necessary for the kind
}

func kindOf(typ fs.FileMode) Kind {
	switch {
	case typ&fs.ModeDir != 0:
		return KindDir
	case typ.IsRegular():
		return KindFile
	case typ&fs.ModeSymlink != 0:
		return KindLink
	default:
		return KindOther
	}
}

// A reader selects the entries of directories. The counters cover all directories
// that the reader has read. A reader is safe for concurrent use.
type reader struct {
	Options
	ignored      atomic.Int64 // omitted because of a .gitignore file
	dependencies atomic.Int64 // directories that Find does not enter
	vanished     atomic.Int64 // removed between the read of the directory and the stat of the entry
	mu           sync.Mutex
	warnings     []string
}

// open opens the directory of a call.
func open(fsys *confine.FS, name string, o Options) (*reader, *confine.Dir, place, error) {
	dir, err := fsys.OpenDir(name)
	if err != nil {
		return nil, nil, place{}, err
	}
	d := &reader{Options: o}
	return d, dir, place{name: name, rules: d.rulesAt(fsys, name)}, nil
}

// A place is the data of a directory that filters need.
type place struct {
	path  string        // relative to the directory of the call; "" for that directory
	name  string        // relative to the root; "." for the root
	rules *ignore.Rules // of the .gitignore files from the root down to the directory
}

// totals count the selected entries of a directory.
type totals struct{ files, dirs int }

func (t totals) all() int { return t.files + t.dirs }

// settle corrects the totals for entries that changed after the read of the directory,
// and reports whether any entry changed.
func (t *totals) settle(entries []dirent) (changed bool) {
	for i := range entries {
		e := &entries[i]
		if e.now != kindGone && (e.now == KindDir) == (e.kind == KindDir) {
			continue
		}
		changed = true
		if e.kind == KindDir {
			t.dirs--
		} else {
			t.files--
		}
		switch e.now {
		case kindGone:
		case KindDir:
			t.dirs++
		default:
			t.files++
		}
	}
	return changed
}

// read calls visit with each selected entry.
func (d *reader) read(ctx context.Context, dir *confine.Dir, at place, visit func(m *meter, name []byte, k Kind, info *confine.Info) error) (totals, error) {
	var t totals
	m := meter{ctx: ctx}
	err := dir.EachBytes(ctx, func(name []byte, typ fs.FileMode) error {
		if m.seen++; m.seen == seenBatch {
			d.see(m.seen)
			m.seen = 0
		}
		if name[0] == '.' && !d.Hidden {
			return nil
		}
		var info *confine.Info
		if typ == confine.TypeUnknown {
			got, err := dir.Lstat(string(name))
			switch {
			case err == nil:
				info, typ = &got, got.Mode
			case errors.Is(err, fs.ErrNotExist):
				d.vanished.Add(1)
				return nil
			}
		}
		k := kindOf(typ)
		if len(d.Exclude) > 0 {
			if out, err := matchesAny(d.Exclude, &m, at.path, string(name), k == KindDir); out || err != nil {
				return err
			}
		}
		if d.Gitignore && !(k == KindDir && d.skips(string(name))) {
			out, err := string(name) == ".git", error(nil)
			if !out && at.rules != nil {
				out, err = at.rules.Ignores(rulesDir(at.name), string(name), k == KindDir, m.spend)
			}
			if err != nil {
				return err
			}
			if out {
				d.ignored.Add(1)
				return nil
			}
		}
		if k == KindDir {
			t.dirs++
		} else {
			t.files++
		}
		return visit(&m, name, k, info)
	})
	d.see(m.seen)
	return t, err
}

// seenBatch is the number of entries that read adds to Seen together.
const seenBatch = 1000

// see adds to Seen.
func (d *reader) see(entries int) {
	if d.Seen != nil {
		d.Seen.Add(int64(entries))
	}
}

// entries returns the entries after the dirent after, in the order by name, and the number
// of all these entries. If limit is not negative, entries returns at most limit entries,
// and the memory depends on limit. The entries are in the memory of buf if buf has room.
func (d *reader) entries(ctx context.Context, dir *confine.Dir, at place, after *dirent, limit int, buf []dirent) (selected []dirent, following int, t totals, err error) {
	page := pageHeap(buf[:0])
	var text nameBuffer
	t, err = d.read(ctx, dir, at, func(_ *meter, name []byte, k Kind, info *confine.Info) error {
		r := dirent{kind: k, info: info}
		if after != nil || limit >= 0 && len(page) >= limit {
			// Most names of a large directory end here and are not copied.
			if after != nil && compareNamed(k, name, *after) <= 0 {
				return nil
			}
			following++
			if limit == 0 || limit > 0 && len(page) >= limit && compareNamed(k, name, page[0]) >= 0 {
				return nil
			}
			r.name = string(name)
		} else {
			following++
			r.name = text.add(name)
		}
		page.add(r, limit)
		return nil
	})
	sortDirents(page)
	return page, following, t, err
}

// A nameBuffer allocates names together. A name keeps at most nameBlock bytes of other
// names in memory.
type nameBuffer struct{ block strings.Builder }

const nameBlock = 8 << 10

// add returns a copy of a name.
func (b *nameBuffer) add(name []byte) string {
	if full := b.block.Cap(); b.block.Len()+len(name) > full {
		b.block = strings.Builder{}
		b.block.Grow(max(min(2*full, nameBlock), 256, len(name)))
	}
	b.block.Write(name)
	all := b.block.String()
	return all[len(all)-len(name):]
}

// buffers holds the memory of the dirents of List. A call of entries fills the memory from
// the beginning, so the cost of a larger buffer is the same.
var buffers = sync.Pool{New: func() any {
	buf := make([]dirent, 0, 64)
	return &buf
}}

// maxBuffer limits the number of dirents of a buffer that stays in memory.
const maxBuffer = 16 << 10

// release returns the memory of entries to buffers. No dirent may be used after release.
func release(buf *[]dirent, entries []dirent) {
	if cap(entries) > maxBuffer {
		return
	}
	clear(entries) // the names
	*buf = entries[:0]
	buffers.Put(buf)
}

// A pageHeap holds the first entries in order. When full, it is a heap with the
// last entry at the top.
type pageHeap []dirent

// add adds an entry and, if the heap is full, removes the last entry.
func (h *pageHeap) add(r dirent, limit int) {
	s := *h
	if limit < 0 || len(s) < limit {
		*h = append(s, r)
		if len(*h) == limit {
			for i := limit/2 - 1; i >= 0; i-- {
				h.down(i)
			}
		}
		return
	}
	s[0] = r
	h.down(0)
}

func (h pageHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && compareDirents(h[child+1], h[child]) > 0 {
			child++
		}
		if compareDirents(h[i], h[child]) >= 0 {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// fill describes entries and returns the result of build for each entry. A removed entry
// has the zero value.
func fill[E any](ctx context.Context, d *reader, dir *confine.Dir, entries []dirent, build func(*Row) E, workers int) ([]E, error) {
	all := make([]E, len(entries))
	err := d.describe(ctx, dir, entries, workers, func(i int, r *Row) { all[i] = build(r) })
	return all, err
}

// sortedRows describes entries and returns the rows in the order of the options, without
// removed entries.
func (d *reader) sortedRows(ctx context.Context, dir *confine.Dir, entries []dirent, workers int) ([]Row, error) {
	rows := make([]Row, len(entries))
	if err := d.describe(ctx, dir, entries, workers, func(i int, r *Row) { rows[i] = *r }); err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Name == "" })
	slices.SortFunc(rows, func(a, b Row) int { return compareRows(d.Order, &a, &b) })
	return rows, nil
}

// searchRows returns the index of a row in sorted rows.
func searchRows(o Order, rows []Row, r *Row) (int, bool) {
	return slices.BinarySearchFunc(rows, r, func(a Row, b *Row) int { return compareRows(o, &a, b) })
}

// reorder sorts the values of entries again after changes, and drops the values of removed
// entries.
func reorder[E any](all []E, entries []dirent) ([]E, []dirent) {
	var order []int
	for i := range entries {
		if entries[i].now != kindGone {
			entries[i].kind = entries[i].now
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareDirents(entries[i], entries[j]) })
	sorted, sortedEntries := make([]E, len(order)), make([]dirent, len(order))
	for to, from := range order {
		sorted[to], sortedEntries[to] = all[from], entries[from]
	}
	return sorted, sortedEntries
}

// describe reads the metadata of entries and sets their field now. describe calls see
// with each remaining entry. The row is valid until see returns.
func (d *reader) describe(ctx context.Context, dir *confine.Dir, entries []dirent, workers int, see func(i int, r *Row)) error {
	const chunk = 256
	return parallel.Do(ctx, workers, (len(entries)+chunk-1)/chunk, func(i int) error {
		begin := i * chunk
		var r Row
		for j := begin; j < min(begin+chunk, len(entries)); j++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if d.describeOne(dir, &entries[j], &r) {
				see(j, &r)
			}
		}
		return nil
	})
}

// describeOne reports whether the entry still exists.
func (d *reader) describeOne(dir *confine.Dir, e *dirent, r *Row) bool {
	info, err := e.info, error(nil)
	if info == nil && d.NoMetadata && d.Order == ByName && e.kind != KindOther {
		d.describeName(dir, e, r)
		return true
	}
	if info == nil {
		var read confine.Info
		read, err = dir.Lstat(e.name)
		info = &read
	}
	switch {
	case err == nil:
		r.describe(e.name, info)
	case errors.Is(err, fs.ErrNotExist):
		e.now = kindGone
		d.vanished.Add(1)
		return false
	default:
		// A directory without search permission reveals only names.
		*r = Row{Name: e.name, Kind: e.kind}
		if r.Kind == KindFile || r.Kind == KindOther {
			r.Size = -1
		}
	}
	e.now = r.Kind
	r.readLink(dir)
	return true
}

// describeName describes an entry without metadata.
func (d *reader) describeName(dir *confine.Dir, e *dirent, r *Row) {
	*r = Row{Name: e.name, Kind: e.kind}
	if r.Kind == KindFile {
		r.Size = -1
	}
	e.now = r.Kind
	r.readLink(dir)
}

// readLink sets the target of a link.
func (r *Row) readLink(dir *confine.Dir) {
	if r.Kind == KindLink {
		target, err := dir.ReadLink(r.Name)
		r.Target, r.Outside = target, errors.Is(err, confine.ErrEscape)
	}
}

// Describe returns the row of an entry, without the target of a link. Only a file has a
// size: the size of a link would be the length of its text.
func Describe(name string, info confine.Info) Row {
	var r Row
	r.describe(name, &info)
	return r
}

func (r *Row) describe(name string, info *confine.Info) {
	*r = Row{Name: name, Kind: kindOf(info.Mode), Modified: info.Modified}
	if r.Kind == KindFile {
		r.Size = info.Size
	}
}

func (d *reader) warn(message string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.warnings = append(d.warnings, message)
}

// add adds the counts and the warnings of another reader.
func (d *reader) add(other *reader) {
	d.ignored.Add(other.ignored.Load())
	d.dependencies.Add(other.dependencies.Load())
	d.vanished.Add(other.vanished.Load())
	for _, message := range other.warnings {
		d.warn(message)
	}
}

// report sorts the warnings, so that the report does not depend on the order of the
// goroutines.
func (d *reader) report() Report {
	slices.Sort(d.warnings)
	return Report{Ignored: int(d.ignored.Load()), Dependencies: int(d.dependencies.Load()), Vanished: int(d.vanished.Load()), Warnings: d.warnings}
}

const gitignoreName = ".gitignore"

// maxGitignore limits the size of a .gitignore file.
const maxGitignore = 1 << 20

// rulesAt returns the rules of the .gitignore files from the root down to the parent of a
// directory. rulesAt opens each directory of the path once.
func (d *reader) rulesAt(fsys *confine.FS, name string) *ignore.Rules {
	var rules *ignore.Rules
	if !d.Gitignore || name == "." {
		return rules
	}
	at := "."
	dir, err := fsys.OpenDir(at)
	for element := range strings.SplitSeq(name, "/") {
		below := path.Join(at, element)
		var next *confine.Dir
		if err == nil {
			rules = d.addRules(dir, place{name: at, rules: rules})
			next, err = dir.OpenDir(element)
			dir.Close()
		}
		if err != nil { // for example, the element is a link
			next, err = fsys.OpenDir(below)
		}
		at, dir = below, next
	}
	if err == nil {
		dir.Close()
	}
	return rules
}

// addRules returns the rules of a directory and of its .gitignore file. Like git,
// addRules does not read a .gitignore file that is a link.
func (d *reader) addRules(dir *confine.Dir, at place) *ignore.Rules {
	if !d.Gitignore {
		return nil
	}
	// Most directories have no .gitignore file, and most files are small. A file can be
	// larger than its reported size: the file grows, or the filesystem does not know the
	// size.
	var buf []byte
	var n int
	var info confine.Info
	var err error
	for size := int64(4096); err == nil && n == len(buf) && n < maxGitignore; size = min(max(2*size, info.Size+1), maxGitignore) {
		buf = make([]byte, size)
		n, info, err = dir.ReadHead(gitignoreName, buf)
	}
	full := joinPath(rulesDir(at.name), gitignoreName)
	switch {
	case err == nil && n == maxGitignore:
		n = strings.LastIndexByte(string(buf[:n]), '\n') + 1
		d.warn("'" + escape.Path(full) + "' is larger than 1 MiB; the patterns after 1 MiB have no effect")
	case errors.Is(err, fs.ErrNotExist):
		return at.rules
	case err != nil:
		d.warn("'" + escape.Path(full) + "' cannot be read (" + escape.Reason(err) + "); its patterns have no effect")
		return at.rules
	}
	return at.rules.Add(rulesDir(at.name), buf[:n])
}

// rulesDir returns the path of a directory in the form of package ignore.
func rulesDir(name string) string {
	if name == "." {
		return ""
	}
	return name
}
