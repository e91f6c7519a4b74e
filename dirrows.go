package toolshelf

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/ignore"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A row is an entry as a folder tells of it. To list a folder is to collect
// its rows, choose among them, and only then to ask for the metadata of those
// chosen.
type row struct {
	name string
	kind kind
	info *confine.Info // where the kind could not be had without it
	key  uint64        // see sortRows
}

// A kind is the type of an entry, in the order of texts and totals: all but
// folders are one there.
type kind uint8

const (
	kindDir kind = iota
	kindFile
	kindLink
	kindOther
)

func kindOf(typ fs.FileMode) kind {
	switch {
	case typ&fs.ModeDir != 0:
		return kindDir
	case typ.IsRegular():
		return kindFile
	case typ&fs.ModeSymlink != 0:
		return kindLink
	default:
		return kindOther
	}
}

func (k kind) entryType() EntryType {
	return [...]EntryType{Directory, File, Symlink, Other}[k]
}

// compareRows is the order by name.
func compareRows(a, b row) int { return compareKinded(a.kind, a.name, b) }

// compareKinded is compareRows for a name that need not be a string yet:
// folders first.
func compareKinded[S ~string | ~[]byte](k kind, name S, r row) int {
	if (k == kindDir) != (r.kind == kindDir) {
		return cmp.Compare(k, r.kind)
	}
	return names.Compare(name, r.name)
}

// sortRows sorts by compareRows. In ASCII, a number made of the letters that
// follow what all names begin with decides most comparisons.
func sortRows(rows []row) {
	if len(rows) < 2 {
		return
	}
	prefix := len(rows[0].name)
	for i := range rows {
		name := rows[i].name
		prefix = min(prefix, len(name))
		for j := range name {
			if name[j] >= utf8.RuneSelf {
				slices.SortFunc(rows, compareRows)
				return
			}
			if j < prefix && name[j] != rows[0].name[j] {
				prefix = j
			}
		}
	}
	for i := range rows {
		r := &rows[i]
		r.key = 0
		for j := range 8 {
			r.key <<= 8
			if at := prefix + j; at < len(r.name) {
				r.key |= uint64(names.LowerASCII(r.name[at]))
			}
		}
		if r.kind != kindDir {
			r.key |= 1 << 63 // which no letter of ASCII has
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return names.Compare(a.name, b.name)
	})
}

// A dirReader says which entries of a folder a call is about. Its counts, of
// all folders that it has read, may be added to from several goroutines.
type dirReader struct {
	dirOptions
	ignored  atomic.Int64 // left out by a .gitignore file
	vanished atomic.Int64 // gone between the reading of the folder and their stat
	mu       sync.Mutex
	warnings []string
}

// A place is a folder as the filters see it.
type place struct {
	path  string        // relative to the folder asked for, and "" for that
	name  string        // relative to the root; "." for the root itself
	rules *ignore.Rules // of the .gitignore files down to here
}

// totals count the entries of a folder that the options leave in.
type totals struct{ files, dirs int }

func (t totals) all() int { return t.files + t.dirs }

// read calls visit with each entry that the options leave in.
func (d *dirReader) read(ctx context.Context, dir *confine.Dir, at place, visit func(m *meter, name []byte, k kind, info *confine.Info) error) (totals, error) {
	var t totals
	m := meter{ctx: ctx}
	err := dir.EachBytes(ctx, func(name []byte, typ fs.FileMode) error {
		if name[0] == '.' && !d.showHidden {
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
		if len(d.exclude) > 0 {
			if out, err := d.exclude.matches(&m, at.path, string(name), k == kindDir); out || err != nil {
				return err
			}
		}
		if d.gitignore {
			out, err := string(name) == ".git", error(nil)
			if !out && at.rules != nil {
				out, err = at.rules.Ignores(rulesDir(at.name), string(name), k == kindDir, m.spend)
			}
			if err != nil {
				return err
			}
			if out {
				d.ignored.Add(1)
				return nil
			}
		}
		if k == kindDir {
			t.dirs++
		} else {
			t.files++
		}
		return visit(&m, name, k, info)
	})
	return t, err
}

// rows reads the rows that follow after in the order by name, no more than
// limit where that is not negative. What it holds at a time is bounded by
// that, too. The number of all that follow is returned as well.
func (d *dirReader) rows(ctx context.Context, dir *confine.Dir, at place, after *row, limit int) (rows []row, follow int, t totals, err error) {
	page := make(pageHeap, 0, 32)
	t, err = d.read(ctx, dir, at, func(_ *meter, name []byte, k kind, info *confine.Info) error {
		r := row{kind: k, info: info}
		if after != nil || limit >= 0 && len(page) >= limit {
			// Most names of a big folder go no further, and are not copied.
			if after != nil && compareKinded(k, name, *after) <= 0 {
				return nil
			}
			follow++
			if limit == 0 || limit > 0 && len(page) >= limit && compareKinded(k, name, page[0]) >= 0 {
				return nil
			}
			r.name = string(name)
		} else {
			follow++
			r.name = string(name)
		}
		page.add(r, limit)
		return nil
	})
	sortRows(page)
	return page, follow, t, err
}

// A pageHeap keeps the first rows in order: a heap with the last of them on
// top, once it is full.
type pageHeap []row

// add puts a row in, and the last one out where that makes more than limit.
func (h *pageHeap) add(r row, limit int) {
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
		if child+1 < len(h) && compareRows(h[child+1], h[child]) > 0 {
			child++
		}
		if compareRows(h[i], h[child]) >= 0 {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// fill asks for the metadata of rows and writes it into the entries that
// entry returns for their indexes. An entry that is gone has no name
// afterwards.
func (d *dirReader) fill(ctx context.Context, dir *confine.Dir, rows []row, entry func(i int) *Entry, workers int) error {
	const chunk = 256
	return parallel.Do(ctx, workers, (len(rows)+chunk-1)/chunk, func(i int) error {
		begin := i * chunk
		for j, r := range rows[begin:min(begin+chunk, len(rows))] {
			if err := ctx.Err(); err != nil {
				return err
			}
			d.fillOne(dir, r, entry(begin+j))
		}
		return nil
	})
}

func (d *dirReader) fillOne(dir *confine.Dir, r row, e *Entry) {
	var info confine.Info
	var err error
	if r.info != nil {
		info = *r.info
	} else {
		info, err = dir.Lstat(r.name)
	}
	switch {
	case err == nil:
		*e = newEntry(r.name, info)
	case errors.Is(err, fs.ErrNotExist):
		*e = Entry{}
		d.vanished.Add(1)
		return
	default:
		// A folder that may be read but not searched tells names alone.
		*e = Entry{Name: r.name, Type: r.kind.entryType()}
		if r.kind == kindFile || r.kind == kindOther {
			e.Size = -1
		}
	}
	if e.Type == Symlink {
		target, err := dir.ReadLink(r.name)
		e.Target, e.Outside = target, errors.Is(err, confine.ErrEscape)
	}
}

// newEntry is what metadata tells. The size of what is no file says nothing,
// that of a link the length of its target's name.
func newEntry(name string, info confine.Info) Entry {
	e := Entry{Name: name, Type: kindOf(info.Mode).entryType()}
	if e.Type == File {
		e.Size = info.Size
	}
	if !info.Modified.IsZero() {
		e.Modified = utc(info.Modified)
	}
	return e
}

// statWorkers is how many goroutines ask for metadata at a time: a stat keeps
// a processor busy, so more than there are would not help, and a host has
// other things to do.
func statWorkers() int { return min(runtime.GOMAXPROCS(0), 4) }

// warn adds a line to the warnings.
func (d *dirReader) warn(message string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.warnings = append(d.warnings, message)
}

// add adds what another reader has counted.
func (d *dirReader) add(other *dirReader) {
	d.ignored.Add(other.ignored.Load())
	d.vanished.Add(other.vanished.Load())
	for _, message := range other.warnings {
		d.warn(message)
	}
}

// allWarnings does not depend on which goroutine came first. The last one is
// about entries whose metadata is not known.
func (d *dirReader) allWarnings(unknown int) []string {
	slices.Sort(d.warnings)
	if unknown > 0 {
		d.warnings = append(d.warnings, counted(unknown, "entry", "entries")+" without metadata: the directory may be read but not searched")
	}
	return d.warnings
}

const gitignoreName = ".gitignore"

// maxGitignore bounds what is read of a .gitignore file.
const maxGitignore = 1 << 20

// rulesAt returns the rules that hold in the folder asked for: those of the
// .gitignore files from the root down to it.
func (d *dirReader) rulesAt(c *Catalog, name string) *ignore.Rules {
	var rules *ignore.Rules
	if !d.gitignore || name == "." {
		return rules
	}
	at := "."
	dir, err := c.root.OpenDir(at)
	for element := range strings.SplitSeq(name, "/") {
		below := path.Join(at, element)
		var next *confine.Dir
		if err == nil {
			rules = d.addRules(dir, place{name: at, rules: rules})
			next, err = dir.OpenDir(element)
			dir.Close()
		}
		if err != nil { // such as for a link on the way
			next, err = c.root.OpenDir(below)
		}
		at, dir = below, next
	}
	if err == nil {
		dir.Close()
	}
	return rules
}

// addRules adds those of a folder's own .gitignore file. As git does, it reads
// none that is a link.
func (d *dirReader) addRules(dir *confine.Dir, at place) *ignore.Rules {
	if !d.gitignore {
		return nil
	}
	// Most of them are small, and most folders have none.
	buf := make([]byte, 4096)
	n, info, err := dir.ReadHead(gitignoreName, buf)
	if err == nil && n == len(buf) && info.Size >= int64(n) {
		buf = make([]byte, min(info.Size, maxGitignore-1)+1)
		n, _, err = dir.ReadHead(gitignoreName, buf)
	}
	full := joinPath(rulesDir(at.name), gitignoreName)
	switch {
	case err == nil && n == maxGitignore:
		n = strings.LastIndexByte(string(buf[:n]), '\n') + 1
		d.warn("'" + escape.Path(full) + "' is larger than 1 MiB; what follows is not heeded")
	case errors.Is(err, fs.ErrNotExist):
		return at.rules
	case err != nil:
		d.warn("'" + escape.Path(full) + "' cannot be read (" + escape.Name(escape.Reason(err)) + "), so nothing is ignored by it")
		return at.rules
	}
	return at.rules.Add(rulesDir(at.name), buf[:n])
}

// rulesDir is the name of a folder as the rules know it.
func rulesDir(name string) string {
	if name == "." {
		return ""
	}
	return name
}
