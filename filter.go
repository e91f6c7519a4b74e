package toolshelf

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
// at the same time. The results of keep are cached until a command changes. Keep
// must not call the catalog. A nil keep is [ErrInvalidOption].
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
