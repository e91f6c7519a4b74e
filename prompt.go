package toolshelf

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/observe"
	"github.com/toolshelf-go/toolshelf/internal/promptblock"
	"github.com/toolshelf-go/toolshelf/internal/search"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// A PromptList is a list of skills, commands or agents for the instructions of a model.
type PromptList struct {
	Text      string   `json:"text"`      // the block; "" if no entry is included
	Included  []string `json:"included"`  // the names in Text, in the order of Text: the names without a description last
	Shortened []string `json:"shortened"` // the included names whose description is cut and ends with "…"
	Dropped   []string `json:"dropped"`   // the names that exceed the budget, in the order of ListSkills, List or ListAgents

	Named []string `json:"named,omitempty"` // the included names without a description, because of the budget or of ExposeName
}

// A SkillsPrompt is the PromptList of skills.
type SkillsPrompt = PromptList

// SkillsPrompt returns the names and descriptions of the skills that a model may choose, as an XML
// block in the form of the client guide of the Agent Skills format, in the order of
// [Catalog.ListSkills]. [Catalog.GetSkill] takes the names. Without skills, Text is "".
// SkillsPrompt omits skills without a description or a readable SKILL.md, and skills that a model
// may not see: see [Exposure].
//
// Without options, the length of the text has no limit. With [Budget] or [Tokens], SkillsPrompt
// first shortens the longest descriptions, down to 60 characters, then omits the descriptions of
// the skills of the lowest precedence, and drops names only if the names alone exceed the budget;
// [PromptFirst] and [PromptFor] give skills precedence. The text escapes the tags of the block and
// invisible characters.
//
// SkillsPrompt returns the errors of Catalog.ListSkills, but a missing default directory has no
// skills, and [ErrInvalidOption] for an invalid option. The cost is the cost of ListSkills.
func (c *Catalog) SkillsPrompt(ctx context.Context, opts ...PromptOption) (SkillsPrompt, error) {
	const op = "SkillsPrompt"
	near, err := c.near(ctx, op, pathOf(opts))
	if err != nil {
		return PromptList{}, err
	}
	return promptOf(ctx, near, near.skills, op, opts)
}

// promptOf returns the PromptList of a collection.
func promptOf(ctx context.Context, c *Catalog, in *collection, op string, opts []PromptOption) (PromptList, error) {
	if err := c.begin(ctx, op); err != nil {
		return PromptList{}, err
	}
	options, err := newPromptOptions(opts)
	if err != nil {
		return PromptList{}, inOp(op, err)
	}
	o := c.observer.Begin(ctx)
	list, err := fitPrompt(ctx, c, in, op, options)
	o.Send(Event{Action: EventListed, Kind: Kind(in.noun), Count: len(list.Included), Bytes: len(list.Text)}, err)
	return list, err
}

func fitPrompt(ctx context.Context, c *Catalog, in *collection, op string, options promptOptions) (PromptList, error) {
	all, err := in.optionalSnapshot(ctx, op)
	if err != nil {
		return PromptList{}, err
	}
	shown := in.filter.Apply(ctx, all)
	block := promptblock.Block{Tag: in.noun, Elements: options.elements}
	if block.Preferred, err = preferredNames(ctx, op, c, in, &options, all, shown); err != nil {
		return PromptList{}, err
	}
	for _, e := range in.way.Ordered(shown.Loadable) {
		in.addTo(&block, options, e)
	}
	result, err := block.Fit(ctx, options.budget)
	return PromptList(result), err
}

// CommandsPrompt returns the commands of [Catalog.List] as an <available_commands> block with a
// <command> element for each command, by the rules of [Catalog.SkillsPrompt]. A command without a
// description has an empty <description>. CommandsPrompt omits commands with
// disable-model-invocation: true, as Claude Code does.
func (c *Catalog) CommandsPrompt(ctx context.Context, opts ...PromptOption) (PromptList, error) {
	return promptOf(ctx, c, c.commands, "CommandsPrompt", opts)
}

// PromptLocations adds a <location> to each entry, for a model that reads files
// itself: the full path of the file on its filesystem. An entry of [WithSkillsFS] or
// [WithCommandsFS] has no location, because the model cannot read the path. Without
// PromptLocations, the text contains no path.
func PromptLocations() PromptOption {
	return promptOption(func(o *promptOptions) { o.locations = true })
}

// PromptFirst puts these skills or commands before all others in the order of
// precedence, so a budget drops them last. A budget drops the last of the names first.
// PromptFirst ignores names that the prompt does not list, and repeated names. Without
// names, PromptFirst has no effect.
//
// PromptFirst does not change the order of the text, and has no effect without
// [Budget] or [Tokens].
func PromptFirst(names ...string) PromptOption {
	names = slices.Clone(names)
	return promptOption(func(o *promptOptions) { o.first = names })
}

// PromptFor puts the skills or commands that match a query, such as the user's task, before the
// others in the order of precedence, the best match first, so a budget drops the best matches last.
// The ranking is the ranking of [Catalog.SearchSkills] or [Catalog.Search]. The names of
// [PromptFirst] come before the matches.
//
// PromptFor reads the first 500 characters of the query. An empty query, and a query without a
// match, have no effect. PromptFor does not change the order of the text, and does not search
// without [Budget] or [Tokens]. The cost is the cost of a search.
func PromptFor(query string) PromptOption {
	return promptOption(func(o *promptOptions) { o.query = query })
}

// preferredNames returns the names that precede the order of the layers: the names of
// PromptFirst, and then the matches of PromptFor.
func preferredNames(ctx context.Context, op string, c *Catalog, in *collection, o *promptOptions, all, shown *index.Snapshot) ([]string, error) {
	if !o.budget.Limited {
		return nil, nil
	}
	query := strings.TrimSpace(text.First(strings.TrimSpace(o.query), maxQuery))
	if query == "" || len(shown.Loadable) == 0 {
		return o.first, nil
	}
	found, err := await(ctx, c, func(ctx context.Context) (search.Result, error) {
		return in.find(ctx, op, all, shown, query, len(shown.Loadable))
	})
	if err != nil {
		return nil, in.layerError(op, err)
	}
	names := slices.Clip(o.first)
	for _, r := range found.Hits {
		names = append(names, in.shownName(shown, r.Name))
	}
	return names, nil
}

// addTo appends an entry that a model may see to the block.
func (c *collection) addTo(b *promptblock.Block, o promptOptions, e *index.Entry) {
	seen, location := ExposeFull, ""
	if c.exposure != nil {
		seen = c.exposure(e)
	} else if e.UserOnly {
		seen = ExposeUser
	}
	if layer := c.LayerOf(e); o.locations && layer.Store == nil {
		location = layer.FS.Path(e.Spelled())
	}
	switch description := c.description(e); {
	case !seen.toModel():
	case seen == ExposeName:
		b.AddName(e.Layer(), c.way.Name(e), location)
	case description != "" || c.undescribed:
		b.Add(e.Layer(), c.way.Name(e), description, location)
	}
}

// Prompt returns the text for a model that activates the skill, in the form of the client guide of
// the Agent Skills format: an XML block <skill_content> with Content, the directory of the skill,
// and the first 100 of the other files. Prompt reads no file.
//
// A skill can neither end the block nor begin another block, because Prompt escapes the tags of the
// blocks in Content. The directory is a host path: set Path to "" before the call if the path must
// not reach the model. For a skill of [WithSkillsFS], the text names the tool read_skill_file
// instead of the directory.
func (s Skill) Prompt() string { return s.block().String() }

func (s Skill) block() promptblock.Skill {
	unread := func(d Diagnostic) bool { return d.Code == agentmd.DiagFileRead }
	block := promptblock.At(s.Name, s.Content, s.Path, s.Source.inFS)
	for _, f := range s.Files {
		block.AddFile(f.Path)
	}
	block.Truncated = s.FilesTruncated || slices.ContainsFunc(s.Diagnostics, unread)
	return block
}

// PromptEach limits each text of [Catalog.RestorePrompt] to n characters, or with [Tokens] to n
// tokens. With 0, the default, only the budget limits the texts.
func PromptEach(n int) PromptOption {
	return promptOption(func(o *promptOptions) { o.each = n })
}

// RestorePrompt returns the texts that a session has used, for a conversation that the program has
// compacted: of skills, commands (without arguments) and instructions, the last use first. The
// items are in the order of their use, as [WithObserver] reports them; an item is matched by Kind
// and Name, and by Plugin if given, and its last use counts. With a Digest, the text says whether
// the file has changed. An entry that is gone has its name alone, and a refused entry nothing. An
// entry that cannot be read is an error, as of Get or GetSkill, because the entry can still exist.
//
// [Budget] or [Tokens] limits all texts, and [PromptEach] each: the budget drops the earliest uses
// first. [Except] omits instructions, and [Imports] gives instructions with their imports. Other
// options have no effect, and so have items of other kinds.
func (c *Catalog) RestorePrompt(ctx context.Context, used []Item, opts ...PromptOption) (PromptList, error) {
	const op = "RestorePrompt"
	options, err := newPromptOptions(opts)
	if err = cmp.Or(c.begin(ctx, op), err); err != nil {
		return PromptList{}, inOp(op, err)
	}
	r := restoring{Catalog: c, promptOptions: options, op: op}
	seen := map[Item]bool{}
	for _, i := range slices.Backward(used) {
		key := Item{Kind: i.Kind, Name: i.Name, Plugin: i.Plugin}
		if seen[key] {
			continue
		}
		seen[key] = true
		if err := r.restore(ctx, i); err != nil {
			return PromptList{}, c.methodError(op, err)
		}
	}
	for _, send := range slices.Backward(r.sends) {
		send()
	}
	return PromptList(r.block.Fit(options.budget, options.each)), nil
}

// A restoring is a call of RestorePrompt.
type restoring struct {
	*Catalog
	promptOptions
	op    string
	block promptblock.Used
	sends []func() // the events, the last use first; an observer collects the uses in their order
}

// restore appends the text of an item. The error is the error of an entry that can still exist.
func (r *restoring) restore(ctx context.Context, i Item) error {
	o := r.observer.Begin(ctx)
	switch i.Kind {
	case KindSkill:
		now, err := skillLookup(r.Catalog, r.op, i.Name, nil, skillReader{files: true}).find(ctx)
		s, from := now.value, cmp.Or(now.from, r.skills)
		if err == nil && s.Exposure == ExposeOff {
			return nil
		}
		r.sends = append(r.sends, from.later(o, i, now.outcome, err))
		return r.add(i, s.Plugin, now.outcome, err, func() {
			changed := promptblock.Changed(i.Digest, s.Source.digest, s.Raw)
			r.block.AddForm("skill", s.Name, s.Content, changed, s.block().With)
		})
	case KindCommand:
		now, err := commandLookup(r.Catalog, r.op, i.Name).find(ctx)
		m := now.value
		r.sends = append(r.sends, r.commands.later(o, i, now.outcome, err))
		return r.add(i, m.Plugin, now.outcome, err, func() {
			changed := promptblock.Changed(i.Digest, now.digest, m.Raw)
			r.block.Add("command", m.Name, m.Content, changed)
		})
	case KindInstruction:
		return r.restoreInstruction(ctx, o, i)
	}
	return nil
}

// later returns a function that sends the event of a use.
func (c *collection) later(o observe.Call[Event], i Item, found outcome, err error) func() {
	return func() { c.send(o, Event{Action: EventLoaded, Name: i.Name}, found, err) }
}

// add appends the text of a skill or of a command, or the name of an entry that is gone.
func (r *restoring) add(i Item, plugin string, found outcome, err error, text func()) error {
	switch gone := []Code{CodeSkillNotFound, CodeCommandNotFound, CodeInvalidSkillName, CodeInvalidCommandName}; {
	case err == nil && (i.Plugin == "" || i.Plugin == plugin):
		text()
	case err != nil && !slices.Contains(gone, CodeOf(err)):
		return err
	case !found.hidden:
		r.block.AddMissing(string(i.Kind), i.Name)
	}
	return nil
}

func (r *restoring) restoreInstruction(ctx context.Context, o observe.Call[Event], i Item) error {
	known, text, err := r.instructionNamed(ctx, r.op, i.Name, r.hops)
	if err != nil {
		return err
	}
	if known == nil {
		switch _, err := r.Stat(ctx, i.Name); CodeOf(err) {
		case CodeNotFound:
			r.block.AddMissing(string(i.Kind), i.Name)
		case CodeFileRead, CodePermissionDenied:
			return err
		}
		return ctx.Err()
	}
	if known.Digest == "" && len(known.Diagnostics) > 0 {
		d := known.Diagnostics[0]
		return &Error{Code: CodeFileRead, Path: i.Name, Message: d.Message + "; " + d.Suggestion}
	}
	loaded := textEvent(EventLoaded, "", text)
	r.sends = append(r.sends, func() { o.Send(loaded, nil) })
	if !slices.ContainsFunc(r.shown, func(s Instruction) bool { return s.Path == known.Path && s.Digest == known.Digest }) {
		changed := i.Digest != known.Digest && promptblock.Changed(i.Digest, loaded.Digest, nil)
		r.block.Add("instruction", known.Path, known.Text, changed)
	}
	return nil
}
