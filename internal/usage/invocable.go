package usage

import (
	"iter"
	"sort"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/cursor"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// Invocable holds the entries that a user invokes by name. Commands and skills share their names: a
// skill that a user may invoke hides the command of the same name, even if the skill cannot be
// read. A nil snapshot is empty.
type Invocable struct {
	Commands, Skills *index.Snapshot
	Agents           *index.Snapshot // only Completions and Mentioned read the agents

	// Off, unless nil, reports whether nobody may invoke a skill, which still hides a command.
	Off func(skill *index.Entry) bool
}

// An Invoked is a command or a skill, or an agent.
type Invoked struct {
	*index.Entry
	Skill, Agent bool
}

// Prefixed ranges over the entries whose names begin with a prefix, in any letter case, in the
// order of names.Compare.
func (v Invocable) Prefixed(prefix string) iter.Seq[Invoked] {
	return func(yield func(Invoked) bool) {
		v.merge(prefixed(v.commands(), prefix), prefixed(v.skills(), prefix), yield)
	}
}

// BarePrefixed ranges over the entries of plugins whose bare names begin with a prefix, and whose
// names do not, in any letter case, in the order of names.Compare. The time is linear in the number
// of entries of plugins.
func (v Invocable) BarePrefixed(prefix string) iter.Seq[Invoked] {
	return func(yield func(Invoked) bool) {
		v.merge(barePrefixed(v.Commands, prefix), barePrefixed(v.Skills, prefix), yield)
	}
}

// Completions ranges over the entries of Prefixed and of BarePrefixed, and then over the agents
// with one of the prefixes. A nil v.Agents has no agents.
func (v Invocable) Completions(prefix string, mentioned []string) iter.Seq[Invoked] {
	return func(yield func(Invoked) bool) {
		agents, seen := Invocable{Skills: v.Agents}, map[*index.Entry]bool{}
		sequences := []iter.Seq[Invoked]{v.Prefixed(prefix), v.BarePrefixed(prefix)}
		for _, name := range mentioned {
			sequences = append(sequences, agents.Prefixed(name), agents.BarePrefixed(name))
		}
		for i, entries := range sequences {
			for e := range entries {
				if e.Agent = i > 1; !seen[e.Entry] && !yield(e) {
					return
				}
				seen[e.Entry] = true
			}
		}
	}
}

// Mentioned returns the name of the agent at the beginning of a typed line, and the rest of the
// line. The name is "" without an agent.
func (v Invocable) Mentioned(line, blanks string) (name, rest string) {
	end := Invocable{Skills: v.Agents}.Longest(line, strings.IndexAny(line+" ", blanks), blanks)
	e, candidates := v.Agents.Find(line[:end])
	if len(candidates) == 0 && (e == nil || e.ModelOnly()) {
		return "", ""
	}
	return line[:end], line[end:]
}

// merge calls yield for the shown entries of two sorted lists, in the order of names.Compare.
func (v Invocable) merge(commands, skills []*index.Entry, yield func(Invoked) bool) {
	for len(commands)+len(skills) > 0 {
		next := Invoked{Skill: len(commands) == 0 ||
			len(skills) > 0 && names.Compare(skills[0].Name, commands[0].Name) <= 0}
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

// The scopes of the cursors of Page. CommandScope is also the scope of Catalog.List.
const (
	CommandScope = "commands"
	skillScope   = "invocable skills"
)

// Page returns at most size entries after a cursor, the commands before the skills, each in the
// order of names.Compare, and the cursor of the next page. The cursor "" begins the list, and ok is
// false for the cursor of another list.
func (v Invocable) Page(size int, from string) (page []Invoked, next string, ok bool) {
	commands, skills := v.commands(), v.skills()
	if name, ofCommand := cursor.Decode(CommandScope, from); ofCommand {
		commands = after(commands, name)
	} else if name, ofSkill := cursor.Decode(skillScope, from); ofSkill {
		commands, skills = nil, after(skills, name)
	} else if from != "" {
		return nil, "", false
	}
	for i := range len(commands) + len(skills) {
		e := Invoked{Skill: i >= len(commands)}
		if e.Skill {
			e.Entry = skills[i-len(commands)]
		} else {
			e.Entry = commands[i]
		}
		switch {
		case !v.shows(e):
		case len(page) < size:
			page = append(page, e)
		case page[size-1].Skill:
			return page, cursor.Encode(skillScope, page[size-1].Name), true
		default:
			return page, cursor.Encode(CommandScope, page[size-1].Name), true
		}
	}
	return page, "", true
}

// Longest returns the end of the longest name, with or without the name of its plugin, at the
// beginning of a typed line: a name of several words, the first of which ends at word. A byte of
// blanks, or the end of the line, follows the name. Without a longer name, Longest returns word.
func (v Invocable) Longest(line string, word int, blanks string) int {
	end, first := word, line[:word]+" "
	longer := func(name string) {
		n := len(name)
		if n > end && strings.HasPrefix(line, name) &&
			(n == len(line) || strings.IndexByte(blanks, line[n]) >= 0) {
			end = n
		}
	}
	for e := range v.Prefixed(first) {
		longer(e.Name)
	}
	for e := range v.BarePrefixed(first) {
		longer(e.Bare())
	}
	return end
}

// Contains reports whether a user may invoke an entry by a name. The name of a command may end with
// ".md", as for Catalog.Get.
func (v Invocable) Contains(name string) bool {
	skill := loadable(v.Skills, name)
	if skill != nil && v.shows(Invoked{Entry: skill, Skill: true}) {
		return true
	}
	if command := loadable(v.Commands, name); command != nil {
		return v.shows(Invoked{Entry: command})
	}
	stem, ok := names.TrimMarkdown(name)
	return ok && loadable(v.Commands, stem) != nil && v.Contains(stem)
}

// loadable returns the listed entry of a name that can be loaded, or nil.
func loadable(s *index.Snapshot, name string) *index.Entry {
	if s == nil {
		return nil
	}
	if e := s.Listed(name); e != nil && e.Broken() == nil {
		return e
	}
	return nil
}

// shows reports whether a user may invoke a listed entry.
func (v Invocable) shows(e Invoked) bool {
	if !e.Skill && v.Skills != nil {
		skill := v.Skills.Listed(e.Name)
		return skill == nil || skill.Broken() == index.ErrNoSkillFile || skill.ModelOnly()
	}
	return !e.Skill || !e.ModelOnly() && (v.Off == nil || !v.Off(e.Entry))
}

// CommandNames returns the names of all listed commands.
func (v Invocable) CommandNames() []string { return entryNames(v.commands()) }

// SkillNames returns the names of all skills that can be loaded.
func (v Invocable) SkillNames() []string { return entryNames(v.skills()) }

func entryNames(entries []*index.Entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Name
	}
	return all
}

func (v Invocable) commands() []*index.Entry { return entries(v.Commands) }

func (v Invocable) skills() []*index.Entry { return entries(v.Skills) }

func entries(s *index.Snapshot) []*index.Entry {
	if s == nil {
		return nil
	}
	return s.Loadable
}

// prefixed returns the sorted entries whose names begin with a prefix, in any letter case.
func prefixed(entries []*index.Entry, prefix string) []*index.Entry {
	compare := func(i int) int { return names.ComparePrefix(entries[i].Name, prefix) }
	begin := sort.Search(len(entries), func(i int) bool { return compare(i) >= 0 })
	end := sort.Search(len(entries), func(i int) bool { return compare(i) > 0 })
	return entries[begin:end]
}

// barePrefixed returns the entries of BarePrefixed that can be loaded.
func barePrefixed(s *index.Snapshot, prefix string) (found []*index.Entry) {
	if s == nil {
		return nil
	}
	for _, e := range s.OfPlugins() {
		if names.ComparePrefix(e.Bare(), prefix) == 0 && names.ComparePrefix(e.Name, prefix) != 0 {
			found = append(found, e)
		}
	}
	return found
}

// after returns the sorted entries after a name.
func after(entries []*index.Entry, name string) []*index.Entry {
	begin := sort.Search(len(entries), func(i int) bool {
		return names.Compare(entries[i].Name, name) > 0
	})
	return entries[begin:]
}
