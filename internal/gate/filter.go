package gate

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/exposure"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A Filter shows the entries of an index that the guard allows and Keeps accepts. Without
// both, a Filter shows all entries.
type Filter struct {
	Keeps func(*index.Snapshot, *index.Entry) bool // asks functions of the program; nil without functions
	Guard *Guard                                   // nil without a gate

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
func (f *Filter) Shows(ctx context.Context, e *index.Entry) bool {
	return (f.Only == nil || f.Only(e)) && f.Guard.Allows(ctx, e)
}

// With returns a filter of the same index with other functions.
func (f *Filter) With(keeps func(*index.Snapshot, *index.Entry) bool) *Filter {
	return &Filter{Keeps: keeps, Guard: f.Guard, Settings: f.Settings}
}

// In returns the filter for another index and its entries.
func (f *Filter) In(
	x *index.Index, keeps func(*index.Snapshot, *index.Entry) bool, only func(*index.Entry) bool,
) *Filter {
	in := f.With(keeps)
	in.Only = only
	if f.Guard != nil {
		g := *f.Guard
		g.Index, in.Guard = x, &g
	}
	return in
}

// Apply returns the filtered snapshot. The result for the latest snapshot is cached,
// so a page of the filtered snapshot costs no more than a page of the complete
// snapshot. If the answers of the gate have no version, Apply asks the gate about each entry.
func (f *Filter) Apply(ctx context.Context, all *index.Snapshot) *index.Snapshot {
	if f.Keeps == nil && f.Guard == nil && f.Only == nil || all == nil {
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
func (f *Filter) shown(all *index.Snapshot, refused []*index.Entry) *index.Snapshot {
	return all.Where(func(e *index.Entry) bool {
		if len(refused) > 0 && refused[0] == e {
			refused = refused[1:]
			return false
		}
		return (f.Only == nil || f.Only(e)) && (f.Keeps == nil || f.Keeps(all, e))
	})
}
