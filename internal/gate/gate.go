// Package gate asks a gate about the entries of indexes, and collects the refused entries with
// their texts and problems.
package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/audit"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/servers"
)

// An Item is one state of an entry. The fields are those of toolshelf.Item.
type Item struct {
	Kind   string
	Name   string
	Layer  string
	Plugin string
	Rules  string
	File   string
	Digest string
}

// A Guard asks the gate about the entries of an index. A nil Guard allows all entries.
type Guard struct {
	Kind, Plugin string // of the entries, and of their plugins
	Index        *index.Index
	Gate         any // may have a method Version
	Allowed      func(context.Context, Item) bool
}

// Version returns the version of the answers. If the answers have no version, ok is false.
func (g *Guard) Version() (version uint64, ok bool) {
	if g == nil {
		return 0, true
	}
	versioned, ok := g.Gate.(interface{ Version() uint64 })
	if !ok {
		return 0, false
	}
	return versioned.Version(), true
}

// layerName returns the Layer of an Item.
func layerName(l index.Layer) string {
	if l.Store != nil {
		return l.Name
	}
	return l.FS.Path(l.Dir)
}

// item returns the Item of an entry of a gated layer. A file that cannot be read has no Digest.
func (g *Guard) item(e *index.Entry) Item {
	i := Item{Kind: g.Kind, Name: e.Name, Layer: layerName(g.Index.Layer(e.Layer())), Plugin: e.Plugin(), Rules: g.Index.LayerOf(e).RulesOf, File: g.Index.Below(e)}
	if seal := e.Seal(); seal != nil {
		i.Digest = seal.Digest
	}
	return i
}

// TextItem returns the Item of an instruction. An instruction without a Seal has no Digest.
func TextItem(kind string, t instruction.Text) Item {
	i := Item{Kind: kind, Name: t.Path, Layer: t.Dir, Rules: t.Rules}
	if t.Seal != nil {
		i.Digest = t.Seal.Digest
	}
	return i
}

// ServerItem returns the Item of an MCP server.
func ServerItem(kind string, s *servers.Server) Item {
	return Item{Kind: kind, Name: s.Name, Layer: s.At, Plugin: s.Plugin, Rules: s.Of, File: s.Below, Digest: s.Digest}
}

// Allows reports whether the gate allows the current content of an entry, and of the plugin of the
// entry.
func (g *Guard) Allows(ctx context.Context, e *index.Entry) bool {
	if g == nil || !g.Index.Sealed(e) {
		return true
	}
	p := e.Part()
	return (p == nil || g.AllowsPlugin(ctx, g.Index.Layer(e.Layer()), p.Plugin, p.RulesOf, p.Digest())) && g.allowsContent(ctx, e)
}

// Refused returns the entries of a snapshot that the gate does not allow.
func (g *Guard) Refused(ctx context.Context, all *index.Snapshot) (refused []*index.Entry) {
	if g == nil {
		return nil
	}
	for e := range all.Winners() {
		if !g.Allows(ctx, e) {
			refused = append(refused, e)
		}
	}
	return refused
}

// Refusal returns the reason why Allows is false, and the digest of the entry: "gate", or "link"
// for a link that leads outside. The reason of an allowed entry is "".
func (g *Guard) Refusal(ctx context.Context, e *index.Entry) (reason, digest string) {
	seal, broken := e.Seal(), e.Broken()
	switch {
	case g.Allows(ctx, e):
		return "", ""
	case seal != nil:
		return "gate", seal.Digest
	case errors.Is(broken, confine.ErrEscape), errors.Is(broken, confine.ErrSymlink):
		return "link", ""
	}
	return "gate", ""
}

// Unread returns the file or the directory that the scan could not read and because of which the
// entry of a name is unknown, or nil: all.Hidden, or the file of an entry that the gate has refused
// without a digest.
func (g *Guard) Unread(all *index.Snapshot, e *index.Entry, refused bool, names ...string) *index.Hidden {
	if refused && g != nil && g.Index.Sealed(e) && e.Unread() != nil {
		return g.Index.HiddenBy(e)
	}
	return all.Hidden(e, names...)
}

func (g *Guard) allowsContent(ctx context.Context, e *index.Entry) bool {
	i := g.item(e)
	return i.Digest != "" && g.Allowed(ctx, i)
}

// AllowsPlugin reports whether the gate allows a plugin. A plugin without a manifest, and in a
// layer without the gate, has no digest.
func (g *Guard) AllowsPlugin(ctx context.Context, l index.Layer, name, format, digest string) bool {
	return g == nil || digest == "" || g.Allowed(ctx, g.pluginItem(l, name, format, digest))
}

func (g *Guard) pluginItem(l index.Layer, name, format, digest string) Item {
	return Item{Kind: g.Plugin, Name: name, Layer: layerName(l), Plugin: name, Rules: format, Digest: digest}
}

// Decided returns the results of the optional methods Approved and Revoked of a gate.
func Decided[Item any](ctx context.Context, gate any, i Item) (approved map[string]string, revoked bool) {
	if g, ok := gate.(interface {
		Approved(context.Context, Item) map[string]string
	}); ok {
		approved = g.Approved(ctx, i)
	}
	if g, ok := gate.(interface {
		Revoked(context.Context, Item) bool
	}); ok {
		revoked = g.Revoked(ctx, i)
	}
	return approved, revoked
}

// A Refused is an entry that the gate refuses. The fields are those of toolshelf.Pending.
type Refused struct {
	Item
	Path     string
	New      map[string]string
	Problems []problem.Problem
}

// maxText is the size of the largest text in Refused.New, in bytes.
const maxText = 64 << 10

// newText returns a text of Refused.New, for a text with a SHA-256.
func newText(text string, sum [sha256.Size]byte) string {
	if len(text) > maxText || !utf8.ValidString(text) {
		return index.FileDigest(sum)
	}
	return text
}

// Servers returns the refused MCP servers.
func Servers(kind string, found servers.Result, allows func(*servers.Server) bool) (all []Refused) {
	for _, s := range found.Servers {
		if allows(s) {
			continue
		}
		r := Refused{ServerItem(kind, s), s.Path(), map[string]string{s.Key(): s.Text()}, audit.Join(s.Review())}
		for name, c := range s.Files {
			if r.New[name] = newText(c.Begin, c.Sum); strings.HasPrefix(path.Base(name), ".env") {
				r.New[name] = index.FileDigest(c.Sum) // the values are secrets
			}
		}
		all = append(all, r)
	}
	return all
}

// All returns the refused plugins, commands, skills, agents and instructions. The function allows
// reports whether an instruction is allowed, or has no gate.
func All(ctx context.Context, a *audit.Audit, guards map[client.Files]*Guard, of map[client.Files]*index.Snapshot, text string, allows func(instruction.Text) bool) ([]Refused, error) {
	all := guards[client.Commands].plugins(ctx, of[client.Commands])
	if err := a.AddBelow(ctx, of); err != nil {
		return nil, err
	}
	if skills := guards[client.Skills]; skills != nil {
		below := *skills
		below.Index, guards[client.Skills] = a.Indexes[client.Skills], &below
	}
	for _, kind := range []client.Files{client.Commands, client.Skills, client.Agents} {
		refused, err := guards[kind].entries(ctx, a, kind, of)
		if err != nil {
			return nil, err
		}
		all = append(all, refused...)
	}
	texts, err := a.Texts(ctx, of[client.Instructions])
	for _, t := range texts {
		if !allows(t) {
			all = append(all, refusedText(text, t))
		}
	}
	return all, err
}

// plugins returns the refused plugins of a snapshot. Only the first plugin of a layer with a name
// can be approved.
func (g *Guard) plugins(ctx context.Context, s *index.Snapshot) (all []Refused) {
	if g == nil {
		return nil
	}
	known, sums := make(audit.Reviews), make(index.Sums)
	for i, l := range g.Index.Layers() {
		seen := make(map[string]bool)
		for _, p := range g.Index.PluginsOf(s, i) {
			if p.Digest == "" || seen[p.Name] {
				continue
			}
			if seen[p.Name] = true; g.AllowsPlugin(ctx, l, p.Name, p.Format, p.Digest) {
				continue
			}
			r := Refused{Item: g.pluginItem(l, p.Name, p.Format, p.Digest), Path: l.FS.Path(p.File), New: make(map[string]string), Problems: audit.Plugin(p, l.Dir, known, func(file string) string { return g.Index.PlaceIn(i, file) })}
			for name, raw := range p.Raw {
				r.New[name] = newText(raw, sums.Of(raw))
			}
			all = append(all, r)
		}
	}
	return all
}

// entries returns the refused entries of a kind. An entry that changes during the call is not in
// the result. An entry that cannot be read has no digest.
func (g *Guard) entries(ctx context.Context, a *audit.Audit, kind client.Files, of map[client.Files]*index.Snapshot) (all []Refused, err error) {
	if g == nil {
		return nil, nil
	}
	check, known := a.Check(kind, of), make(map[audit.Key]Refused)
	for e := range of[kind].Files() {
		if !g.Index.Sealed(e) || e.Unread() == nil && (e.Seal() == nil || e.Broken() != nil) || g.allowsContent(ctx, e) || of[kind].Lookup(e.Name) != e {
			continue
		}
		if e.Seal() == nil {
			all = append(all, g.unread(e, e.Problems()...))
			continue
		}
		key := audit.KeyOf(g.Index, of[kind], e)
		r, ok := known[key]
		if !ok {
			r, err = g.refused(ctx, check, e)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil && index.IsFault(err) && !errors.Is(err, index.ErrChanging):
				all = append(all, g.unread(e, g.Index.Unread(e, err)))
				continue
			case err != nil:
				continue // the next scan has the next state
			}
			known[key] = r
		}
		r.Item, r.New = g.item(e), maps.Clone(r.New)
		all = append(all, r)
	}
	return all, nil
}

// unread returns a refused entry that cannot be read.
func (g *Guard) unread(e *index.Entry, problems ...problem.Problem) Refused {
	r := Refused{Item: g.item(e), Path: g.Index.LayerOf(e).FS.Path(e.Spelled()), Problems: problems}
	r.Digest = ""
	return r
}

// refused reads the files of an entry.
func (g *Guard) refused(ctx context.Context, check audit.Check, e *index.Entry) (Refused, error) {
	x := g.Index
	r := Refused{Item: g.item(e), Path: x.LayerOf(e).FS.Path(e.Spelled()), New: make(map[string]string)}
	seal := e.Seal()
	raw := make(map[string][]byte)
	for _, f := range seal.Files {
		text, err := x.ReadSealed(ctx, e, f.Name)
		if err != nil {
			return r, err
		}
		raw[f.Name], r.New[f.Name] = text, newText(string(text), f.Sum)
	}
	r.Problems = check(ctx, e, raw)
	for _, o := range seal.Omitted {
		if o.Type == fs.ModeDir {
			n, all := x.CountOmitted(ctx, e, o.Name, maxCounted)
			r.Problems = append(r.Problems, uncovered(path.Join(path.Dir(x.Place(e)), escape.Path(o.Name)), n, all))
		}
	}
	return r, nil
}

// maxCounted is the number of files that uncovered reports.
const maxCounted = 10_000

// uncovered returns the problem of a directory of a skill with the number of its files, or of those
// that were counted.
func uncovered(place string, files int, all bool) problem.Problem {
	number := strconv.Itoa(files)
	if !all {
		number += " or more"
	}
	return problem.Problem{Code: problem.UncoveredFiles, Severity: problem.Warning, Path: place,
		Message:    "the digest covers that the directory exists, and none of its " + number + " files",
		Suggestion: "remove the directory, or approve the skill only if nobody else writes into the directory"}
}

// refusedText returns a refused instruction.
func refusedText(kind string, t instruction.Text) Refused {
	r := Refused{Item: TextItem(kind, t), Path: t.File, New: make(map[string]string), Problems: t.Problems}
	for name, raw := range t.Raw {
		shown := name
		if len(t.Raw) == 1 {
			shown = path.Base(name)
		}
		r.New[shown] = newText(raw, t.Seal.SumOf(name, nil))
	}
	return r
}
