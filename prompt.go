package toolshelf

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/promptblock"
)

// A SkillsPrompt is a list of skills for a model's instructions.
type SkillsPrompt struct {
	Text      string   `json:"text"`      // the block; "" where there is nothing to list
	Included  []string `json:"included"`  // the names of the skills in Text, in its order
	Shortened []string `json:"shortened"` // those of them whose description is cut, with "…" at its end
	Dropped   []string `json:"dropped"`   // the names for which the budget had no room, in the order of ListSkills
}

// String returns the text.
func (p SkillsPrompt) String() string { return p.Text }

// A CommandsPrompt is to commands what a SkillsPrompt is to skills.
type CommandsPrompt SkillsPrompt

// String returns the text.
func (p CommandsPrompt) String() string { return p.Text }

// SkillsPrompt returns the skills that a model may choose from, as the client
// guide of the Agent Skills format has it
// (https://agentskills.io/client-implementation/adding-skills-support):
//
//	<available_skills>
//	  <skill>
//	    <name>pdf-tools</name>
//	    <description>Read and fill PDF forms.</description>
//	  </skill>
//	</available_skills>
//
// The name is what GetSkill takes. The order is that of ListSkills, so the
// same files give the same text. Left out are skills that a model cannot
// choose, those without a description or a SKILL.md that can be read, and
// skills that it must not choose, those that say disable-model-invocation:
// true. Where none is left there is no block: Text is "". A user's or an
// agent's own choice is for [WithSkillFilter] and [Catalog.View].
//
// Without an option the text has no limit. With [PromptBudget] or
// [PromptTokens] it is never over the budget, in two steps. First, the longest
// descriptions are cut to one common length, the greatest that fits and at
// least 60 characters, at the end of a word where there is one. If they do not
// fit even so, skills are dropped, from the end of the order of precedence:
// first those of the last layer, and within a layer the last name first. A
// comment in the block then says how many are not listed, and what is left of
// the budget goes to the descriptions of those that are. A greater budget never
// lists fewer. [PromptFirst] and [PromptFor] put skills before this order of
// precedence.
//
// The block is well-formed XML whatever the files hold, and an XML parser
// reads the names and descriptions back as they are, with one exception: what
// XML 1.0 does not admit (control characters, U+FFFE, U+FFFF, bytes that are
// not UTF-8) becomes U+FFFD. What is invisible or reorders text, such as
// bidirectional controls and tag characters, becomes a character reference
// such as "&#x202E;", so that a reader sees that it is there; the joiners
// U+200C and U+200D, which scripts and emoji are written with, stay. The
// fullwidth "＜" of "＜/skill＞" and of the block's other tags becomes "&#xFF1C;".
//
// For the errors see ListSkills; a default directory that is missing holds no
// skills here. An option that makes no sense is
// ErrInvalidOption. The cost beyond that of ListSkills is linear in the length
// of the descriptions, and that of the counter's calls.
func (c *Catalog) SkillsPrompt(ctx context.Context, opts ...PromptOption) (SkillsPrompt, error) {
	const op = "SkillsPrompt"
	if err := c.begin(ctx, op); err != nil {
		return SkillsPrompt{}, err
	}
	options, err := newPromptOptions(opts)
	if err != nil {
		return SkillsPrompt{}, inOp(op, err)
	}
	all, err := c.config.skills.snapshot(ctx, c.skills)
	if err != nil {
		return SkillsPrompt{}, c.skillsError(op, err)
	}
	shown := c.skillFilter.of(all)
	block := promptblock.Block{Tag: "skill"}
	if block.Preferred, err = options.preferred(ctx, op, c, c.searchers.skills, all, shown); err != nil {
		return SkillsPrompt{}, err
	}
	for _, e := range shown.Entries {
		header := Frontmatter{doc: e.Header} // a SkillInfo of each would cost more than the block
		if description := strings.TrimSpace(header.Text("description")); description != "" && !e.UserOnly {
			options.add(&block, c.skills, e, description)
		}
	}
	result, err := block.Fit(ctx, options.budget)
	return SkillsPrompt(result), err
}

// CommandsPrompt returns the commands that List lists as SkillsPrompt does the
// skills, in <available_commands> with a <command> for each. The name is what
// Get takes. A command without a description is listed by its name. Left out are
// those that say disable-model-invocation: true, as Claude Code does. For the
// errors see List; a default directory that is missing holds no commands here.
// An option that makes no sense is ErrInvalidOption.
func (c *Catalog) CommandsPrompt(ctx context.Context, opts ...PromptOption) (CommandsPrompt, error) {
	const op = "CommandsPrompt"
	if err := c.begin(ctx, op); err != nil {
		return CommandsPrompt{}, err
	}
	options, err := newPromptOptions(opts)
	if err != nil {
		return CommandsPrompt{}, inOp(op, err)
	}
	all, err := c.config.commands.snapshot(ctx, c.commands)
	if err != nil {
		return CommandsPrompt{}, c.commandsError(op, err)
	}
	shown := c.commandFilter.of(all)
	block := promptblock.Block{Tag: "command"}
	if block.Preferred, err = options.preferred(ctx, op, c, c.searchers.commands, all, shown); err != nil {
		return CommandsPrompt{}, err
	}
	for _, e := range shown.Entries {
		if !e.UserOnly {
			options.add(&block, c.commands, e, e.Description)
		}
	}
	result, err := block.Fit(ctx, options.budget)
	return CommandsPrompt(result), err
}

// A PromptOption is a choice for one call of SkillsPrompt or CommandsPrompt.
// Where the same one is given twice, the last counts.
type PromptOption func(*promptOptions)

// promptOptions are what the options of one call say.
type promptOptions struct {
	budget    promptblock.Budget
	locations bool
	first     []string
	query     string
	err       error
}

func newPromptOptions(opts []PromptOption) (promptOptions, error) {
	var o promptOptions
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o, o.err
}

// add appends the entry to the block.
func (o *promptOptions) add(b *promptblock.Block, x *index.Index, e *index.Entry, description string) {
	location := ""
	if o.locations {
		location = x.Layer(e.Layer).FS.Path(e.Path)
	}
	b.Add(e.Layer, e.Name, description, location)
}

// PromptBudget limits the text to n characters (Unicode code points), markup
// included. With 0 or less, which is what may be left of a context, nothing
// fits: the text is "" and all names are in Dropped. It replaces a PromptTokens.
func PromptBudget(n int) PromptOption {
	return func(o *promptOptions) { o.budget = promptblock.Budget{Limited: true, Max: n} }
}

// PromptTokens limits the text to what count takes for budget tokens or fewer.
// With a negative budget nothing fits. A nil count is ErrInvalidOption. It
// replaces a PromptBudget.
//
// The count is always that of a whole text, never a sum of parts, and the
// text returned is one whose count was within the budget. It is called once if
// all fits, and otherwise a number of times that grows with the logarithm of
// the text's length: five to twenty times, mostly with texts near the budget. Of
// two texts, the one that tells more is taken to have no fewer tokens; with a
// count of which that is not true, the result is within the budget and may
// not be the best.
func PromptTokens(budget int, count func(string) int) PromptOption {
	return func(o *promptOptions) {
		if count == nil {
			o.err = &Error{Code: ErrInvalidOption.Code,
				Message: "PromptTokens: the counter is nil; give a function that counts the tokens of a text, or use PromptBudget"}
		}
		o.budget = promptblock.Budget{Limited: true, Max: budget, Count: count}
	}
}

// PromptLocations adds a <location> to each entry: the full path of its file
// on the filesystem that it is on, for a model that reads files by itself.
// Without it no path reaches the model.
func PromptLocations() PromptOption {
	return func(o *promptOptions) { o.locations = true }
}

// PromptFirst puts these skills or commands before all others in the order of
// precedence, so a budget drops them last. Of two names, the earlier name is kept
// longer. The names are names of a list; PromptFirst ignores a name that the
// prompt does not list, and a repeated name. With no name PromptFirst has no
// effect.
//
// PromptFirst does not change the order of the text, and has no effect without
// [PromptBudget] or [PromptTokens].
func PromptFirst(names ...string) PromptOption {
	names = slices.Clone(names)
	return func(o *promptOptions) { o.first = names }
}

// PromptFor puts the skills or commands that match a query before the others in
// the order of precedence, the best match first, so a budget drops the best
// matches last. A query is the user's task, for example. The ranking is the
// ranking of [Catalog.SearchSkills] or [Catalog.Search]. The names of
// [PromptFirst] come before the matches. Skills that do not match keep the order
// of the layers.
//
// PromptFor reads the first 500 characters of the query. An empty query, and a
// query without a match, have no effect. PromptFor does not change the order of
// the text, and does not search without [PromptBudget] or [PromptTokens].
//
// The cost is the cost of a search. The first search reads every file.
func PromptFor(query string) PromptOption {
	return func(o *promptOptions) { o.query = query }
}

// preferred returns the names that precede the order of the layers: the names of
// PromptFirst, and then the matches of PromptFor.
func (o *promptOptions) preferred(ctx context.Context, op string, c *Catalog, s *searcher, all, shown *index.Snapshot) ([]string, error) {
	if !o.budget.Limited {
		return nil, nil
	}
	query := strings.TrimSpace(leading(strings.TrimSpace(o.query), maxQuery))
	if query == "" || len(shown.Entries) == 0 {
		return o.first, nil
	}
	keep := func(name string) bool { return shown.Lookup(name) != nil }
	found, err := await(ctx, c, func(ctx context.Context) (SearchResults, error) {
		return s.find(ctx, c, all, query, len(shown.Entries), keep)
	})
	if err != nil {
		return nil, s.layerError(op, err)
	}
	names := slices.Clip(o.first)
	for _, r := range found.Results {
		names = append(names, r.Name)
	}
	return names, nil
}

// leading returns the first n characters of a text.
func leading(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Prompt returns the text for a model that activates the skill, in the form of
// the client guide of the Agent Skills format
// (https://agentskills.io/client-implementation/adding-skills-support):
//
//	<skill_content name="pdf-tools">
//	# PDF tools
//	…
//
//	Skill directory: /home/user/.agents/skills/pdf-tools
//	Relative paths in this skill are relative to the skill directory.
//
//	<skill_resources>
//	  <file>scripts/extract.py</file>
//	</skill_resources>
//	</skill_content>
//
// First comes the Content, without the empty lines at both ends. Tags of the
// elements skill_content, skill_resources, available_skills and
// available_commands are escaped: the "<" becomes "&lt;", and "＜" becomes
// "&#xFF1C;". A skill can therefore neither end the block nor begin another
// block. Letter case, fullwidth letters, white space, accents and invisible
// characters in a tag make no difference. All other Markdown, HTML and XML stays.
//
// The directory is the directory of Path, the full path on the skill's
// filesystem, for a model that reads files. If a host path must not reach a model,
// or has no meaning for the model, as with a layer of WithSkillsFS, set Path to ""
// before the call: Prompt then omits the two lines.
//
// The files are the first 100 of Files without SKILL.md, in the same order. A
// comment gives the number of the other files, or says with FilesTruncated that
// more files exist. Prompt reads no file. The name, the directory and the files
// are escaped as XML, as in [Catalog.SkillsPrompt], and each is one line.
func (s Skill) Prompt() string {
	dir, own := splitPath(s.Path)
	var files []string
	for _, f := range s.Files {
		if f.Path != own && (own != "" || f.Path != "SKILL.md" && f.Path != "skill.md") {
			files = append(files, f.Path)
		}
	}
	return promptblock.Skill{Name: s.Name, Content: s.Content, Dir: dir, Files: files, Truncated: s.FilesTruncated}.String()
}

// splitPath splits the path of a SKILL.md into directory and name. The path is a
// path of the operating system, or a path with slashes.
func splitPath(path string) (dir, file string) {
	i := len(path)
	for i > 0 && path[i-1] != '/' && !os.IsPathSeparator(path[i-1]) {
		i--
	}
	return path[:max(i-1, 0)], path[i:]
}
