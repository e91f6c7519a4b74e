package toolshelf

import (
	"slices"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A Filter is an [Option] that [Catalog.View] accepts too. [WithCommandFilter] and
// [WithSkillFilter] return a Filter. A nil Filter shows everything.
type Filter func(*filterFuncs) error

func (f Filter) apply(c *config) error {
	if f == nil {
		return nil
	}
	return f(&c.keep)
}

// filterFuncs are the functions of filters.
type filterFuncs struct {
	commands []func(CommandInfo) bool
	skills   []func(SkillInfo) bool
}

// WithCommandFilter shows only the commands for which keep returns true. To every
// method, the other commands do not exist. If several filters are given, a command
// must pass every filter.
//
// A filter applies after the precedence of layers. If keep refuses a command, a
// command with the same name in a lower layer stays shadowed. The filter also
// applies to the dependencies that List omits. Only [Catalog.Lint] looks at all
// files, because Lint serves the maintainers of the files.
//
// Keep must be a pure function of its argument. Several goroutines may call keep
// at the same time. The results of keep are cached until a command changes. A nil
// keep is [ErrInvalidOption].
//
// Keep may call Close, and every method of a catalog without the filter, such as the
// catalog of a view. Keep must not call a method that applies the filter, because
// the method would call keep again, without end.
func WithCommandFilter(keep func(CommandInfo) bool) Filter {
	return func(f *filterFuncs) error {
		if keep == nil {
			return invalidOption("WithCommandFilter: the function is nil; omit the option to show all commands")
		}
		f.commands = append(f.commands, keep)
		return nil
	}
}

// WithSkillFilter shows only the skills for which keep returns true. The rules of
// [WithCommandFilter] apply.
func WithSkillFilter(keep func(SkillInfo) bool) Filter {
	return func(f *filterFuncs) error {
		if keep == nil {
			return invalidOption("WithSkillFilter: the function is nil; omit the option to show all skills")
		}
		f.skills = append(f.skills, keep)
		return nil
	}
}

// A filter shows the entries of an index that all its functions keep. Without
// functions, a filter shows all entries.
type filter[Info any] struct {
	keep []func(Info) bool
	info func(*index.Snapshot, *index.Entry) Info
	last atomic.Pointer[filtered]
}

// filtered is the result of a filter for a snapshot.
type filtered struct {
	all, shown *index.Snapshot
}

// active reports whether the filter has any function.
func (f *filter[Info]) active() bool { return len(f.keep) > 0 }

func (f *filter[Info]) keeps(info Info) bool {
	for _, keep := range f.keep {
		if !keep(info) {
			return false
		}
	}
	return true
}

// keepsAll reports whether the filter keeps every state of an entry.
func (f *filter[Info]) keepsAll(states []Info) bool {
	return !slices.ContainsFunc(states, func(info Info) bool { return !f.keeps(info) })
}

// apply returns the filtered snapshot. The result for the latest snapshot is cached,
// so a page of the filtered snapshot costs no more than a page of the complete
// snapshot.
func (f *filter[Info]) apply(all *index.Snapshot) *index.Snapshot {
	if !f.active() || all == nil {
		return all
	}
	last := f.last.Load()
	if last != nil && last.all == all {
		return last.shown
	}
	shown := all.Where(func(e *index.Entry) bool { return f.keeps(f.info(all, e)) })
	if last == nil || last.all.Generation < all.Generation {
		f.last.Store(&filtered{all, shown})
	}
	return shown
}
