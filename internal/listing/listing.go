// Package listing lists directories, walks trees and finds files below the root of
// a [confine.FS].
//
// [List], [Tree] and [Find] read a directory through an open [confine.Dir], filter the
// entries, and pass each described entry to a function of the caller. The caller
// therefore builds its values only once, in the goroutine that read the metadata. [Find]
// and [Grep] follow symbolic links to files. No function follows links to directories.
package listing

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/shown"
)

// A Kind is the type of an entry.
type Kind uint8

const (
	KindDir Kind = iota
	KindFile
	KindLink
	KindOther // a named pipe, a socket, a device

	kindGone // removed after the directory was read
)

// A Row describes an entry.
type Row struct {
	Name     string
	Kind     Kind
	Outside  bool      // a link that leads out of the root
	Size     int64     // of a file; 0 for other kinds; -1 if unknown
	Modified time.Time // zero if unknown
	Target   string    // of a link that leads inside the root
}

// Options select entries. The zero Options select all entries that are not hidden.
type Options struct {
	Hidden           bool   // include entries whose names begin with a dot
	Exclude          []Glob // omit entries that match any of the globs
	Gitignore        bool   // omit entries that .gitignore files ignore
	SkipDependencies bool   // do not enter directories of dependencies
	Order            Order
	// In the order ByName, do not read the metadata of files and directories; the size is -1.
	NoMetadata bool
	Limit      int // 0 for no limit
	// In the order ByName, main files precede directories, and main directories precede the others;
	// see isMain.
	MainFirst bool
	Places    bool   // Tree: Limit selects by place, see budget.Siblings
	After     string // position of the last entry of the previous page, for List
	MaxDepth  int    // levels of Tree and Find; 0 for all

	Seen *atomic.Int64 // counts all entries of the directories that the call reads; or nil
}

// A Report counts the entries that a call omitted.
type Report struct {
	// Entries ignored by a .gitignore file, excluding entries below ignored directories.
	Ignored      int
	Dependencies int // directories that Find did not enter because of SkipDependencies
	// Entries removed between the read of the directory and the read of their metadata.
	Vanished int
	Warnings []string // sorted
}

// ErrPosition reports an Options.After that is not the NextCursor of List.
var ErrPosition = errors.New("not a position of a page")

// List returns a page of the entries of a directory. NextCursor is the position of the last entry,
// or "" if no entry follows. List calls build from several goroutines.
//
// In the order ByName, List reads the metadata of the page's entries, and the memory
// depends on the size of the page. In other orders, List reads the metadata of all
// entries of the directory.
func List[E any](ctx context.Context, fsys *confine.FS, name string, o Options,
	build func(*Row) E) (page shown.Listing[E], err error) {
	d, dir, at, err := open(fsys, name, o)
	if err != nil {
		return page, err
	}
	defer dir.Close()
	at.rules = d.addRules(dir, at)
	var previous *Row // the last entry of the previous page
	if o.After != "" {
		if previous, err = parsePosition(o.Order, o.After); err != nil {
			return page, err
		}
	}
	var after *dirent
	limit := -1
	if o.Order == ByName {
		if previous != nil {
			after = &dirent{kind: previous.Kind, name: previous.Name}
		}
		if o.Limit > 0 {
			limit = o.Limit
		}
	}
	buf := buffers.Get().(*[]dirent)
	entries, following, total, err := d.entries(ctx, dir, at, after, limit, *buf)
	defer release(buf, entries)
	if err != nil {
		return page, err
	}
	if o.Order == ByName {
		if following > len(entries) && len(entries) > 0 {
			last := entries[len(entries)-1]
			page.NextCursor = Position(ByName, &Row{Kind: last.kind, Name: last.name})
		}
		if page.Entries, err = fill(ctx, d, dir, entries, build, statWorkers()); err != nil {
			return shown.Listing[E]{}, err
		}
		if total.settle(entries) {
			page.Entries, _ = reorder(page.Entries, entries)
		}
	} else {
		rows, err := d.sortedRows(ctx, dir, entries, statWorkers())
		if err != nil {
			return page, err
		}
		total.settle(entries)
		if previous != nil {
			n, found := searchRows(o.Order, rows, previous)
			if found {
				n++
			}
			rows = rows[n:]
		}
		if o.Limit > 0 && len(rows) > o.Limit {
			rows = rows[:o.Limit]
			page.NextCursor = Position(o.Order, &rows[o.Limit-1])
		}
		page.Entries = buildAll(rows, build)
	}
	r := d.report()
	page.Path, page.NoSizes = name+"/", o.NoMetadata
	page.Files, page.Dirs = total.files, total.dirs
	page.Ignored, page.Vanished, page.Warnings = r.Ignored, r.Vanished, r.Warnings
	return page, nil
}

func buildAll[E any](rows []Row, build func(*Row) E) []E {
	all := make([]E, len(rows))
	for i := range rows {
		all[i] = build(&rows[i])
	}
	return all
}

// statWorkers returns the number of goroutines that read metadata. A stat keeps a
// processor busy, so more goroutines than processors do not help. The limit of four
// leaves processors to the host program.
func statWorkers() int { return min(runtime.GOMAXPROCS(0), 4) }
