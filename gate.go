package toolshelf

import (
	"context"
	"crypto/sha256"
	"errors"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
)

// An Item is one state of an entry about which a [Gate] decides.
type Item struct {
	Kind   Kind
	Name   string // as in a list; of an Instruction, the Path
	Layer  string // full path of the directory of the layer; of a layer on an fs.FS, the name given to the option
	Plugin string // the name of the plugin, or ""

	// Digest is "sha256:" and 64 lowercase hexadecimal digits: the SHA-256 of the file. The digest of a skill is the SHA-256 of the output of
	// sha256sum for all files of the skill, sorted by path; of an instruction with imports, for the file and all files that the imports
	// reach. A skill with more than 512 files or 64 MiB, imports beyond the limits of [Imports], and a
	// file that cannot be read, have the Digest "".
	Digest string
}

// A Gate decides which entries of a catalog may be used. The type Store of package trust is a Gate that keeps the decisions
// of a user in a file.
//
// Several goroutines call Allowed, for each entry of each list. Allowed must not wait, and must not call the
// catalog. A Gate may have two further methods:
//
//	Version() uint64                                            // while the result is the same, all answers of Allowed are the same
//	Approved(ctx context.Context, i Item) map[string]string     // the approved texts of the item, for Pending.Old
type Gate interface {
	Allowed(ctx context.Context, i Item) bool
}

// WithGate shows the entries of the layers only if g allows them by their content. An entry that g does not allow is not
// listed, read, rendered or searched, and is in no prompt and no result of MCP. The bytes that a caller gets are the bytes of
// the allowed digest. [Catalog.Pending] returns the refused entries. The file methods, such as [Catalog.ReadFile], and [Catalog.Lint] have no gate.
//
// The layers are names of layers, as given to the options and in the field Layer. A name without a layer is [ErrInvalidOption].
// Without layers, g decides about every layer in the catalog's filesystem except the directories of the user. The name of a place of
// instructions, such as "." and ".cursor/rules", concerns the same place in each directory below and above the root. A refused
// entry hides an entry of the same name in a lower layer, as with [WithCommandFilter].
//
// A scan reads each new or changed file of a gated layer as a whole, and lists the files of each skill. A file that changes
// after the scan is scanned again before a method returns its content. The document docs/trust.md has the details.
func WithGate(g Gate, layers ...string) Option {
	layers = slices.Clone(layers)
	return optionFunc(func(c *config) error {
		if g == nil {
			return invalidOption("WithGate: the gate is nil; omit the option, or pass a gate")
		}
		if c.gate != nil {
			return invalidOption("WithGate: the catalog has a gate; give the option once")
		}
		c.gate, c.gated = g, layers
		return nil
	})
}

// checkGate returns an error for a name of WithGate without a layer.
func (c *config) checkGate() error {
	for _, name := range c.gated {
		if !slices.ContainsFunc(c.allLayers(), func(l layer) bool { return l.name == name }) && !instruction.HasSingle(c.rows(), name) {
			return invalidOption("WithGate: no layer has the name " + quote(name) + "; use a name that another option gives, or Layer of a list")
		}
	}
	return nil
}

// isGated reports whether WithGate concerns a layer.
func (c *config) isGated(l layer) bool {
	switch {
	case c.gate == nil:
		return false
	case len(c.gated) > 0:
		return slices.Contains(c.gated, l.name)
	}
	return l.fsys == nil && l.place.Base == client.Project
}

// A guard asks the gate about the entries of a collection. A nil guard allows all entries.
type guard struct {
	gate  Gate
	kind  Kind
	index *index.Index
}

// gatesText reports whether WithGate concerns an instruction. A name concerns the place also in the directories below and above
// the root.
func (c *config) gatesText(t instruction.Text) bool {
	switch {
	case c.gate == nil:
		return false
	case len(c.gated) > 0:
		return slices.Contains(c.gated, t.Place)
	}
	return !t.User
}

// textItem returns the Item of an instruction. An instruction without a Seal has no Digest.
func textItem(t instruction.Text) Item {
	i := Item{Kind: KindInstruction, Name: t.Path, Layer: t.Dir}
	if t.Seal != nil {
		i.Digest = t.Seal.Digest
	}
	return i
}

// allowsText reports whether the gate allows an instruction.
func (c *config) allowsText(ctx context.Context, t instruction.Text) bool {
	i := textItem(t)
	return !c.gatesText(t) || i.Digest != "" && c.gate.Allowed(ctx, i)
}

// newGuard seals the gated layers of a collection.
func (c *config) newGuard(kind Kind, layers []layer, opened []index.Layer) *guard {
	if kind == KindInstruction {
		return nil // the gate decides about the bytes that a call reads
	}
	for i, l := range layers {
		opened[i].Sealed = c.isGated(l)
	}
	if !slices.ContainsFunc(opened, func(l index.Layer) bool { return l.Sealed }) {
		return nil
	}
	return &guard{gate: c.gate, kind: kind}
}

// item returns the Item of an entry of a gated layer. A file that cannot be read has no Digest.
func (g *guard) item(e *index.Entry) Item {
	i := Item{Kind: g.kind, Name: e.Name, Layer: itemLayer(g.index.Layer(e.Layer())), Plugin: e.Plugin()}
	if seal := e.Seal(); seal != nil {
		i.Digest = seal.Digest
	}
	return i
}

func itemLayer(l index.Layer) string {
	if l.Store != nil {
		return l.Name
	}
	return l.FS.Path(l.Dir)
}

// allows reports whether the gate allows the current content of an entry.
func (g *guard) allows(ctx context.Context, e *index.Entry) bool {
	if g == nil || !g.index.Sealed(e) {
		return true
	}
	i := g.item(e)
	return i.Digest != "" && g.gate.Allowed(ctx, i)
}

// version returns the version of the answers. If the answers have no version, ok is false.
func (g *guard) version() (version uint64, ok bool) {
	if g == nil {
		return 0, true
	}
	versioned, ok := g.gate.(interface{ Version() uint64 })
	if !ok {
		return 0, false
	}
	return versioned.Version(), true
}

// A Pending is an entry that the gate of [WithGate] refuses.
type Pending struct {
	Item
	Path string // full path of the file; of a skill, the path of SKILL.md

	// Old and New have the texts of the files by their paths: relative to the directory of a skill, of an instruction with imports
	// relative to the root, and otherwise the base name. New has
	// the present files, and Old the files of the approved state if the gate has an Approved method. A file that is not
	// UTF-8, or has more than 64 KiB, has "sha256:" and its digest instead of its text.
	Old, New map[string]string

	// Findings are the defects of the header and of the files, as in the Diagnostics of a list. Lint finds more.
	Findings []Diagnostic
}

// maxPendingText is the size of the largest text in a Pending, in bytes.
const maxPendingText = 64 << 10

// Pending returns the entries that the gate of [WithGate] refuses, first the commands, then the skills, the agents and the instructions,
// each in the order of the lists. The instructions are of the root, above, and below except for ignored directories and
// directories of dependencies, as in [Catalog.Lint]. An approval of a Pending concerns exactly the texts in New. Without a gate, the result is
// empty.
//
// Pending returns the errors of the lists for unreadable directories, except for missing directories. Pending costs as much as the lists and FindFiles, and reads
// each file of each refused entry.
func (c *Catalog) Pending(ctx context.Context) ([]Pending, error) {
	const op = "Pending"
	if err := c.begin(ctx, op); err != nil || c.config.gate == nil {
		return nil, err
	}
	all, err := pendingIn(ctx, c, c.commands, op, nil)
	if err == nil {
		all, err = pendingIn(ctx, c, c.skills, op, all)
	}
	if err == nil {
		all, err = pendingIn(ctx, c, c.agents, op, all)
	}
	if err == nil {
		all, err = c.pendingTexts(ctx, op, all)
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// pendingIn appends the refused entries of a collection.
func pendingIn[Info any](ctx context.Context, c *Catalog, in *collection[Info], op string, all []Pending) ([]Pending, error) {
	g := in.filter.guard
	if g == nil {
		return all, nil
	}
	snapshot, err := in.optionalSnapshot(ctx, op)
	if err != nil {
		return nil, err
	}
	for e := range snapshot.Files() {
		if seal := e.Seal(); seal == nil || e.Broken() != nil || g.allows(ctx, e) || snapshot.Lookup(e.Name) != e {
			continue
		}
		p, err := await(ctx, c, func(ctx context.Context) (Pending, error) { return pendingEntry(ctx, in, e) })
		switch {
		case errors.Is(err, index.ErrChanging):
			continue // the next call has the next state
		case err != nil:
			return nil, c.methodError(op, err)
		}
		all = append(all, c.withOld(ctx, p))
	}
	return all, nil
}

// withOld sets Pending.Old.
func (c *Catalog) withOld(ctx context.Context, p Pending) Pending {
	if approved, ok := c.config.gate.(interface {
		Approved(context.Context, Item) map[string]string
	}); ok {
		p.Old = approved.Approved(ctx, p.Item)
	}
	return p
}

// pendingTexts appends the refused instructions.
func (c *Catalog) pendingTexts(ctx context.Context, op string, all []Pending) ([]Pending, error) {
	rules, err := c.instructions.optionalSnapshot(ctx, op)
	if err != nil {
		return nil, err
	}
	texts, err := await(ctx, c, func(ctx context.Context) ([]instruction.Text, error) { return c.finder.All(ctx, rules) })
	if err != nil {
		return nil, c.methodError(op, err)
	}
	for _, t := range texts {
		if c.config.allowsText(ctx, t) {
			continue
		}
		p := Pending{Item: textItem(t), Path: t.File, New: map[string]string{}, Findings: newDiagnostics(t.Problems)}
		for name, raw := range t.Raw {
			if len(t.Raw) == 1 {
				name = path.Base(name)
			}
			p.New[name] = pendingText([]byte(raw))
		}
		all = append(all, c.withOld(ctx, p))
	}
	return all, nil
}

// pendingText returns a text of Pending.New.
func pendingText(raw []byte) string {
	if len(raw) > maxPendingText || !utf8.Valid(raw) {
		return index.FileDigest(sha256.Sum256(raw))
	}
	return string(raw)
}

// pendingEntry reads the files of an entry.
func pendingEntry[Info any](ctx context.Context, in *collection[Info], e *index.Entry) (Pending, error) {
	p := Pending{Item: in.filter.guard.item(e), Path: in.LayerOf(e).FS.Path(e.Spelled()), New: map[string]string{}}
	seal := e.Seal()
	for _, f := range seal.Files {
		text, err := in.ReadSealed(ctx, e, f.Name)
		if err != nil {
			return Pending{}, err
		}
		p.New[f.Name] = pendingText(text)
	}
	problems := slices.Clone(e.Problems())
	if seal.Problem != nil {
		problems = append(problems, *seal.Problem)
	}
	p.Findings = newDiagnostics(problems)
	return p, nil
}
