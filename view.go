package toolshelf

import (
	"slices"
)

// View returns a Catalog of the same files with additional filters. The view shows
// only entries that pass the filters of c and the given options, for example the
// skills for one of several agents. The options are [WithCommandFilter] and
// [WithSkillFilter]. Any other option is [ErrInvalidOption]. After Close, View
// returns [ErrClosed].
//
// A view costs almost nothing, because the view shares all caches, scans and
// watches with c. Close of a view ends the view's subscriptions and rejects
// further calls of the view's methods. Calls in progress continue, and other
// catalogs are not affected. Close of the Catalog that New returned closes all its
// views. [Catalog.ListDir] and the other file methods are not filtered.
func (c *Catalog) View(opts ...Option) (*Catalog, error) {
	const op = "View"
	if c.isClosed() {
		return nil, closedError(op)
	}
	var filters config
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		before := len(filters.keepCommands) + len(filters.keepSkills)
		if err := opt(&filters); err != nil {
			return nil, inOp(op, err)
		}
		if len(filters.keepCommands)+len(filters.keepSkills) == before {
			return nil, &Error{Code: ErrInvalidOption.Code, Op: op,
				Message: "a view accepts only WithCommandFilter and WithSkillFilter; pass other options to New"}
		}
	}
	v := &Catalog{shared: c.shared, view: true}
	v.setFilters(
		slices.Concat(c.commandFilter.keep, filters.keepCommands),
		slices.Concat(c.skillFilter.keep, filters.keepSkills),
	)
	return v, nil
}

func (c *Catalog) setFilters(commands []func(CommandInfo) bool, skills []func(SkillInfo) bool) {
	c.commandFilter.keep, c.commandFilter.info = commands, listedCommand
	c.skillFilter.keep, c.skillFilter.info = skills, c.listedSkill
}
