package toolshelf

import (
	"slices"
)

// View returns a Catalog of the same files that shows only what the options
// keep of what c shows, such as the skills that one agent of several may use.
// The options are WithCommandFilter and WithSkillFilter; any other is
// ErrInvalidOption. After Close the error is ErrClosed.
//
// A view costs next to nothing: what is known of the files, and what looks at
// them and watches them, is shared with c. Close of a view ends its
// subscriptions and its methods, and nothing else; what is under way in one goes
// on. With Close of the Catalog that New made, all views of it are closed.
// ListDir and its companions are not filtered.
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
				Message: "a view takes WithCommandFilter and WithSkillFilter; give other options to New"}
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
