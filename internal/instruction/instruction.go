// Package instruction finds the texts that apply to a file of a project: single files such as
// AGENTS.md on the way to the file, and rules whose globs match the path of the file. The rows of
// package client state the names of the files, their order, and the keys of the headers.
package instruction

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// A Mode states when an instruction applies.
type Mode string

const (
	Always    Mode = "always"
	OnMatch   Mode = "on_match"   // a glob matches the path
	OnRequest Mode = "on_request" // the model or the user asks for the instruction
)

// A Text is an instruction. The fields are the fields of toolshelf.Instruction.
type Text struct {
	Path, Layer, Scope string
	Text, Description  string
	Digest             string
	Mode               Mode
	Globs, Imports     []string
	Problems           []problem.Problem

	Single bool // not a rule

	// The following fields are for a gate.
	Place string            // the directory of the client.Place of the file, such as ".", ".cursor/rules" and "~/.claude"
	User  bool              // a file of the user
	Rules string            // the name of the first client that reads the place
	Dir   string            // full path of the directory of Layer
	File  string            // full path
	Seal  *index.Seal       // of the file and of all files that its imports reach; nil if the files are unknown
	Raw   map[string]string // the bytes of the files of Seal, by their names
}

// Unread returns the code of the problem that makes a file unreadable, or "".
func (t *Text) Unread() problem.Code {
	if t.Text == "" && len(t.Problems) > 0 && slices.Contains([]problem.Code{problem.FileRead, problem.FileTooLarge, problem.LinkNotFollowed}, t.Problems[0].Code) {
		return t.Problems[0].Code
	}
	return ""
}

// A Tree is a directory of the project, above the project, or of the user.
type Tree struct {
	FS   *confine.FS
	Dir  string // below FS
	Name string // of the directory in paths, such as "." for the root and "~/.claude"

	Path         string                // of a parent, on the catalog's filesystem
	MayBeMissing bool                  // a missing directory has no files, also if the directory is the root
	Below        string                // the path of the root below a parent, for the globs of the rules of the parent; "" for other trees
	Foreign      func(dir string) bool // reports whether a directory below a parent belongs to another user; may be nil

	id int // 0 for the root; see firstTree
}

// A Finder finds the instructions of a catalog. All fields are set once. A Finder is safe for
// concurrent use.
type Finder struct {
	Rows    []client.Client
	Root    Tree
	Parents []Tree // the nearest first
	Rules   *index.Index
	MaxSize int64

	Texts    index.Cache[File]
	Dirs     index.Dirs // the rules below the root
	Compiled index.Cache[Compiled]

	Observer *watch.Observer // nil if nothing is watched; Watched returns the directories
	Answers  index.Cache[Answer]

	user   map[string]*Tree // the directories of the single files of the user, by client.Place.Path
	ofUser []string         // the directories of all instructions of the user that are below the root
	places []client.Place   // of the layers of Rules
	levels []int            // of the layers of Rules: 0 for the user, 1 for the root, and 2 and more for Parents
	below  []client.Place   // of the places of the root, the places in each directory below too

	exactCase atomic.Bool // the filesystem of the root distinguishes letter case
}

// Default are the rows of a catalog without WithInstructions.
var Default = []client.Client{{Instructions: []client.Place{{Dir: ".", Pattern: "AGENTS.md", Parents: true, Below: true},
	{Dir: ".", Pattern: "CLAUDE.md", Parents: true, Below: true, Fallback: client.InDirectory}}}}

// Open finds the directories of the user: with open those of the single files, and with below all
// that are below the root, which can contain a home directory, or be a home directory.
func (f *Finder) Open(
	open func(client.Place) (fsys *confine.FS, dir string),
	below func(client.Place) (dir string, ok bool),
) {
	for i := range f.Parents {
		f.Parents[i].id = 1 + i
	}
	f.user = map[string]*Tree{}
	for _, row := range f.Rows {
		for _, p := range row.Instructions {
			if p.Base == client.Project {
				continue
			}
			if dir, ok := below(p); ok {
				f.ofUser = append(f.ofUser, dir)
			}
			if !p.Single() || f.user[p.Path()] != nil {
				continue
			}
			if fsys, dir := open(p); fsys != nil {
				id := 1 + len(f.Parents) + len(f.user)
				f.user[p.Path()] = &Tree{FS: fsys, Dir: dir, Name: p.Path(), id: id}
			}
		}
	}
}

// topOf returns the directory that contains the imports of a file: the deepest directory of the
// user above the file, or else the top of the filesystem.
func (f *Finder) topOf(fsys *confine.FS, file string) string {
	top := "."
	for _, dir := range f.ofUser {
		if fsys == f.Root.FS && isBelow(dir, file) && (top == "." || len(dir) > len(top)) {
			top = dir
		}
	}
	return top
}

// AddRules adds the place of the next layer of Rules, in the parent with a path, or "".
func (f *Finder) AddRules(p client.Place, parent string) {
	level := 2 + slices.IndexFunc(f.Parents, func(t Tree) bool { return t.Path == parent })
	if p.Base != client.Project {
		level = 0
	}
	if level == 1 && p.Below {
		f.below = append(f.below, p)
	}
	f.places, f.levels = append(f.places, p), append(f.levels, level)
}

// HopsOfClient makes Find follow the number of hops of each client.
const HopsOfClient = -1

// A File is the content of a file.
type File struct {
	raw      string // all bytes; the memory of text
	text     string // without the header
	header   matter.Frontmatter
	lines    int // number of lines of the header
	problems []problem.Problem
}

// Retain removes the rules that are not in a snapshot of Rules from the caches.
func (f *Finder) Retain(now *index.Snapshot) {
	kept := func(file index.File) bool { return file.Layer >= len(f.places) || now.HasFile(file) }
	f.Texts.Retain(kept)
	f.Compiled.Retain(kept)
}

// firstTree is the number of the first Tree in an index.File. The layers of an index have smaller
// numbers.
const firstTree = 1 << 16

// A level is a directory whose files apply, with the trees of the user as one level.
type level struct {
	tree  *Tree                   // nil for the user
	dir   string                  // below the FS of the tree
	name  string                  // in paths; "~" for the user
	open  *confine.Dir            // nil if the directory does not exist
	below map[string]*confine.Dir // the open directories of places, by client.Place.Dir; nil for a missing directory
}

// A found is a file of a level, or a rule.
type found struct {
	Text
	fs      *confine.FS
	file    string // below fs
	above   string // the name of the top of fs in paths
	top     string // the directory below fs that contains the imports
	lines   int    // of the header
	full    int    // length of the text
	allowed int    // bytes that a client reads
	hops    int    // of the client
	raw     string // the bytes of the file; "" if the file cannot be read
	level   *level // of a file in call.left
}

// A Query is the question of a call of Find.
type Query struct {
	Name    string   // of a file or a directory below the root, which may be missing
	Hops    int      // of imports; with 0, imports stay as text
	Refused []string // paths of instructions that a filter has refused: Find omits the instructions, and follows no import of the files
}

// A call is a call of Find.
type call struct {
	*Finder
	Query
	ctx   context.Context
	path  string // Query.Name in the letter case of the directories; set by walk
	way   []*level
	index *index.Index          // Rules, or Rules with the directories of rules below the root
	known map[index.File]*found // single files; nil for a missing file
	seen  *watch.Look           // nil if nothing is watched

	sources sources
	sealed  bool              // for check
	left    map[*found]*found // for Check: the files that no client reads → the file in their place, or nil beyond a limit; nil in Find
}

// Find returns the instructions that apply to a file or a directory, the most general first. The
// error is an error of a directory on the way.
func (f *Finder) Find(ctx context.Context, q Query, rules *index.Snapshot) (Answer, error) {
	c := &call{Finder: f, Query: q, ctx: ctx, known: map[index.File]*found{}, seen: f.Observer.Begin(), sources: sources{}}
	defer c.close()
	if err := c.walk(q.Name); err != nil {
		return Answer{}, err
	}
	groups, err := c.singles()
	if err != nil {
		return Answer{}, err
	}
	for _, l := range f.Rules.Layers() {
		c.seen.Dir(l.FS.Path(l.Dir)) // and above: the watch of Rules begins at the top of the FS
	}
	if c.seen != nil && !f.Rules.Confirm(rules) {
		c.seen.Fail()
	}
	var dirs []string
	below := c.way[len(c.Parents)+2:]
	for _, l := range below {
		dirs = append(dirs, l.dir)
	}
	var extended *index.Snapshot
	if c.index, extended, err = c.Extend(ctx, rules, dirs, func(i int, p client.Place) bool { return c.mayHave(below[i], p) }, &c.Dirs, c.seen); err != nil {
		return Answer{}, err
	}
	matched, requested, err := c.rules(c.path, extended, groups)
	if err != nil {
		return Answer{}, err
	}
	applied := slices.Concat(append(groups, matched)...)
	shown := slices.DeleteFunc(slices.Concat(applied, requested), func(x *found) bool { return slices.Contains(c.Refused, x.Path) })
	slices.Reverse(applied)
	left := newAllowance() // first for the nearest text, and at the end for the texts on request
	for _, x := range slices.Concat(applied, requested) {
		if slices.Contains(c.Refused, x.Path) {
			continue
		}
		if err := c.complete(x, q.Hops, &left); err != nil {
			return Answer{}, err
		}
	}
	all := make([]Text, len(shown))
	for i, x := range shown {
		all[i] = x.Text
	}
	return c.keep(all, rules), nil
}

// HasSingle reports whether a place of single files has a name, such as "." and "~/.claude".
func HasSingle(rows []client.Client, name string) bool {
	return slices.ContainsFunc(rows, func(row client.Client) bool {
		return slices.ContainsFunc(row.Instructions, func(p client.Place) bool { return p.Single() && p.Path() == name })
	})
}

func (c *call) close() {
	for _, l := range c.way {
		for _, d := range l.below {
			if d != nil {
				d.Close()
			}
		}
		if l.open != nil {
			l.open.Close()
		}
	}
}

// walk opens the directories on the way to a file: the level of the user, the parents, the root,
// and the directories below.
func (c *call) walk(name string) error {
	c.way, c.path = c.tops(), name
	at := c.way[len(c.way)-1]
	for _, l := range c.way[1:] {
		c.seen.Dir(l.tree.FS.Path(l.dir))
		var err error
		l.open, err = l.tree.FS.OpenDir(l.dir)
		// An unreadable parent is no error, as for other places.
		fails := index.IsFault(err) && !errors.Is(err, fs.ErrPermission) ||
			l == at && !(l.tree.MayBeMissing && errors.Is(err, fs.ErrNotExist))
		if err != nil && fails {
			return err
		}
	}
	if at.open == nil {
		return nil
	}
	elems := strings.Split(name, "/")
	for i, elem := range elems {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if elem == "." {
			continue
		}
		dir := path.Join(at.dir, elem)
		c.seen.Dir(c.Root.FS.Path(dir))
		opened, err := at.open.OpenDir(elem)
		if errors.Is(err, confine.ErrSymlink) {
			opened, err = c.Root.FS.OpenDir(dir)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // a file that the caller is about to write
		case err != nil && !errors.Is(err, confine.ErrNotDir):
			return err
		}
		below := &level{tree: &c.Root, open: opened}
		if opened != nil {
			c.way = append(c.way, below) // close closes the level after an error
		}
		listed, failed := c.listed(at, elem)
		if failed != nil {
			return failed
		}
		if listed != elem {
			elems[i] = listed
			c.path = strings.Join(elems, "/")
		}
		if opened == nil {
			return nil // the file itself
		}
		below.dir, below.name = path.Join(at.dir, listed), path.Join(at.name, listed)
		at = below
	}
	return nil
}

// listed returns the name of an entry of a level as the directory lists the entry. A filesystem
// that ignores letter case finds the entry in another letter case too, and then the path of an
// instruction would depend on the caller.
func (c *call) listed(l *level, name string) (string, error) {
	other := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	if other == name || c.exactCase.Load() {
		return name, nil
	}
	if _, err := l.open.Lstat(other); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			c.exactCase.Store(true) // all directories of the root are usually on one filesystem
		}
		return name, nil
	}
	listed := name
	err := l.open.Each(c.ctx, func(entry string, _ fs.FileMode) error {
		if entry == name {
			listed = name
			return fs.SkipAll
		}
		if strings.EqualFold(entry, name) {
			listed = entry
		}
		return nil
	})
	if err != nil && err != fs.SkipAll {
		return "", err
	}
	if listed != name {
		c.seen.Fail() // a watch of the directory reports the listed name
	}
	return listed, nil
}

// tops returns the levels of the user, of the parents and of the root.
func (f *Finder) tops() []*level {
	way := []*level{{name: "~"}}
	for i := range slices.Backward(f.Parents) {
		way = append(way, f.Parents[i].level())
	}
	return append(way, f.Root.level())
}

func (t *Tree) level() *level { return &level{tree: t, dir: t.Dir, name: t.Name} }

// inProject reports whether a level is the root or a parent.
func (c *call) inProject(i int) bool { return i > 0 && i <= len(c.Parents)+1 }

// reads reports whether a client looks for a place in a level.
func (c *call) reads(i int, p client.Place) bool {
	switch {
	case !p.Single():
		return false
	case i == 0:
		return p.Base != client.Project
	case p.Base != client.Project:
		return false
	case i <= len(c.Parents):
		return p.Parents
	}
	return i == len(c.Parents)+1 || p.Below
}

// singles returns the single files of each level.
func (c *call) singles() ([][]*found, error) {
	readers := make([]reader, len(c.Rows))
	for i, row := range c.Rows {
		claimed, err := c.claimed(row)
		if err != nil {
			return nil, err
		}
		readers[i] = reader{Client: row, claimed: claimed, left: row.InstructionBytes}
	}
	groups := make([][]*found, len(c.way))
	for i := range c.way {
		for r := range readers {
			if err := c.readLevel(&readers[r], i, &groups[i]); err != nil {
				return nil, err
			}
		}
	}
	return groups, nil
}

// A reader is a client that reads the single files of one level after the other.
type reader struct {
	client.Client
	claimed bool // the client reads no place with InProject
	left    int  // of InstructionBytes
}

// claimed reports whether a client finds a file of the project without a fallback, and has places
// for projects without such a file.
func (c *call) claimed(row client.Client) (claimed bool, err error) {
	if !slices.ContainsFunc(row.Instructions, func(p client.Place) bool { return p.Fallback == client.InProject }) {
		return false, nil
	}
	for i, l := range c.way {
		for _, p := range row.Instructions {
			if c.inProject(i) && p.Fallback == client.NoFallback && c.reads(i, p) {
				x, err := c.single(l, p)
				if err != nil {
					return false, err
				}
				claimed = claimed || x != nil
			}
		}
	}
	return claimed, nil
}

// readLevel adds the single files of a client in a level to the files of the clients before.
func (c *call) readLevel(r *reader, i int, group *[]*found) error {
	l := c.way[i]
	var first *found
	for _, p := range r.Instructions {
		if !c.reads(i, p) || r.claimed && p.Fallback == client.InProject {
			continue
		}
		if first != nil && p.Fallback != client.NoFallback {
			if err := c.leave(l, p, first); err != nil {
				return err
			}
			continue
		}
		x, err := c.single(l, p)
		if err != nil {
			return err
		}
		if x == nil {
			continue
		}
		first = cmp.Or(first, x)
		n := x.full
		if i > 0 && !slices.Contains(c.Refused, x.Path) {
			n = r.take(n)
		}
		if n == 0 && x.full > 0 {
			if err := c.leave(l, p, nil); err != nil {
				return err
			}
			continue
		}
		x.allowed, x.hops = max(x.allowed, n), max(x.hops, r.ImportHops)
		join(group, x)
	}
	return nil
}

// take returns how many of n bytes the client still reads.
func (r *reader) take(n int) int {
	if r.InstructionBytes > 0 {
		n = min(n, r.left)
		r.left -= n
	}
	return n
}

// join adds a file to the files of a level, unless the level has the file or a copy.
func join(group *[]*found, x *found) {
	for _, other := range *group {
		if other == x || other.full > 0 && other.Text.Text == x.Text.Text { // a link, or a copy
			other.allowed, other.hops = max(other.allowed, x.allowed), max(other.hops, x.hops)
			return
		}
	}
	*group = append(*group, x)
}

// single returns the file of a place in a level, or nil.
func (c *call) single(l *level, p client.Place) (*found, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	tree, dir, name, scope := l.tree, path.Join(l.dir, p.Dir), path.Join(l.name, p.Dir), l.name
	if tree == nil {
		if tree = c.user[p.Path()]; tree == nil {
			return nil, nil
		}
		dir, name = tree.Dir, tree.Name
	}
	shown := path.Join(name, p.Pattern)
	key := index.File{Layer: firstTree + tree.id, Path: path.Join(dir, p.Pattern)}
	if tree == &c.Root && strings.HasPrefix(shown, "~") {
		shown = "./" + shown // not a file of the user
	}
	if x, ok := c.known[key]; ok {
		return x, nil
	}
	x := &found{Text: Text{Path: shown, Layer: name, Scope: scope, Mode: Always, Single: true, Place: p.Path(), User: p.Base != client.Project, Rules: c.reader(p), Dir: tree.FS.Path(dir), File: tree.FS.Path(key.Path)}, fs: tree.FS, file: key.Path, above: above(tree.Name, tree.Dir), top: c.topOf(tree.FS, key.Path)}
	c.known[key] = nil
	c.seen.File(tree.FS.Path(key.Path))
	if tree.Foreign != nil {
		c.seen.File(tree.FS.Path(".git")) // Foreign looks at the owner
	}
	at, err := c.directory(l, tree, p, dir)
	if at == nil && err == nil {
		return nil, nil
	}
	file, exists, err := c.read(at, tree.FS, key, escape.Path(shown), err)
	if !exists || err != nil || tree.Foreign != nil && tree.Foreign(path.Join(p.Dir, p.Pattern)) {
		return nil, err
	}
	x.set(file)
	if x.full == 0 && len(x.Problems) == 0 {
		return nil, nil
	}
	c.known[key] = x
	return x, nil
}

// reader returns the name of the first client that reads a place.
func (f *Finder) reader(p client.Place) string {
	for _, row := range f.Rows {
		if slices.ContainsFunc(row.Instructions, func(other client.Place) bool {
			return other.Base == p.Base && other.Dir == p.Dir && other.Suffix() == p.Suffix()
		}) {
			return row.Name
		}
	}
	return ""
}

// above returns the name of the top of a filesystem whose directory dir has a name.
func above(name, dir string) string {
	switch before, ok := strings.CutSuffix(name, "/"+dir); {
	case dir == ".":
		return name
	case ok:
		return before
	}
	return "."
}

// directory returns the open directory of a place in a level, or nil if the directory does not
// exist.
func (c *call) directory(l *level, tree *Tree, p client.Place, dir string) (*confine.Dir, error) {
	key := p.Path()
	if l.tree != nil {
		if p.Dir == "." || l.open == nil {
			return l.open, nil
		}
		key = p.Dir
	}
	if d, ok := l.below[key]; ok {
		return d, nil
	}
	c.seen.Dir(tree.FS.Path(dir))
	var opened *confine.Dir
	err := confine.ErrSymlink
	if l.tree != nil && !strings.Contains(p.Dir, "/") {
		opened, err = l.open.OpenDir(p.Dir)
	}
	if errors.Is(err, confine.ErrSymlink) {
		opened, err = tree.FS.OpenDir(dir)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, confine.ErrNotDir) {
		opened, err = nil, nil
	}
	if err == nil {
		if l.below == nil {
			l.below = map[string]*confine.Dir{}
		}
		l.below[key] = opened
	}
	return opened, err
}

// mayHave reports whether a level has the first element of the path of a place. The check costs
// less than a scan.
func (c *call) mayHave(l *level, p client.Place) bool {
	first, _, _ := strings.Cut(p.Dir, "/")
	at, err := c.directory(l, l.tree, client.Place{Dir: first}, path.Join(l.dir, first))
	return at != nil || err != nil
}

// read returns the content of a file in an open directory, or reached by a link. An error of the
// directory, and each error of the file, is a problem of the file.
func (c *call) read(at *confine.Dir, fsys *confine.FS, file index.File, place string, err error) (content File, exists bool, _ error) {
	info, link := confine.Info{}, false
	if err == nil {
		if info, err = at.Lstat(path.Base(file.Path)); errors.Is(err, fs.ErrNotExist) {
			return File{}, false, nil
		}
	}
	if link = err == nil && info.Mode&fs.ModeSymlink != 0; link {
		c.look(fsys, file.Path)
		info, err = fsys.Info(file.Path)
	}
	if err == nil {
		if info.Mode.IsDir() {
			return File{}, false, nil
		}
		if kept := c.Texts.Get(file); kept != nil && stamp.SameFile(kept.Info, info) {
			return kept.Value, true, nil
		}
		open := func() (*confine.File, error) { return at.OpenRegular(path.Base(file.Path)) }
		if link {
			open = func() (*confine.File, error) { return fsys.OpenRegular(file.Path) }
		}
		if content, err = c.load(file, open, place); err == nil {
			return content, true, nil
		}
	}
	if c.ctx.Err() != nil || errors.Is(err, fs.ErrClosed) {
		return File{}, false, cmp.Or(c.ctx.Err(), err)
	}
	return File{problems: []problem.Problem{c.unreadable(place, err)}}, true, nil
}

// load reads and parses a file.
func (c *call) load(file index.File, open func() (*confine.File, error), place string) (File, error) {
	now := time.Now()
	f, err := open()
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	raw, err := c.Rules.ReadOpen(f)
	if err != nil {
		return File{}, err
	}
	doc, _ := matter.Parse(raw, true)
	whole := string(raw)
	content := File{raw: whole, text: whole[doc.Body:], header: doc.Frontmatter, lines: strings.Count(string(raw[:doc.Body]), "\n")}
	for _, p := range doc.Problems {
		content.problems = append(content.problems, p.In(place))
	}
	if info := f.Info(); stamp.Settled(info, now) {
		c.Texts.Put(&index.Cached[File]{File: file, Info: info, Value: content, Size: int64(len(raw) + doc.Memory())})
	}
	return content, nil
}

// unreadable returns the problem of a file that cannot be read.
func (c *call) unreadable(place string, err error) problem.Problem {
	p := problem.Problem{Code: problem.FileRead, Severity: problem.Error, Path: place, Message: "the file is not read: " + escape.Reason(err), Suggestion: "check the type and the permissions of the file"}
	switch {
	case errors.Is(err, index.ErrTooLarge):
		p.Code, p.Message, p.Suggestion = problem.FileTooLarge, fmt.Sprintf("the file is not read: the file has more than %d bytes", c.MaxSize), "shorten the file, or let the program raise the limit"
	case errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink), errors.Is(err, fs.ErrNotExist):
		p.Code, p.Message, p.Suggestion = problem.LinkNotFollowed, "the file is not read: the link is broken, not allowed, or leads outside", "replace the link by the file"
	}
	return p
}

// set copies the content of a file.
func (x *found) set(f File) {
	x.raw, x.Text.Text, x.lines, x.Problems = f.raw, f.text, f.lines, slices.Clone(f.problems)
	if strings.TrimSpace(f.text) == "" {
		x.Text.Text = ""
	}
	x.full = len(x.Text.Text)
	description, _ := f.header.Get("description")
	x.Description = strings.TrimSpace(description.String())
}

// cut returns the problem of a text that a client reads up to n bytes.
func (x *found) cut(n int) problem.Problem {
	return problem.Problem{Code: problem.InstructionCut, Severity: problem.Warning, Path: escape.Path(x.Path),
		Message: fmt.Sprintf("the client reads only the first %d of %d bytes of the file", n, x.full), Suggestion: "shorten the instructions of the project, or split them between directories"}
}

// complete seals a text, cuts the text to the limit of the clients, replaces the imports, and
// computes the digest.
func (c *call) complete(x *found, hops int, left *allowance) error {
	if err := c.seal(x); err != nil {
		return err
	}
	x.shorten()
	if hops == HopsOfClient {
		hops = x.hops
	}
	if err := c.expand(x, hops, left, false); err != nil {
		return err
	}
	if x.Seal != nil && slices.ContainsFunc(x.Imports, func(name string) bool { return !x.Seal.Has(name) }) {
		x.Seal, x.Raw = nil, nil // a text that was cut has another import
	}
	if x.full > 0 {
		x.Digest = index.FileDigest(sha256.Sum256([]byte(x.Text.Text)))
	}
	return nil
}

// check seals a text, and adds the problems that complete adds with the hops of the client.
func (c *call) check(x *found) error {
	if c.sealed {
		if err := c.seal(x); err != nil {
			return err
		}
	}
	x.shorten()
	left := newAllowance()
	return c.expand(x, x.hops, &left, true)
}

// shorten cuts a text to the limit of the clients.
func (x *found) shorten() {
	if x.allowed >= x.full {
		return
	}
	n := x.allowed
	for n > 0 && !utf8.RuneStart(x.Text.Text[n]) {
		n--
	}
	x.Text.Text = x.Text.Text[:n]
	x.Problems = append(x.Problems, x.cut(n))
}
