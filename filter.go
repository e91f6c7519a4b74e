package toolshelf

import (
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/index"
)

// WithCommandFilter shows only the commands for which keep is true; all others
// are to every method as if they were not there. Filters add up: where several
// are given, a command must pass each.
//
// A filter chooses from what the layers' precedence leaves: a command that it
// refuses does not let one of the same name in a lower layer through. Commands
// that List leaves out as dependencies are put to it as well. Lint alone looks
// at all files, since it is for those who keep them.
//
// Keep must be a pure function of its argument, and may be called from several
// goroutines: what it said of a command is remembered until some command
// changes. It must not call the catalog. A nil keep is ErrInvalidOption.
func WithCommandFilter(keep func(CommandInfo) bool) Option {
	return func(c *config) error {
		if keep == nil {
			return invalidOption("WithCommandFilter: the function is nil; leave the option out to show all commands")
		}
		c.keepCommands = append(c.keepCommands, keep)
		return nil
	}
}

// WithSkillFilter is to skills what WithCommandFilter is to commands.
func WithSkillFilter(keep func(SkillInfo) bool) Option {
	return func(c *config) error {
		if keep == nil {
			return invalidOption("WithSkillFilter: the function is nil; leave the option out to show all skills")
		}
		c.keepSkills = append(c.keepSkills, keep)
		return nil
	}
}

// A filter shows the entries of an index that all of its functions keep. One
// without functions shows them all.
type filter[Info any] struct {
	keep []func(Info) bool
	info func(*index.Snapshot, *index.Entry) Info
	last atomic.Pointer[filtered]
}

// filtered is what a filter shows of a snapshot.
type filtered struct {
	all, shown *index.Snapshot
}

// filters reports whether there is anything that it might not show.
func (f *filter[Info]) filters() bool { return len(f.keep) > 0 }

func (f *filter[Info]) keeps(info Info) bool {
	for _, keep := range f.keep {
		if !keep(info) {
			return false
		}
	}
	return true
}

// of is the snapshot as the filter shows it. That of the latest snapshot is
// remembered, so that a page of it costs no more than one of the whole.
func (f *filter[Info]) of(all *index.Snapshot) *index.Snapshot {
	if !f.filters() || all == nil {
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
