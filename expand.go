package toolshelf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// Args are the arguments of a command or a skill. A program that has no line, for example a server of
// the Model Context Protocol, sets List or Named.
type Args struct {
	Line  string            // the text of $ARGUMENTS; without Line, List joined by blanks
	List  []string          // by position
	Named map[string]string // by name
}

// ParseArgs splits the arguments that a user typed, the text after the name of a command. Line is
// the line, unchanged. Named is nil: a client that reads KEY=value finds the word in List.
//
// List has the words of the line, as a POSIX shell splits the line: at spaces, tabs and line breaks
// outside quotes. Between single quotes, each character stays. Between double quotes, a backslash
// escapes $, `, ", \ and a line break; elsewhere, any character. A quote without a closing quote is a
// letter, as in don't, and so is a backslash at the end. The words after such a quote are split by the
// same rules.
//
// ParseArgs expands nothing: variables, globs, operators and comments of a shell are text. The time
// is linear in the length of the line.
func ParseArgs(line string) Args {
	return Args{Line: line, List: template.Words(line)}
}

// A Kind is the kind of an entry of a catalog.
type Kind string

// The kinds of entries that a user invokes by name.
const (
	KindCommand Kind = "command"
	KindSkill   Kind = "skill"
)

// A Completion is a command or a skill whose name completes the text that a user types.
type Completion struct {
	Kind        Kind   `json:"kind"`
	Name        string `json:"name"`           // as accepted by Expand, Get or GetSkill
	Hint        string `json:"hint,omitempty"` // the field argument-hint, such as "[issue] [priority]"
	Description string `json:"description"`    // may contain line breaks
	Layer       string `json:"layer"`          // the directory or the FS name, as given to the option
}

// defaultCompletions is the default limit of CompleteName.
const defaultCompletions = 10

// CompleteName returns the commands and the user-invocable skills whose names begin with a prefix,
// in any letter case, in the order of [Catalog.List]. The prefix is the text that a user has typed, with or
// without a slash at the beginning, as for [Catalog.Expand]. The limit is the maximum number of rows; 0 means 10.
//
// Commands and skills share their names: CompleteName omits a command with the name of a skill. The
// kinds select the commands or the skills, so KindCommand also returns the omitted commands.
// CompleteName omits the entries that List omits, skills that cannot be loaded, and skills with
// user-invocable: false. For disable-model-invocation, see [Catalog.SkillsPrompt].
//
// CompleteName returns [ErrInvalidQuery] for a negative limit, [ErrInvalidOption] for an unknown kind,
// and the errors of List and [Catalog.ListSkills], but a missing default directory contains no
// entries. The cost is the cost of List and of ListSkills; the number of rows costs, not the
// number of entries.
func (c *Catalog) CompleteName(ctx context.Context, prefix string, limit int, kinds ...Kind) ([]Completion, error) {
	const op = "CompleteName"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	if limit < 0 {
		return nil, &Error{Code: CodeInvalidQuery, Op: op, Message: fmt.Sprintf("the limit %d is out of range; use 1 or more, or 0 for %d", limit, defaultCompletions)}
	}
	if limit == 0 {
		limit = defaultCompletions
	}
	all, err := c.invocable(ctx, op, kinds)
	if err != nil {
		return nil, err
	}
	list := []Completion{}
	for e := range all.Prefixed(c.typedName(prefix)) {
		if len(list) == limit {
			break
		}
		list = append(list, c.completion(e))
	}
	return list, nil
}

// invocable returns the entries of the kinds that a user may invoke.
func (c *Catalog) invocable(ctx context.Context, op string, kinds []Kind) (v index.Invocable, err error) {
	commands, skills, err := selected(op, kinds)
	if err == nil && commands {
		v.Commands, err = c.commands.optionalSnapshot(ctx, op)
		v.Commands = c.commands.filter.apply(v.Commands)
	}
	if err == nil && skills {
		v.Skills, err = c.skills.optionalSnapshot(ctx, op)
		v.Skills = c.skills.filter.apply(v.Skills)
	}
	return v, err
}

// selected reports which kinds an argument selects. No kind selects all kinds.
func selected(op string, kinds []Kind) (commands, skills bool, err error) {
	for _, k := range kinds {
		if k != KindCommand && k != KindSkill {
			return false, false, &Error{Code: CodeInvalidOption, Op: op, Message: "unknown kind " + quote(string(k)) + "; use KindCommand or KindSkill"}
		}
	}
	return len(kinds) == 0 || slices.Contains(kinds, KindCommand), len(kinds) == 0 || slices.Contains(kinds, KindSkill), nil
}

// typedName returns the name that a user means: a slash begins the name of a command in most clients, and separates
// directories in OpenCode.
func (c *Catalog) typedName(typed string) string {
	name := strings.TrimPrefix(typed, "/")
	if c.config.colons {
		name = strings.ReplaceAll(name, "/", ":")
	}
	return name
}

func (c *Catalog) completion(e index.Invoked) Completion {
	if !e.Skill {
		return Completion{Kind: KindCommand, Name: e.Name, Hint: e.Hint(), Description: e.Description(), Layer: c.commands.Layer(e.Layer()).Name}
	}
	header := agentmd.NewFrontmatter(e.Header())
	return Completion{Kind: KindSkill, Name: e.Name, Hint: header.Text("argument-hint"), Description: strings.TrimSpace(header.Text("description")), Layer: c.skills.Layer(e.Layer()).Name}
}
