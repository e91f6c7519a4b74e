package index

import (
	"iter"
	"sort"

	"github.com/toolshelf-go/toolshelf/internal/names"
)

// Invocable holds the entries that a user invokes by name. Commands and skills share their names: a skill that a user
// may invoke hides the command of the same name. A nil snapshot is empty.
type Invocable struct {
	Commands, Skills *Snapshot
}

// An Invoked is a command or a skill.
type Invoked struct {
	*Entry
	Skill bool
}

// Prefixed ranges over the entries whose names begin with a prefix, in any letter case, in the order of names.Compare.
func (v Invocable) Prefixed(prefix string) iter.Seq[Invoked] {
	return func(yield func(Invoked) bool) {
		commands, skills := prefixed(v.commands(), prefix), prefixed(v.skills(), prefix)
		for len(commands)+len(skills) > 0 {
			next := Invoked{Skill: len(commands) == 0 || len(skills) > 0 && names.Compare(skills[0].Name, commands[0].Name) <= 0}
			from := &commands
			if next.Skill {
				from = &skills
			}
			next.Entry, *from = (*from)[0], (*from)[1:]
			if v.shows(next) && !yield(next) {
				return
			}
		}
	}
}

// After ranges over the commands and then the skills, each in the order of names.Compare, after a command or a skill of
// a name. After the command "", After ranges over all entries.
func (v Invocable) After(name string, skill bool) iter.Seq[Invoked] {
	return func(yield func(Invoked) bool) {
		commands, skills := v.commands(), v.skills()
		if skill {
			commands, skills = nil, after(skills, name)
		}
		for _, e := range after(commands, name) {
			if next := (Invoked{Entry: e}); v.shows(next) && !yield(next) {
				return
			}
		}
		for _, e := range skills {
			if next := (Invoked{Entry: e, Skill: true}); v.shows(next) && !yield(next) {
				return
			}
		}
	}
}

// shows reports whether an entry of Entries is invocable.
func (v Invocable) shows(e Invoked) bool {
	if e.Skill {
		return !e.ModelOnly()
	}
	skill := find(v.skills(), e.Name)
	return skill == nil || !v.shows(Invoked{skill, true})
}

func (v Invocable) commands() []*Entry {
	if v.Commands == nil {
		return nil
	}
	return v.Commands.Loadable
}

func (v Invocable) skills() []*Entry {
	if v.Skills == nil {
		return nil
	}
	return v.Skills.Loadable
}

// prefixed returns the sorted entries whose names begin with a prefix, in any letter case.
func prefixed(entries []*Entry, prefix string) []*Entry {
	begin := sort.Search(len(entries), func(i int) bool { return names.ComparePrefix(entries[i].Name, prefix) >= 0 })
	entries = entries[begin:]
	return entries[:sort.Search(len(entries), func(i int) bool { return names.ComparePrefix(entries[i].Name, prefix) > 0 })]
}

// after returns the sorted entries after a name.
func after(entries []*Entry, name string) []*Entry {
	return entries[sort.Search(len(entries), func(i int) bool { return names.Compare(entries[i].Name, name) > 0 }):]
}
