// Package audit reads the files of commands, skills and agents, and collects the problems that
// package lint finds in the texts.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/text/unicode/norm"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// File returns a file of a layer for the checks. The name is the name of the entry. In a plugin, a
// file without a name in the header has the name of the path
// (code.claude.com/docs/en/plugins-reference, 2026-08).
func File(l index.Layer, name, path string, raw []byte, doc matter.Document) lint.File {
	name = strings.TrimPrefix(name, l.Prefix)
	if l.Files {
		name = name[strings.LastIndexByte(name, ':')+1:]
	}
	return lint.File{Name: name, Path: path, Raw: raw, Doc: doc, Alone: l.Files, Named: l.Subdirs, Rules: l.Rules, NFKC: norm.NFKC.String}
}

// An Audit checks the files of snapshots.
type Audit struct {
	Indexes map[client.Files]*index.Index
	Root    *confine.FS
	Profile *lint.Profile
	Valid   func(element string) bool // reports a valid element of the name of a command
	Finder  *instruction.Finder

	// Below returns an index and a snapshot that also have the skills below the root. Without Below,
	// no skill is below the root.
	Below func(context.Context, *index.Snapshot) (*index.Index, *index.Snapshot, error)

	Checked atomic.Int64 // number of checked files
}

// Of returns the problems of the snapshot of a kind. The snapshots of other kinds may be missing:
// the commands may refer to the skills.
func (a *Audit) Of(ctx context.Context, kind client.Files, of map[client.Files]*index.Snapshot) ([]problem.Problem, error) {
	if kind == client.Skills {
		if err := a.AddBelow(ctx, of); err != nil {
			return nil, err
		}
	}
	x, snapshot := a.Indexes[kind], of[kind]
	var found []problem.Problem
	if kind == client.Instructions {
		all, err := a.Finder.Check(ctx, snapshot, false, a.single, a.rule)
		if all.Rules == nil { // otherwise the scan reports the unreadable directory of err
			return nil, err
		}
		x, snapshot = all.Index, all.Rules
		found = append(scanned(snapshot), all.Problems...)
		for range snapshot.Files() {
			a.Checked.Add(1)
		}
		for _, t := range all.Texts {
			found = append(found, t.Problems...)
		}
	} else {
		var err error
		check, beside := a.checks(kind, of)
		found, err = a.files(ctx, x, snapshot, func(e *index.Entry) []problem.Problem {
			return append(a.file(ctx, x, e, check), beside(ctx, e)...)
		})
		if err != nil {
			return nil, err
		}
	}
	ignored, err := ignoredFiles(ctx, kind, x, snapshot)
	found = append(slices.DeleteFunc(found, func(p problem.Problem) bool { return explained(p, ignored) }), ignored...)
	return a.Profile.Judge(kind, found), err
}

// AddBelow adds the skills below the root to the index and to the snapshot of the skills.
func (a *Audit) AddBelow(ctx context.Context, of map[client.Files]*index.Snapshot) (err error) {
	if of[client.Skills] != nil && a.Below != nil {
		a.Indexes[client.Skills], of[client.Skills], err = a.Below(ctx, of[client.Skills])
	}
	return err
}

// A Key is equal for entries whose checks have the same result, because the entries of a
// marketplace can share a file.
type Key struct {
	layer               int
	name, place, within string
	alone, named        bool
	listed              bool
	rules               client.Rules
	digest              string
	rejected            int
}

// KeyOf returns the Key of an entry of a snapshot.
func KeyOf(x *index.Index, s *index.Snapshot, e *index.Entry) Key {
	f := File(*x.LayerOf(e), e.Name, x.Place(e), nil, matter.Document{})
	k := Key{layer: e.Layer(), name: f.Name, place: f.Path, alone: f.Alone, named: f.Named, rules: f.Rules, listed: listed(s, e), rejected: len(e.Rejected())}
	if p := e.Part(); p != nil {
		k.within = p.PluginDir
	}
	if seal := e.Seal(); seal != nil {
		k.digest = seal.Digest
	}
	return k
}

// listed reports whether a catalog without filters lists an entry.
func listed(s *index.Snapshot, e *index.Entry) bool { return !e.Dependency && s.Lookup(e.Name) == e }

// checks returns the checks of the file of an entry, and of its other files.
func (a *Audit) checks(kind client.Files, of map[client.Files]*index.Snapshot) (check func(*index.Entry, lint.File) []problem.Problem, beside func(context.Context, *index.Entry) []problem.Problem) {
	check = func(_ *index.Entry, f lint.File) []problem.Problem { return a.Profile.Text(kind, f) }
	beside = func(context.Context, *index.Entry) []problem.Problem { return nil }
	switch kind {
	case client.Commands:
		check = a.commandCheck(of[client.Commands], of[client.Skills])
	case client.Skills:
		check = func(_ *index.Entry, f lint.File) []problem.Problem { return a.Profile.Skill(f) }
		beside = a.skillFiles
	}
	return check, beside
}

// single returns the problems in the bytes of a single file of instructions.
func (a *Audit) single(place string, raw []byte) []problem.Problem {
	a.Checked.Add(1)
	doc, _ := matter.Parse(raw, true) // no client reads a header in a single file
	doc = matter.Document{Problems: slices.DeleteFunc(doc.Problems, func(p problem.Problem) bool { return p.Code != problem.NotUTF8 })}
	return a.Profile.Text(client.Instructions, lint.File{Path: place, Raw: raw, Doc: doc})
}

// rule returns the problems in the bytes of a rule.
func (a *Audit) rule(x *index.Index, e *index.Entry, raw []byte) []problem.Problem {
	return text(x, e, raw, func(_ *index.Entry, f lint.File) []problem.Problem {
		f.Bare = a.Finder.GlobsKey(e)
		return append(a.Profile.Text(client.Instructions, f), a.Finder.CheckGlobs(x, e, f.Doc)...)
	})
}

// Join returns problems in the order of Lint.
func Join(all ...[]problem.Problem) []problem.Problem {
	found := slices.Concat(all...)
	slices.SortFunc(found, problem.Compare)
	return slices.Compact(found) // a file of a nested skill belongs to both skills
}

// explained reports whether an ignored file explains why a directory has no SKILL.md.
func explained(p problem.Problem, ignored []problem.Problem) bool {
	dir := path.Dir(p.Path)
	return p.Code == problem.SkillFileMissing && slices.ContainsFunc(ignored, func(i problem.Problem) bool {
		return i.Code == problem.FilesystemTopEmpty && (i.Path == dir || i.Path == p.Path) || i.Code == problem.SkillFileMissing && path.Dir(i.Path) == dir
	})
}

// commandCheck returns the check of a command file. The check knows every command
// and skill to which the file may refer.
func (a *Audit) commandCheck(commands, skills *index.Snapshot) func(*index.Entry, lint.File) []problem.Problem {
	nested := slices.ContainsFunc(a.Indexes[client.Commands].Layers(), func(l index.Layer) bool { return l.Nested })
	l := &lint.Commands{Profile: a.Profile, Nested: nested, Valid: a.Valid, Present: func(file, fromRoot string) bool {
		for _, layer := range a.Indexes[client.Commands].Layers() {
			if _, err := layer.FS.Lstat(path.Join(layer.Dir, file)); err == nil {
				return true
			}
		}
		if fromRoot == "" {
			return false
		}
		_, err := a.Root.Lstat(fromRoot)
		return err == nil
	}}
	command := func(e *index.Entry) lint.Command {
		return lint.Command{Name: e.Name, Path: a.Indexes[client.Commands].Below(e), Listed: listed(commands, e)}
	}
	for e := range commands.Files() {
		l.Add(command(e))
	}
	if skills != nil {
		for e := range skills.Files() {
			l.AddSkill(e.Name)
		}
	}
	return func(e *index.Entry, f lint.File) []problem.Problem { return l.Check(f, command(e)) }
}

// files returns the problems of a snapshot and the problems that check finds
// in each entry. Several checks run at the same time. If the snapshot already
// parsed a whole file, files omits the snapshot's problems of the file, because
// check finds them again. files counts the checked files.
func (a *Audit) files(ctx context.Context, x *index.Index, snapshot *index.Snapshot, check func(*index.Entry) []problem.Problem) ([]problem.Problem, error) {
	entries, known := slices.Collect(snapshot.Files()), make(map[Key]bool)
	entries = slices.DeleteFunc(entries, func(e *index.Entry) bool {
		key := KeyOf(x, snapshot, e)
		defer func() { known[key] = true }()
		return known[key]
	})
	found := make([][]problem.Problem, len(entries))
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), len(entries), func(i int) error {
		found[i] = check(entries[i])
		if entries[i].Broken() != index.ErrNoSkillFile {
			a.Checked.Add(1)
		}
		return ctx.Err() // a check that ctx ended may be incomplete
	})
	if err != nil {
		return nil, err
	}
	return append(scanned(snapshot), slices.Concat(found...)...), nil
}

// scanned returns the problems of a snapshot that no check of a file finds again.
func scanned(snapshot *index.Snapshot) (all []problem.Problem) {
	repeated := make(map[problem.Problem]bool)
	for e := range snapshot.Files() {
		if reasons := e.Rejected(); (e.Broken() == nil || reasons != nil) && e.Whole() {
			for _, p := range e.Problems()[len(reasons):] {
				repeated[p] = true
			}
		}
	}
	for _, p := range snapshot.Problems() {
		if !repeated[p] {
			all = append(all, p)
		}
	}
	return all
}

// file reads the file of an entry and checks the text. A file that no longer
// exists, and an entry that the snapshot reports as unreadable, have no problems.
func (a *Audit) file(ctx context.Context, x *index.Index, e *index.Entry, check func(*index.Entry, lint.File) []problem.Problem) []problem.Problem {
	if e.Broken() != nil && e.Rejected() == nil {
		return nil
	}
	raw, _, err := x.ReadFile(x.FSOf(ctx, e), e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []problem.Problem{x.Unread(e, err)}
	}
	return text(x, e, raw, check)
}

// text checks the bytes of the file of an entry.
func text(x *index.Index, e *index.Entry, raw []byte, check func(*index.Entry, lint.File) []problem.Problem) []problem.Problem {
	doc, _ := matter.ParseFile(e.Path, raw, true)
	found := check(e, File(*x.LayerOf(e), e.Name, x.Place(e), raw, doc))
	if slices.ContainsFunc(e.Rejected(), func(p problem.Problem) bool { return p.Code == problem.FieldMissing && p.Key == "description" }) {
		found = slices.DeleteFunc(found, func(p problem.Problem) bool { return p.Code == problem.NoDescription })
	}
	return found
}

// skillFiles returns the problems of the other files of a skill. A directory
// that no longer exists has no problems. The caller checks whether ctx has ended.
func (a *Audit) skillFiles(ctx context.Context, e *index.Entry) []problem.Problem {
	unread := func(err error) []problem.Problem {
		if e.Broken() != nil && e.Broken() != index.ErrNoSkillFile || !index.IsFault(err) {
			return nil // the snapshot reports the entry
		}
		return []problem.Problem{a.Indexes[client.Skills].Unread(e, err)}
	}
	directory, err := a.Indexes[client.Skills].OpenSkill(ctx, e)
	if err != nil {
		return unread(err)
	}
	defer directory.Close()
	if errors.Is(e.Broken(), index.ErrNoSkillFile) {
		return a.nestedSkills(ctx, e, directory)
	}
	listed, err := directory.Files(ctx)
	if err != nil {
		return unread(err)
	}
	var found []problem.Problem
	if seal := e.Seal(); seal != nil && seal.Problem != nil {
		found = append(found, *seal.Problem)
	}
	for _, p := range listed.Problems {
		if e.Broken() == nil || p.Path != a.Indexes[client.Skills].Place(e) { // the snapshot reports a broken SKILL.md
			found = append(found, p)
		}
	}
	return found
}

// nestedSkills reports skills in the subdirectories of a directory without a SKILL.md. With a
// greater depth, the scan has found these skills.
func (a *Audit) nestedSkills(ctx context.Context, e *index.Entry, directory *index.SkillDir) []problem.Problem {
	if a.Indexes[client.Skills].LayerOf(e).Depth > 1 {
		return nil
	}
	nested, err := directory.NestedSkills(ctx)
	switch {
	case err != nil && index.IsFault(err):
		return []problem.Problem{a.Indexes[client.Skills].Unread(e, err)}
	case err != nil || len(nested) == 0:
		return nil
	}
	const shown = 5
	names := strconv.Quote(nested[0])
	for _, name := range nested[1:min(len(nested), shown)] {
		names += ", " + strconv.Quote(name)
	}
	if len(nested) > shown {
		names += fmt.Sprintf(" and %d more", len(nested)-shown)
	}
	return []problem.Problem{{Code: problem.SkillFileMissing, Severity: problem.Warning, Path: path.Dir(a.Indexes[client.Skills].Place(e)),
		Message:    "not listed: skills one directory deeper: " + names,
		Suggestion: "move the skills up one directory, or let the program search two levels (WithSkillDepth(2))"}}
}

// A Check returns the problems of an entry for a person who decides about an approval. The names of
// the files are those of the Seal of the entry. A Check is not safe for concurrent use.
type Check = func(_ context.Context, e *index.Entry, files map[string][]byte) []problem.Problem

// Check returns the Check of the entries of a snapshot: the problems that Of finds, and the problems
// that package lint finds in a review.
func (a *Audit) Check(kind client.Files, of map[client.Files]*index.Snapshot) Check {
	known := make(map[string][]problem.Problem) // by path
	for _, p := range scanned(of[kind]) {
		known[p.Path] = append(known[p.Path], p)
	}
	check, beside := a.checks(kind, of)
	return func(ctx context.Context, e *index.Entry, files map[string][]byte) []problem.Problem {
		x := a.Indexes[kind]
		place, own := x.Place(e), e.Seal().Own()
		found := slices.Concat(known[place], text(x, e, files[own], check), beside(ctx, e))
		found = a.Profile.Judge(kind, found)
		doc, _ := matter.ParseFile(e.Path, files[own], true)
		found = append(found, lint.Review(kind, lint.File{Path: place, Raw: files[own], Doc: doc})...)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if name != own {
				file := path.Join(path.Dir(place), escape.Path(name))
				found = append(found, lint.ReviewBeside(file, files[name])...)
			}
		}
		return Join(found)
	}
}

// Texts returns the instructions of Finder.Check. The Problems of a text are those that Of finds, and
// those of a review.
func (a *Audit) Texts(ctx context.Context, rules *index.Snapshot) ([]instruction.Text, error) {
	all, err := a.Finder.Check(ctx, rules, true, a.single, a.rule)
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
