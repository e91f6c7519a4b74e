package toolshelf

import (
	"slices"
)

// View returns a Catalog of the same files with additional filters. The view shows
// only entries that pass the filters of c and the given filters, for example the
// skills for one of several agents. View returns [ErrInvalidOption] if the function
// of a filter is nil, and [ErrClosed] after Close.
//
// A view costs almost nothing, because the view shares all caches, scans and
// watches with c. Close of a view ends the view's subscriptions and rejects
// further calls of the view's methods. Calls in progress continue, and other
// catalogs are not affected. Close of the Catalog that New returned closes all its
// views. [Catalog.ListDir] and the other file methods are not filtered.
func (c *Catalog) View(filters ...Filter) (*Catalog, error) {
	const op = "View"
	if c.isClosed() {
		return nil, closedError(op)
	}
	keep := filterFuncs{slices.Clone(c.commands.filter.keep), slices.Clone(c.skills.filter.keep)}
	for _, filter := range filters {
		if filter == nil {
			continue
		}
		if err := filter(&keep); err != nil {
			return nil, inOp(op, err)
		}
	}
	return &Catalog{shared: c.shared, view: true, commands: c.commands.view(keep.commands), skills: c.skills.view(keep.skills)}, nil
}
