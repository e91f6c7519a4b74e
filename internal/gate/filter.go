package gate

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/exposure"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A Filter shows the entries of an index that the guard allows and all functions keep. Without
// a Guard and functions, a Filter shows all entries.
type Filter[Info any, Kind ~string] struct {
	Keep  []func(Info) bool
	Info  func(*index.Snapshot, *index.Entry) Info
	Guard *Guard[Kind] // nil without a gate

	Only     func(*index.Entry) bool // of skills for a model or for a path; nil for all entries
	Settings func() *exposure.Rules  // on which the functions can depend; or nil

	last atomic.Pointer[filtered]
}

// A filtered is the result of a filter for a snapshot.
type filtered struct {
	all, shown *index.Snapshot
	version    uint64 // of the answers of the guard
	refused    []*index.Entry
	rules      *exposure.Rules
}

// Shows reports whether the guard and the exposure show an entry.
func (f *Filter[Info, Kind]) Shows(ctx context.Context, e *index.Entry) bool {
	return (f.Only == nil || f.Only(e)) && f.Guard.Allows(ctx, e)
}

// Active reports whether the filter has any function.
func (f *Filter[Info, Kind]) Active() bool { return len(f.Keep) > 0 }

// With returns a filter of the same index with other functions.
func (f *Filter[Info, Kind]) With(keep []func(Info) bool) *Filter[Info, Kind] {
	return &Filter[Info, Kind]{Keep: keep, Info: f.Info, Guard: f.Guard, Settings: f.Settings}
}

// In returns the filter for another index and its entries.
func (f *Filter[Info, Kind]) In(
	x *index.Index, info func(*index.Snapshot, *index.Entry) Info, only func(*index.Entry) bool,
) *Filter[Info, Kind] {
	in := f.With(f.Keep)
	in.Info, in.Only = info, only
	if f.Guard != nil {
		g := *f.Guard
		g.Index, in.Guard = x, &g
	}
	return in
}

// Keeps reports whether all functions keep an entry.
func (f *Filter[Info, Kind]) Keeps(info Info) bool {
	return !slices.ContainsFunc(f.Keep, func(keep func(Info) bool) bool { return !keep(info) })
}

// KeepsAll reports whether the filter keeps every state of an entry.
func (f *Filter[Info, Kind]) KeepsAll(states []Info) bool {
	return !slices.ContainsFunc(states, func(info Info) bool { return !f.Keeps(info) })
}

// Apply returns the filtered snapshot. The result for the latest snapshot is cached,
// so a page of the filtered snapshot costs no more than a page of the complete
// snapshot. If the answers of the gate have no version, Apply asks the gate about each entry.
func (f *Filter[Info, Kind]) Apply(ctx context.Context, all *index.Snapshot) *index.Snapshot {
	if !f.Active() && f.Guard == nil && f.Only == nil || all == nil {
		return all
	}
	last := f.last.Load()
	now := filtered{all: all}
	var versioned bool
	now.version, versioned = f.Guard.Version()
	if f.Settings != nil {
		now.rules = f.Settings()
	}
	same := last != nil && last.all == all && last.rules == now.rules
	if same && versioned && last.version == now.version {
		return last.shown
	}
	now.refused = f.Guard.Refused(ctx, all)
	if same && slices.Equal(last.refused, now.refused) {
		now.shown = last.shown
	} else {
		now.shown = f.shown(all, now.refused)
	}
	if last == nil || last.all.Generation <= all.Generation {
		kept := now
		f.last.Store(&kept)
	}
	return now.shown
}

// shown returns the entries that pass the filter. The gate has refused some, in the order of the
// snapshot.
func (f *Filter[Info, Kind]) shown(all *index.Snapshot, refused []*index.Entry) *index.Snapshot {
	return all.Where(func(e *index.Entry) bool {
		if len(refused) > 0 && refused[0] == e {
			refused = refused[1:]
			return false
		}
		return (f.Only == nil || f.Only(e)) && (!f.Active() || f.Keeps(f.Info(all, e)))
	})
}
