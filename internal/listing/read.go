package listing

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/ignore"
)

// A dirent is an entry of a directory, without metadata. A call collects dirents, selects
// some, and reads only the metadata of the selected dirents.
type dirent struct {
	name string
	kind Kind          // the type in the directory
	main bool          // with Options.MainFirst, the entry isMain
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
	unread       atomic.Int64 // entries without a known type, and unread .gitignore files
	mu           sync.Mutex
	reason       error // why an entry has no known type, or nil
	warnings     []string
}

// open opens the directory of a call.
func open(fsys *confine.FS, name string, o Options) (*reader, *confine.Dir, location, error) {
	dir, err := fsys.OpenDir(name)
	if err != nil {
		return nil, nil, location{}, err
	}
	d := &reader{Options: o}
	return d, dir, location{name: name, rules: d.rulesAt(fsys, name)}, nil
}

// A location is the data of a directory that filters need.
type location struct {
	path  string        // relative to the directory of the call; "" for that directory
	name  string        // relative to the root; "." for the root
	rules *ignore.Rules // of the .gitignore files from the root down to the directory
}

// totals count the selected entries of a directory.
type totals struct {
	files, dirs int
	main        int // number of the files that are main files, with Options.MainFirst
}

func (t totals) all() int { return t.files + t.dirs }

// add adds n entries of a kind.
func (t *totals) add(k Kind, n int) {
	switch k {
	case kindGone:
	case KindDir:
		t.dirs += n
	default:
		t.files += n
	}
}

// settle corrects the totals for entries that changed after the read of the directory,
// and reports whether any entry changed.
func (t *totals) settle(entries []dirent) (changed bool) {
	for i := range entries {
		e := &entries[i]
		t.add(e.kind, -1)
		t.add(e.now, 1)
		changed = changed || e.now == kindGone || (e.now == KindDir) != (e.kind == KindDir)
	}
	return changed
}

// read calls visit with each selected entry.
func (d *reader) read(ctx context.Context, dir *confine.Dir, at location,
	visit func(m *meter, name []byte, k Kind, info *confine.Info) error) (totals, error) {
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
			got, err := dir.LstatBrief(string(name))
			switch {
			case err == nil:
				info, typ = &got, got.Mode
			case errors.Is(err, fs.ErrNotExist):
				d.vanished.Add(1)
				return nil
			default:
				d.miss(err)
			}
		}
		k := kindOf(typ)
		if len(d.Exclude) > 0 && matchesAny(d.Exclude, &m, at.path, string(name), k == KindDir) {
			return nil
		}
		if d.Gitignore && !(k == KindDir && d.skips(string(name))) {
			if string(name) == ".git" || at.rules != nil &&
				at.rules.Ignores(rulesDir(at.name), string(name), k == KindDir, m.spend) {
				d.ignored.Add(1)
				return nil
			}
		}
		if m.err != nil {
			return m.err
		}
		t.add(k, 1)
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

func (d *reader) warn(message string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.warnings = append(d.warnings, message)
}

// miss counts an entry whose type cannot be read. The entry may be a directory or a match.
func (d *reader) miss(err error) {
	d.unread.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reason = cmp.Or(d.reason, err)
}

// report sorts the warnings, so that the report does not depend on the order of the
// goroutines.
func (d *reader) report() Report {
	if d.reason != nil {
		d.warn("the types of some entries cannot be read (" + escape.Reason(d.reason) + "); try again")
	}
	slices.Sort(d.warnings)
	return Report{Ignored: int(d.ignored.Load()), Dependencies: int(d.dependencies.Load()), Vanished: int(d.vanished.Load()), Warnings: d.warnings}
}
