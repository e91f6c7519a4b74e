package toolshelf

import (
	"cmp"
	"context"
	"io/fs"

	"github.com/toolshelf-go/toolshelf/internal/exposure"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/observe"
)

// A reading is the result of a reader. The filter must keep every state of the entry that the reader
// has seen.
type reading[T any] struct {
	value  T
	passes func() bool // asks the filter about all states; nil without a filter
	from   *collection // of a skill below the root; otherwise nil
	outcome
}

// kept reports whether the filter keeps all states.
func (r reading[T]) kept() bool { return r.passes == nil || r.passes() }

// sent sends the event with the action, the name and the path of e, and returns the value.
func (r reading[T]) sent(
	o observe.Call[Event], in *collection, e Event, err error,
) (value T, _ error) {
	cmp.Or(r.from, in).send(o, e, r.outcome, err)
	if err != nil {
		return value, err
	}
	return r.value, nil
}

// A reader reads the file of an entry of a snapshot. If the argument kept, the text that the scan
// has read, is not nil, the reader reads no file. If the reader fails, the states count all the
// same.
type reader[T any] interface {
	read(ctx context.Context, c *Catalog, s *index.Snapshot, e *index.Entry,
		kept *index.Cached[string]) (reading[T], error)
}

// A lookup finds the entry with a name or, if no entry has the name, with the stem of the
// name, and reads the file of the entry.
type lookup[T any] struct {
	catalog    *Catalog
	from       *collection
	op         string
	name, stem string
	reader     reader[T]
	direct     bool // the reader may return a kept value, also after the end of its context

	// If not nil, beside finds the collection of an unknown name, and the name there.
	beside besideFunc

	// Of the entry that read reads.
	all   *index.Snapshot
	entry *index.Entry          // nil if read finds the entry
	kept  *index.Cached[string] // for the reader
}

// find returns the reading of the entry: in the last snapshot if stats prove the entry, or else in
// the result of a scan. If the error is not nil, only the outcome counts.
func (l lookup[T]) find(ctx context.Context) (now reading[T], err error) {
	if l.beside != nil {
		return l.findBeside(ctx)
	}
	from := l.from
	if err := from.checkName(l.op, l.name); err != nil {
		return now, err
	}
	if from.refresh != nil {
		if err := from.refresh(ctx); err != nil {
			return now, err
		}
	}
	l.all, err = from.Last(), fs.ErrNotExist // read once: a concurrent scan replaces the last snapshot
	if l.direct {
		now, err = l.read(index.Ended) // needs no goroutine
	}
	if err != nil && from.inRoot && l.catalog.onDisk() {
		now, err = l.read(l.catalog.lifetime.Within(ctx)) // awaitRoot costs an allocation
	} else if err != nil {
		now, err = await(ctx, l.catalog, l.read)
	}
	if err == nil && from.filter.Shows(ctx, now.entry) && now.kept() {
		return now, nil
	}
	if ctx.Err() != nil {
		return reading[T]{}, ctx.Err()
	}
	now, err = l.scanned(ctx, from.Snapshot)
	if from.watch && CodeOf(err) == from.notFound {
		// The system may not have reported a new file yet.
		return l.scanned(ctx, from.Validate)
	}
	return now, err
}

// read returns the reading of the entry, or of the entry that stats prove.
func (l lookup[T]) read(ctx context.Context) (now reading[T], err error) {
	if !l.catalog.lifetime.Enter() {
		return now, fs.ErrClosed
	}
	defer l.catalog.lifetime.Leave()
	e := l.entry
	if e == nil {
		e = l.from.Known(ctx, l.all, l.name, l.stem)
	}
	if e == nil {
		return now, fs.ErrNotExist
	}
	now, err = l.reader.read(ctx, l.catalog, l.all, e, l.kept)
	now.entry = e
	return now, l.catalog.lifetime.Cause(err)
}

// findBeside is find for a name that can be in the collection of beside. The name of a plugin may be
// missing only if no skill there has the name.
func (l lookup[T]) findBeside(ctx context.Context) (reading[T], error) {
	listed, failed, short := reading[T]{}, error(nil), false
	if !exposure.Qualified(l.name) {
		inList := l
		inList.beside = nil
		listed, failed = inList.find(ctx)
		short = listed.entry != nil && listed.entry.Name != l.name || CodeOf(failed) == CodeAmbiguousName
		if !short && (CodeOf(failed) != l.from.notFound || listed.hidden) {
			return listed, failed
		}
	}
	from, c, name, err := l.beside(ctx)
	if err != nil || short && name == l.name {
		return listed, cmp.Or(err, failed)
	}
	given := l.name
	l.catalog, l.from, l.name, l.stem = c, from, name, name
	shown := from.filter.Apply(ctx, from.way.All)
	now, err := l.in(ctx, from.way.All, shown)
	if now.from = from; CodeOf(err) == from.notFound {
		err = from.unknownName(l.op, given, given, shown) // also of a hidden skill
	}
	return now, err
}

// absent reports whether stats prove that no entry has the name.
func (l lookup[T]) absent(ctx context.Context) bool {
	absent, err := awaitRoot(ctx, l.catalog, l.from.inRoot, func(ctx context.Context) (bool, error) {
		return l.from.Absent(ctx, l.from.Last(), l.name), nil
	})
	return err == nil && absent
}

// scanned resolves the name in the result of snapshot, which scans the files.
func (l lookup[T]) scanned(ctx context.Context,
	snapshot func(context.Context) (*index.Snapshot, error)) (reading[T], error) {
	all, err := snapshot(ctx)
	if err != nil {
		return reading[T]{}, l.from.lookupError(l.op, l.name, l.stem, err)
	}
	return l.in(ctx, all, l.from.filter.Apply(ctx, all))
}

// in resolves the name in a snapshot. The snapshot shown has the entries of all that pass
// the filter.
func (l lookup[T]) in(ctx context.Context, all, shown *index.Snapshot,
) (now reading[T], err error) {
	e, candidates := shown.Find(l.name, l.stem)
	if now.entry = e; e == nil {
		now.entry, _ = all.Find(l.name, l.stem)
		now.hidden = now.entry != nil
	}
	switch unread := l.from.filter.Guard.Unread(all, now.entry, now.hidden, l.name, l.stem); {
	case len(candidates) > 0:
		return now, l.from.ambiguousName(l.op, l.name, candidates)
	case unread != nil:
		return now, &Error{Code: CodeFileRead, Op: l.op, Path: l.name, Err: unread.Err,
			Message: "cannot find " + l.from.noun + " " + quote(l.stem) + ", because " + unread.Reason}
	case e == nil:
		return now, l.from.unknownName(l.op, l.name, l.stem, shown)
	}
	l.all, l.entry = all, e
	now, err = awaitRoot(ctx, l.catalog, l.from.inRoot, l.read)
	now.entry = e
	switch {
	case err != nil && ctx.Err() != nil:
		return now, ctx.Err()
	case !now.kept(): // the filter refuses the new content
		now.hidden = true
		return now, l.from.unknownName(l.op, l.name, l.stem, shown)
	case err != nil:
		return now, l.from.fileError(l.op, l.name, e, err)
	}
	return now, nil
}

// suggestion returns the end of a "not found" message: the entry with the most similar name, or
// else the advice.
func suggestion(entries []*index.Entry, name, advice string) string {
	if similar := index.Similar(entries, name); similar != "" {
		return "did you mean " + quote(similar) + "?"
	}
	return advice
}
