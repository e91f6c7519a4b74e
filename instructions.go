package toolshelf

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
	"github.com/toolshelf-go/toolshelf/internal/layers"
	"github.com/toolshelf-go/toolshelf/internal/observe"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/promptblock"
	"github.com/toolshelf-go/toolshelf/internal/search"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// An Instruction is a text that applies to a file of the project: an AGENTS.md, or a rule such as
// .cursor/rules/go.mdc.
type Instruction struct {
	Path        string       `json:"path"`                  // relative to the root, as in "services/api/AGENTS.md", "../AGENTS.md" and "~/.claude/CLAUDE.md"
	Layer       string       `json:"layer"`                 // the directory of the place, as in "services/api" and ".cursor/rules"
	Scope       string       `json:"scope"`                 // the directory to whose files the instruction can apply; "~" for all projects of the user
	Text        string       `json:"text"`                  // without the header; "" if the file cannot be read
	Description string       `json:"description,omitempty"` // of the header
	Digest      string       `json:"digest,omitempty"`      // "sha256:" and the hexadecimal digest of Text
	Mode        Mode         `json:"mode"`
	Globs       []string     `json:"globs,omitempty"`       // of the header of a rule, as written
	Imports     []string     `json:"imports,omitempty"`     // the files whose texts are in Text; see Imports
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"` // defects of the file; see DiagnosticCode
}

// A Mode states when an [Instruction] applies.
type Mode string

const (
	Always    Mode = "always"     // to each file below Scope
	OnMatch   Mode = "on_match"   // to a file whose path a glob matches
	OnRequest Mode = "on_request" // if the model or the user chooses the rule by its description
)

// WithInstructions reads the instructions of the clients: the single files and the rules of the
// field Instructions of each row. Without WithInstructions, the catalog reads each AGENTS.md, and
// CLAUDE.md in a directory without an AGENTS.md. Without arguments, WithInstructions reads nothing.
//
// The files above the root are read with [WithParents] only, and the files of the user are the
// files of [WithHome]. A row that has no place of instructions, or that is not valid, is
// [ErrInvalidOption].
func WithInstructions(clients ...client.Client) Option {
	return optionFunc(func(c *config) {
		rules, err := layers.Rules(clients)
		c.require(err == nil, "WithInstructions: %v", err)
		c.instructions.AddPlaces(rules)
		c.readers, c.clients = append(c.readers, clients...), true
	})
}

// WithInstructionFilter shows only the instructions for which keep returns true. Keep sees each
// instruction as the call returns the instruction, with the texts of the imports. To every method,
// a refused instruction does not exist, except that a fallback or a copy of the file stays omitted.
// An import of a refused instruction of the path stays as text. Each call calls keep for each
// instruction of the path. The other rules of [WithCommandFilter] apply.
func WithInstructionFilter(keep func(Instruction) bool) Filter {
	return func(f *filterFuncs) error {
		return addFilter(&f.instructions, keep, "WithInstructionFilter", "instructions")
	}
}

// An InstructionOption is an option of [Catalog.Instructions] and [Catalog.InstructionsPrompt], and
// a [PromptOption] of [Catalog.RestorePrompt].
type InstructionOption interface {
	PromptOption
	ofInstructions()
}

type instructionOption func(*promptOptions)

func (f instructionOption) applyPrompt(o *promptOptions) { f(o) }
func (instructionOption) ofInstructions()                {}

// Imports replaces @path in a text by the text of the file, over at most the given number of hops.
// The path is relative to the file with the import. With 0, each client follows the number of its
// row, such as 4 for Claude Code.
//
// Imports does not replace code, a path that leads out of the root, or for a file of the user out
// of the directory of the place, and an import of a file that contains the import. The imports of a
// call add at most 1 MiB and are at most 1,000, also the refused imports, first those of the
// nearest text. An import that is not followed stays as text, with a diagnostic. A text such as
// @types/node, which leads to no file, is no import.
func Imports(hops int) InstructionOption {
	return instructionOption(func(o *promptOptions) {
		o.hops = cmp.Or(hops, instruction.HopsOfClient)
		if hops < 0 && o.err == nil {
			o.err = invalidOption("Imports: " + strconv.Itoa(hops) + " hops; use 0 or more")
		}
	})
}

// Except omits the instructions that a program has shown to the model: the instructions with the
// path and the digest of a given instruction. A file that has changed since is not omitted.
func Except(shown ...Instruction) InstructionOption {
	shown = slices.Clone(shown)
	return instructionOption(func(o *promptOptions) { o.shown = append(o.shown, shown...) })
}

// instructionNamed returns the instruction with a path, and its text: nil if the filter or the gate
// refuses the instruction, or if the file does not exist.
func (c *Catalog) instructionNamed(ctx context.Context, op, name string, hops int) (*Instruction, instruction.Text, error) {
	dir := path.Dir(name)
	if strings.HasPrefix(name, "~") || !filepath.IsLocal(dir) {
		dir = "."
	}
	call := &fileCall{catalog: c, op: op, path: dir, dir: true, name: dir}
	list, answer, err := c.findInstructions(ctx, call, instruction.Query{Name: dir, Hops: hops}, observe.Call[Event]{})
	if i := slices.IndexFunc(list, func(i Instruction) bool { return i.Path == name }); i >= 0 {
		return &list[i], answer.Texts[i], nil
	}
	if err != nil {
		return nil, instruction.Text{}, err
	}
	rules, err := c.instructions.optionalSnapshot(ctx, op)
	if err != nil {
		return nil, instruction.Text{}, err
	}
	e := c.finder.Files(nil, func(*index.Entry) bool { return true })(rules)[name]
	if e == nil {
		return nil, instruction.Text{}, nil
	}
	t, err := await(ctx, c, func(ctx context.Context) (instruction.Text, error) { return c.finder.Rule(ctx, e, hops) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, t, err
	}
	if i := newInstruction(t); err == nil && (t.Unread() != "" || c.config.allowsText(ctx, t) && keeps(c.keep.instructions, i)) {
		return &i, t, nil
	}
	return nil, t, ctx.Err()
}

// Instructions returns the instructions for a file or a directory of the project, which may be
// missing, the most general first: the files of the user, of the directories above the root, of the
// root, and of each directory down to the path, each with the rules that always apply there; then
// the rules whose globs match the path; then the rules on request. Empty files are omitted. Without
// [WithInstructions], the only instructions are each AGENTS.md, or else CLAUDE.md.
//
// A file that cannot be read has no Text, and the reason in Diagnostics. Instructions returns
// [ErrOutsideRoot] for a path that leads out of the root, and the errors of unreadable directories
// that [Catalog.List] describes. The document docs/instructions.md has the table of the clients,
// the caches and the cost.
func (c *Catalog) Instructions(ctx context.Context, path string, opts ...InstructionOption) ([]Instruction, error) {
	list, _, err := c.instructionsFor(ctx, "Instructions", path, opts)
	return list, err
}

// InstructionsPrompt returns the instructions for a path as a <project_instructions> block, with
// the source of each text, the nearest last. Of a rule on request, the block has the description
// only. Included has the paths of the instructions. [Budget] and [Tokens] first cut the most
// general text, and the block states the number of omitted and shortened texts. A text can neither
// end the block nor begin another block. The errors are the errors of Instructions.
func (c *Catalog) InstructionsPrompt(ctx context.Context, path string, opts ...InstructionOption) (PromptList, error) {
	list, o, err := c.instructionsFor(ctx, "InstructionsPrompt", path, opts)
	if err != nil {
		return PromptList{}, err
	}
	var block promptblock.Instructions
	for _, i := range list {
		block.Add(i.Path, i.Text, i.Description, i.Mode == OnRequest)
	}
	result, _, err := block.Fit(ctx, o.budget)
	for _, i := range list {
		if i.Text == "" && len(i.Diagnostics) > 0 { // the file cannot be read
			result.Dropped = append(result.Dropped, i.Path)
		}
	}
	return PromptList(result), err
}

// instructionsFor returns the result of Instructions, and the options.
func (c *Catalog) instructionsFor(ctx context.Context, op, path string, opts []InstructionOption) ([]Instruction, promptOptions, error) {
	o, err := newPromptOptions(opts)
	if err = cmp.Or(c.begin(ctx, op), err); err != nil {
		return nil, o, inOp(op, err)
	}
	call := fileCall{catalog: c, op: op, path: path, dir: true}
	seen := c.observer.Begin(ctx)
	list, err := c.resolveInstructions(ctx, &call, o, seen)
	if err != nil {
		err = c.methodError(op, err)
	}
	seen.Send(Event{Action: EventListed, Kind: KindInstruction, Path: path, Count: len(list)}, err)
	return list, o, err
}

func (c *Catalog) resolveInstructions(ctx context.Context, call *fileCall, o promptOptions, seen observe.Call[Event]) (list []Instruction, err error) {
	if err := call.resolve(); err != nil {
		return nil, err
	}
	found, answer, err := c.findInstructions(ctx, call, instruction.Query{Name: call.name, Hops: o.hops}, seen)
	if err != nil {
		return nil, err
	}
	c.asked.Add(o.hops, answer)
	list = found[:0]
	for n, i := range found {
		if !slices.ContainsFunc(o.shown, func(known Instruction) bool { return known.Path == i.Path && known.Digest == i.Digest }) {
			list = append(list, i)
			seen.Send(textEvent(EventLoaded, "", answer.Texts[n]), nil)
		}
	}
	return list, nil
}

// textEvent returns the event of an instruction. A link that leads outside is refused.
func textEvent(action, reason string, t instruction.Text) Event {
	code := t.Unread()
	if code == problem.LinkNotFollowed {
		action, reason, code = EventRefused, "link", problem.FileRead
	}
	return Event{Action: action, Reason: reason, Kind: KindInstruction, Name: t.Path, Layer: t.Layer, Digest: cmp.Or(textItem(t).Digest, t.Digest), Bytes: len(t.Text), Code: Code(code)}
}

// findInstructions returns the instructions that pass the filter, and their texts. The events of
// seen are the refused instructions.
func (c *Catalog) findInstructions(ctx context.Context, call *fileCall, query instruction.Query, seen observe.Call[Event]) ([]Instruction, instruction.Answer, error) {
	var rules *index.Snapshot
	for {
		answer, kept := c.finder.Kept(query)
		if !kept {
			var err error
			if rules == nil {
				rules, err = c.instructions.optionalSnapshot(ctx, call.op)
			}
			if err == nil {
				answer, err = await(ctx, c, func(ctx context.Context) (instruction.Answer, error) {
					answer, err := c.finder.Find(ctx, query, rules)
					return answer, call.failure(ctx, err)
				})
			}
			if err != nil {
				return nil, answer, err
			}
		}
		refused := len(query.Refused)
		list := make([]Instruction, 0, len(answer.Texts))
		for _, t := range answer.Texts {
			i, e := newInstruction(t), textEvent(EventRefused, "gate", t)
			if c.config.allowsText(ctx, t) {
				if keeps(c.keep.instructions, i) {
					list = append(list, i)
					continue
				}
				e.Reason, e.Digest = "filter", ""
			}
			e.Bytes, e.Code, query.Refused = 0, "", append(query.Refused, i.Path)
			seen.Send(e, nil)
		}
		if len(query.Refused) == refused { // otherwise a text can have a refused text as an import, or be cut after a refused text
			return list, answer, nil
		}
	}
}

func newInstruction(t instruction.Text) Instruction {
	return Instruction{t.Path, t.Layer, t.Scope, t.Text, t.Description, t.Digest, Mode(t.Mode), slices.Clone(t.Globs), slices.Clone(t.Imports), newDiagnostics(t.Problems)}
}

// shownRules returns a function that returns the rules of a snapshot that pass the filter.
func (c *Catalog) shownRules() func(*index.Snapshot) map[string]*index.Entry {
	if len(c.keep.instructions) == 0 && c.config.gate == nil {
		return c.finder.Files(nil, func(*index.Entry) bool { return true })
	}
	return c.finder.Files(c.instructions.Last(), func(e *index.Entry) bool {
		t, err := await(context.Background(), c, func(ctx context.Context) (instruction.Text, error) { return c.finder.Rule(ctx, e, 0) })
		return err == nil && c.config.allowsText(context.Background(), t) && keeps(c.keep.instructions, newInstruction(t))
	})
}

// instructionsSince returns the changes.List.Since of a subscription: the differences of the rules,
// and of the single files of the directories that calls have asked for.
func (c *Catalog) instructionsSince() func(before, now *index.Snapshot) changes.Names {
	rules := c.shownRules()
	singles := c.asked.Follow(func(q instruction.Query) (instruction.Answer, error) {
		call := &fileCall{catalog: c, op: "OnChange", path: q.Name, dir: true, name: q.Name}
		_, answer, err := c.findInstructions(c.lifetime, call, q, observe.Call[Event]{})
		return answer, err
	})
	return func(before, now *index.Snapshot) (n changes.Names) {
		changes.Add(&n, rules(before), rules(now))
		singles(&n) // last, because a filter in rules can panic
		return n
	}
}

// rows returns the clients whose instructions the catalog reads.
func (c *config) rows() []client.Client {
	if !c.instructions.Replaced {
		return instruction.Default
	}
	return c.readers
}

// newInstructions returns the rules of a new catalog, and sets the finder. The error is the error
// of the watch.
func (c *Catalog) newInstructions(user userDirs) (*collection, error) {
	f := &instruction.Finder{Rows: c.config.rows(), MaxSize: c.config.maxFileSize, Root: instruction.Tree{FS: c.root, Dir: ".", Name: ".", MayBeMissing: c.files.RootIsTop()}}
	for _, parent := range c.parents {
		f.Parents = append(f.Parents, instruction.Tree{FS: c.files.Confine(parent.Dir), Dir: ".", Name: parent.Name, Path: parent.Dir, Below: c.at.Below(parent),
			Foreign: func(file string) bool { return c.at.OfOtherUser(c.files.FS(), parent.Dir, file) }})
	}
	f.Open(func(p client.Place) (fsys *confine.FS, dir string) {
		if user[p.Base] != "" {
			fsys, dir = c.files.Locate(filepath.Join(user[p.Base], p.Dir))
		}
		return fsys, dir
	}, func(p client.Place) (string, bool) {
		return c.at.OfUser(c.config.home, p.Base == client.Config, p.Dir)
	})
	for _, l := range c.config.instructions.All {
		f.AddRules(l.Place.Place, l.Parent)
	}
	rules := &collection{filter: new(filter), layers: c.config.instructions.All, texts: new(index.Texts[[]byte]), noun: "instruction"}
	rules, err := rules.open(c, user, client.Instructions, f.Retain, index.Config{Broken: true}, search.Config{})
	if err == nil {
		f.Rules, c.finder = rules.Index, f
	}
	if err == nil && c.config.watch {
		list := len(c.indexes) - 1
		f.Observer = watch.NewObserver(f.Watched(), func() { c.changes.Notify(list, rules.Last()) })
	}
	return rules, err
}
