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

// resolve reads the entry with the given name or, if no entry has the name, with the
// stem of the name.
func resolve[T, Info any](ctx context.Context, c *Catalog, from *collection[Info], op, name, stem string, read reader[T, Info]) (T, error) {
	var zero T
	known, err := await(ctx, c, func(ctx context.Context) (reading[T, Info], error) {
		s := from.Last() // read once: a concurrent scan replaces the last snapshot
		e := from.known(s, name, stem)
		if e == nil {
			return reading[T, Info]{}, fs.ErrNotExist
		}
		return read(ctx, s, e)
	})
	if err == nil && from.filter.keepsAll(known.states) {
		return known.value, nil
	}
	if ctx.Err() != nil {
		return zero, ctx.Err()
	}

	// The last snapshot does not decide, so the files are scanned.
	scan := func(snapshot func(context.Context) (*index.Snapshot, error)) (T, error) {
		all, err := snapshot(ctx)
		if err != nil {
			return zero, from.lookupError(op, name, stem, err)
		}
		shown := from.filter.apply(all)
		e := shown.Lookup(name, stem)
		if e == nil {
			return zero, from.unknownName(op, name, stem, shown)
		}
		now, err := await(ctx, c, func(ctx context.Context) (reading[T, Info], error) { return read(ctx, all, e) })
		switch {
		case err != nil && ctx.Err() != nil:
			return zero, ctx.Err()
		case !from.filter.keepsAll(now.states): // the filter refuses the new content
			return zero, from.unknownName(op, name, stem, shown)
		case err != nil:
			return zero, from.fileError(op, name, e, err)
		}
		return now.value, nil
	}
	value, err := scan(from.Snapshot)
	if from.watch && CodeOf(err) == from.notFound {
		return scan(from.Validate)
	}
	return value, err
}
