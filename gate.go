package toolshelf

import (
	"context"
	"slices"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/gate"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
	"github.com/toolshelf-go/toolshelf/internal/layers"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/servers"
)

// An Item is one state of an entry about which a [Gate] decides.
type Item struct {
	Kind   Kind
	Name   string // as in a list; of an Instruction, the Path
	Layer  string // full path of the directory of the layer, unlike Layer of a list; of a layer on an fs.FS, the name given to the option
	Plugin string // the name of the plugin, or ""

	// Rules names the rules of the text: the Name of the client of [WithClient] or
	// [WithInstructions], of a file of a plugin the manifest of the format, such as
	// ".cursor-plugin/plugin.json", and otherwise "". A plugin has the format also without the
	// manifest.
	Rules string

	File string // of a command, a skill and an agent: the path of the file below Layer; otherwise "", because the Name or the Digest has the paths

	// Digest is "sha256:" and the SHA-256 of the file in 64 lowercase hexadecimal digits. The
	// digest of several files begins with another word: "skill-sha256:" with all files of a skill;
	// "list-sha256:" with a command in TOML and its file name; "instruction-sha256:" with an
	// instruction and all files that its imports reach; "plugin-sha256:" with the manifest and the
	// part of the marketplace that concerns the plugin. A skill with more than 512 files or 64 MiB,
	// imports beyond the limits of [Imports], and a file that cannot be read, have the Digest "".
	// The document docs/trust.md has the hashed text.
	Digest string
}

// A Gate decides which entries of a catalog may be used. The type Store of package trust is a Gate
// that keeps the decisions of a user in a file. A Gate that compares only the Digest of an Item
// allows the bytes in another place and by other rules.
//
// Several goroutines call Allowed, for each entry of each list. Allowed must not wait, and must not
// call the catalog. A Gate may have further methods:
//
//	Version() uint64                                            // while the result is the same, all answers of Allowed are the same
//	Approved(ctx context.Context, i Item) map[string]string     // the approved texts of the item, for Pending.Old
//	Revoked(ctx context.Context, i Item) bool                   // for Pending.Revoked
type Gate interface {
	Allowed(ctx context.Context, i Item) bool
}

// WithGate shows the entries of the layers only if g allows them by their content. An entry that g
// does not allow is in no list, search, prompt or result. The bytes that a caller gets are the
// bytes of the allowed digest. [Catalog.Pending] returns the refused entries. The file methods,
// such as [Catalog.ReadFile], and [Catalog.Lint] have no gate.
//
// The layers are names of layers, as in the field Layer. A name without a layer is
// [ErrInvalidOption]. Without layers, g decides about every layer in the catalog's filesystem
// except the directories of the user. The name of a place of a client, such as ".cursor/rules",
// concerns the same place in each directory below and above the root. A refused entry hides an
// entry of the same name in a lower layer, and a refused plugin all its entries.
//
// A scan reads each new or changed file of a gated layer as a whole, and lists the files of each
// skill. The document docs/trust.md has the details.
func WithGate(g Gate, layers ...string) Option {
	layers = slices.Clone(layers)
	return optionFunc(func(c *config) {
		c.require(g != nil, "WithGate: the gate is nil; omit the option, or pass a gate")
		c.require(c.gate == nil, "WithGate: the catalog has a gate; give the option once")
		c.gate, c.gated = g, layers
	})
}

// checkGate fails for a name of WithGate without a layer.
func (c *config) checkGate() {
	for _, name := range c.gated {
		known := slices.ContainsFunc(c.allLayers(), func(l layer) bool { return l.Name == name })
		c.require(known || instruction.HasSingle(c.rows(), name) || servers.HasLayer(c.placed, name),
			"WithGate: no layer has the name %q; use a name that another option gives, or Layer of a "+
				"list", name)
	}
}

// gates reports whether WithGate concerns a layer or an instruction with one of the names. Without
// names of layers, WithGate concerns the files of the project.
func (c *config) gates(ofProject bool, names ...string) bool {
	if c.gate == nil || len(c.gated) == 0 {
		return c.gate != nil && ofProject
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c.gated, name) })
}

// isGated reports whether WithGate concerns a layer. A name concerns the place also in the
// directories above the root.
func (c *config) isGated(l layer) bool {
	names := []string{l.Name}
	if l.Parent != "" {
		names = append(names, l.Place.Path())
	}
	return c.gates(l.FS == nil && l.Place.Base == client.Project, names...)
}

// allowsText reports whether the gate allows an instruction. A name concerns the place also in the
// directories below and above the root.
func (c *config) allowsText(ctx context.Context, t instruction.Text) bool {
	i := textItem(t)
	return !c.gates(!t.User, t.Place) || i.Digest != "" && c.gate.Allowed(ctx, i)
}

func newItem(i gate.Item) Item {
	return Item{Kind(i.Kind), i.Name, i.Layer, i.Plugin, i.Rules, i.File, i.Digest}
}

func textItem(t instruction.Text) Item { return newItem(gate.TextItem(string(KindInstruction), t)) }

// A guard is nil without a gated layer.
type guard = gate.Guard

type filter = gate.Filter

type layer = layers.Layer

// newGuard seals the gated layers of a collection.
func (c *config) newGuard(kind string, layers []layer, opened []index.Layer) *guard {
	if Kind(kind) == KindInstruction {
		return nil // the gate decides about the bytes that a call reads
	}
	for i, l := range layers {
		opened[i].Sealed = c.isGated(l)
	}
	if !slices.ContainsFunc(opened, func(l index.Layer) bool { return l.Sealed }) {
		return nil
	}
	allowed := func(ctx context.Context, i gate.Item) bool { return c.gate.Allowed(ctx, newItem(i)) }
	return &guard{Kind: kind, Plugin: string(KindPlugin), Gate: c.gate, Allowed: allowed}
}

// A Pending is an entry that the gate of [WithGate] refuses.
type Pending struct {
	Item
	Path    string // full path of the file; of a skill, the path of SKILL.md; of a plugin, of the manifest or else of the marketplace
	Revoked bool   // the gate has a Revoked method, which returns true for the item

	// Old and New have the texts of the files by their paths: relative to the directory of a skill,
	// of an instruction with imports relative to the root, of a plugin relative to the directory of
	// the layer, and otherwise the base name. The text of a marketplace has only what concerns the
	// plugin. New has the present files, and Old the files of the approved state if the gate has an
	// Approved method. A file that is not UTF-8, or has more than 64 KiB, has "sha256:" and its
	// digest instead of its text.
	Old, New map[string]string

	// Findings are the diagnostics of [Catalog.Lint] for the files, and the parts of the texts that
	// a person has to see: shell commands, allowed tools, URLs, programs, and hidden characters in
	// all files (DiagRunsCommand and the following codes of package agentmd). No list of patterns is complete: an
	// entry without Findings can harm too.
	Findings []Diagnostic
}

// Pending returns the entries that the gate of [WithGate] refuses: the plugins, the commands, the
// skills, the agents, the instructions and the MCP servers, each in the order of the lists, and the
// instructions as in [Catalog.Lint] without ignored directories. An approval of a Pending concerns
// exactly the texts in New. Without a gate, the result is empty.
//
// Pending returns the errors of the lists for unreadable directories, except for missing
// directories. Pending costs as much as the lists and FindFiles, and reads each file of each
// refused entry.
func (c *Catalog) Pending(ctx context.Context) ([]Pending, error) {
	const op = "Pending"
	if err := c.begin(ctx, op); err != nil || c.config.gate == nil {
		return nil, err
	}
	of, guards := map[client.Files]*index.Snapshot{}, map[client.Files]*guard{}
	for _, k := range c.kinds() {
		snapshot, err := k.optionalSnapshot(ctx, op)
		if _, missing := missingDirectory(err); err != nil && !missing {
			return nil, err
		}
		of[k.kind], guards[k.kind] = snapshot, k.filter.Guard
	}
	refused, err := await(ctx, c, func(ctx context.Context) ([]gate.Refused, error) {
		all, err := gate.All(ctx, c.newAudit(lint.Default()), guards, of, string(KindInstruction),
			func(t instruction.Text) bool { return c.config.allowsText(ctx, t) })
		return all, (&fileCall{catalog: c, op: op, dir: true, name: "."}).failure(ctx, err)
	})
	if err != nil {
		return nil, c.methodError(op, err)
	}
	found, err := c.findServers(ctx, op, of[client.Commands], nil)
	refused = append(refused, gate.Servers(string(KindMCPServer), found,
		func(s *servers.Server) bool { return c.allowsServer(ctx, s) })...)
	all := make([]Pending, len(refused))
	for i, r := range refused {
		all[i] = Pending{Item: newItem(r.Item), Path: r.Path, New: r.New, Findings: newDiagnostics(r.Problems)}
		all[i].Old, all[i].Revoked = gate.Decided(ctx, c.config.gate, all[i].Item)
	}
	return all, err
}
