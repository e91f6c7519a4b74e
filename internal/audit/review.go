package audit

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Checker returns the problems of single entries for a person who decides about an approval: the
// problems that Of finds, and the problems that package lint finds in a review. A Checker works on
// the given bytes, and is not safe for concurrent use.
type Checker struct {
	audit   *Audit
	kind    client.Files
	check   func(*index.Entry, lint.File) []problem.Problem
	beside  func(context.Context, *index.Entry) []problem.Problem
	scanned map[string][]problem.Problem // by path
}

// Checker returns a Checker for the entries of a snapshot.
func (a *Audit) Checker(kind client.Files, of map[client.Files]*index.Snapshot) *Checker {
	c := &Checker{audit: a, kind: kind, scanned: make(map[string][]problem.Problem)}
	c.check, c.beside = a.checks(kind, of)
	for _, p := range scanned(of[kind]) {
		c.scanned[p.Path] = append(c.scanned[p.Path], p)
	}
	return c
}

// Entry returns the problems of the files of an entry. The names of the files are those of the Seal
// of the entry.
func (c *Checker) Entry(ctx context.Context, e *index.Entry, files map[string][]byte) []problem.Problem {
	x := c.audit.Indexes[c.kind]
	place, own := x.Place(e), e.Seal().Own()
	found := slices.Concat(c.scanned[place], text(x, e, files[own], c.check), c.beside(ctx, e))
	found = c.audit.Profile.Judge(c.kind, found)
	doc, _ := matter.ParseFile(e.Path, files[own], true)
	found = append(found, lint.Review(c.kind, lint.File{Path: place, Raw: files[own], Doc: doc})...)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != own {
			found = append(found, lint.ReviewBeside(path.Join(path.Dir(place), escape.Path(name)), files[name])...)
		}
	}
	return Join(found)
}

// Texts returns the instructions of Finder.Check. The Problems of a text are those that Of finds, and
// those of a review.
func (a *Audit) Texts(ctx context.Context, rules *index.Snapshot) ([]instruction.Text, error) {
	all, err := a.Finder.Check(ctx, rules, a.single, a.rule)
	texts := all.Texts
	imported := make(Reviews)
	for i, t := range texts {
		for _, name := range slices.Sorted(maps.Keys(t.Raw)) {
			if name != t.Path {
				t.Problems = append(t.Problems, imported.of(escape.Path(name), t.Raw[name])...)
				continue
			}
			raw := []byte(t.Raw[name])
			doc, _ := matter.Parse(raw, true)
			t.Problems = append(t.Problems, lint.Review(client.Instructions, lint.File{Path: escape.Path(name), Raw: raw, Doc: doc})...)
		}
		texts[i].Problems = Join(a.Profile.Judge(client.Instructions, t.Problems))
	}
	return texts, err
}

// Reviews are the results of lint.ReviewBeside of a call by the place and the text, because many
// entries can share a file.
type Reviews map[[2]string][]problem.Problem

func (r Reviews) of(place, text string) []problem.Problem {
	key := [2]string{place, text}
	found, ok := r[key]
	if !ok {
		found = lint.ReviewBeside(place, []byte(text))
		r[key] = found
	}
	return found
}

// Plugin returns the problems of a plugin with Raw, in a directory. The function place returns the
// path of a file for problems.
func Plugin(p *plugin.Plugin, dir string, known Reviews, place func(file string) string) []problem.Problem {
	found := slices.Clone(p.Problems)
	run := func(has bool, what string) {
		if has {
			found = append(found, problem.Problem{Code: problem.RunsCommand, Severity: problem.Warning, Path: place(p.File), Message: what,
				Suggestion: "read the commands before you approve the plugin; the files have no gate"})
		}
	}
	run(len(p.Hooks)+len(p.HookFiles) > 0, "the plugin has hooks, which run commands")
	run(len(p.MCPServers)+len(p.MCPServerFiles) > 0, "the plugin has MCP servers, which run commands or send data to other computers")
	run(p.Source.Command != "", "the source of the plugin is a command")
	for _, name := range slices.Sorted(maps.Keys(p.Raw)) {
		found = append(found, known.of(place(path.Join(dir, name)), p.Raw[name])...)
	}
	return Join(found)
}
