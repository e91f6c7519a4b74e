package toolshelf

import (
	"context"
	"io/fs"

	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A reading is the result of a reader, with every state of the entry that the
// reader has seen. The filter must keep all states. Without a filter, the states
// are unknown.
type reading[T, Info any] struct {
	value  T
	states []Info
}

// A reader reads the file of an entry of a snapshot. If the reader fails, the states
// count all the same.
type reader[T, Info any] func(ctx context.Context, s *index.Snapshot, e *index.Entry) (reading[T, Info], error)

// A lookup finds the entry with a name or, if no entry has the name, with the stem of the
// name, and reads the file of the entry.
type lookup[T, Info any] struct {
	catalog    *Catalog
	from       *collection[Info]
	op         string
	name, stem string
	read       reader[T, Info]
}

// resolve returns the result of read for the entry.
func (l lookup[T, Info]) resolve(ctx context.Context) (T, error) {
	var zero T
	if value, ok := l.inLast(ctx); ok {
		return value, nil
	}
	if ctx.Err() != nil {
		return zero, ctx.Err()
	}
	value, err := l.inNext(ctx, l.from.Snapshot)
	if l.from.watch && CodeOf(err) == l.from.notFound {
		// The system may not have reported a new file yet.
		return l.inNext(ctx, l.from.Validate)
	}
	return value, err
}

// inLast resolves the name in the last snapshot. If the last snapshot does not decide, ok
// is false.
func (l lookup[T, Info]) inLast(ctx context.Context) (value T, ok bool) {
	known, err := l.await(ctx, func(ctx context.Context) (reading[T, Info], error) {
		s := l.from.Last() // read once: a concurrent scan replaces the last snapshot
		e := l.from.Known(ctx, s, l.name, l.stem)
		if e == nil {
			return reading[T, Info]{}, fs.ErrNotExist
		}
		return l.read(ctx, s, e)
	})
	return known.value, err == nil && l.from.filter.keepsAll(known.states)
}

// await runs do on the caller's goroutine if all layers are below the root on a local disk.
func (l lookup[T, Info]) await(ctx context.Context, do func(context.Context) (reading[T, Info], error)) (reading[T, Info], error) {
	if l.from.inRoot {
		return awaitRoot(ctx, l.catalog, do)
	}
	return await(ctx, l.catalog, do)
}

// inNext resolves the name in the result of snapshot, which scans the files.
func (l lookup[T, Info]) inNext(ctx context.Context, snapshot func(context.Context) (*index.Snapshot, error)) (T, error) {
	all, err := snapshot(ctx)
	if err != nil {
		var zero T
		return zero, l.from.lookupError(l.op, l.name, l.stem, err)
	}
	return l.in(ctx, all, l.from.filter.apply(all))
}

// in resolves the name in a snapshot. The snapshot shown has the entries of all that pass
// the filter.
func (l lookup[T, Info]) in(ctx context.Context, all, shown *index.Snapshot) (T, error) {
	var zero T
	e := shown.Lookup(l.name, l.stem)
	if e == nil {
		return zero, l.from.unknownName(l.op, l.name, l.stem, shown)
	}
	now, err := l.await(ctx, func(ctx context.Context) (reading[T, Info], error) { return l.read(ctx, all, e) })
	switch {
	case err != nil && ctx.Err() != nil:
		return zero, ctx.Err()
	case !l.from.filter.keepsAll(now.states): // the filter refuses the new content
		return zero, l.from.unknownName(l.op, l.name, l.stem, shown)
	case err != nil:
		return zero, l.from.fileError(l.op, l.name, e, err)
	}
	return now.value, nil
}
