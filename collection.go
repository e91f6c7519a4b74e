package toolshelf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/digest"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/exposure"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/observe"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/search"
)

// A collection is the commands, the skills or the agents of a catalog, as the catalog shows
// them. All fields are set once. A view has a copy with another filter.
type collection[Info any] struct {
	*index.Index
	finder *search.Finder
	engine Searcher      // replaces finder, unless nil
	filter *filter[Info] // Index knows no filter: list applies the filter, Index.Snapshot does not

	observer *observe.Observer[Event]

	layers []layer // as given to the options, in the order of the index
	root   string  // as given to WithRoot
	watch  bool    // WithWatch
	inRoot bool    // all layers are below the root of the catalog

	description func(*index.Entry) string
	exposure    func(*index.Entry) Exposure // of skills; nil for other kinds
	refresh     func(context.Context) error // reads the settings of clients; nil without settings
	forModel    bool                        // results have no description of a skill with ExposeName
	way         *exposure.Way               // of skills, in the catalog of one call; see along
	undescribed bool                        // prompts have the entries without a description
	texts       *index.Texts[[]byte]        // of stores

	// The texts of errors.
	noun     string                                         // "command", "skill" or "agent"
	file     string                                         // "the file" or "SKILL.md"
	invalid  Code                                           // of a name that no entry can have
	rule     string                                         // completes the message for an invalid name
	notFound Code                                           // of an unknown name
	hint     func(shown []*index.Entry, name string) string // completes the message for an unknown name
}

// open opens the layers of a new collection. The function drop removes from the caches the files
// that are not in a new snapshot. The error is the error of the watch.
func (c *collection[Info]) open(of *Catalog, user userDirs, kind client.Files, drop func(now *index.Snapshot), x index.Config, s search.Config) (*collection[Info], error) {
	config := &of.config
	x.Layers = of.files.Open(c.layers, user)
	c.filter.Guard = config.newGuard(Kind(c.noun), c.layers, x.Layers)
	x.Judge, x.Changed, x.Whole = config.judge(kind), of.changed(drop), index.KeepVersioned(c.texts)
	if c.observer = of.observer; c.observer != nil {
		notify := x.Changed
		x.Changed = func(before, now *index.Snapshot) {
			c.observer.Scanned(before, now, func(e *index.Entry) Event {
				return Event{Action: EventChanged}.of(c.noun, e, x.Layers[e.Layer()].Name)
			})
			notify(before, now)
		}
	}
	x.Lifetime = of.lifetime
	x.MaxFileSize, x.MaxReads = config.maxFileSize, config.maxReads
	x.TTL, x.Now = config.ttl, config.now
	x.Watch, x.Feed, x.Exited = config.watch && len(x.Layers) > 0, of.feed, of.logExit // a watch without directories costs a descriptor
	var err error
	if c.Index, err = index.New(kind, x); err != nil {
		return nil, err
	}
	of.indexes = append(of.indexes, c.Index)
	if c.filter.Guard != nil {
		c.filter.Guard.Index = c.Index
	}
	s.Index, s.Description, s.Text = c.Index, c.description, c.texts.Find
	s.MaxFileSize, s.MaxReads = config.maxFileSize, config.maxReads
	s.TTL, s.Now = config.ttl, config.now
	s.Watch, s.Logger, s.Meanings, s.Allows = config.watch, config.logger, of.meanings, c.filter.Guard.Allows
	s.Lifetime, s.Enter, s.Leave, s.Exited = of.lifetime, of.lifetime.Enter, of.lifetime.Leave, of.logExit
	c.finder = search.New(s)
	c.root, c.watch, c.inRoot = config.root, config.watch, !slices.ContainsFunc(c.Layers(), func(l index.Layer) bool { return l.FS != of.root })
	return c, nil
}

// view returns a copy of the collection that shows only the entries that all
// functions keep.
func (c *collection[Info]) view(keep []func(Info) bool) *collection[Info] {
	view := *c
	view.filter = c.filter.With(keep)
	return &view
}

// list returns the current entries, and the entries that pass the filter, dependencies included. If
// no directory exists, list returns an error.
func (c *collection[Info]) list(ctx context.Context, op string) (all, shown *index.Snapshot, err error) {
	o, e := c.observer.Begin(ctx), Event{Action: EventListed, Kind: Kind(c.noun)}
	if all, err = c.current(ctx); err == nil {
		shown = c.filter.Apply(ctx, all)
		e.Count = len(shown.Entries)
	}
	err = c.layerError(op, err)
	o.Send(e, err)
	return all, shown, err
}

// current returns the current entries, after a look at the settings.
func (c *collection[Info]) current(ctx context.Context) (*index.Snapshot, error) {
	if c.way != nil {
		return c.way.All, nil
	}
	if c.refresh != nil {
		if err := c.refresh(ctx); err != nil {
			return nil, err
		}
	}
	return c.Snapshot(ctx)
}

// shown returns the entries of a snapshot that pass the filter.
func (c *collection[Info]) shown(all *index.Snapshot) *index.Snapshot {
	return c.filter.Apply(context.Background(), all)
}

// optionalSnapshot returns the current entries without the filter, for a method
// that works without directories. If no option names a layer, missing directories
// are empty instead of an error.
func (c *collection[Info]) optionalSnapshot(ctx context.Context, op string) (*index.Snapshot, error) {
	all, err := c.current(ctx)
	var missing *index.LayerError
	if all != nil && errors.As(err, &missing) && !slices.ContainsFunc(c.layers, func(l layer) bool { return l.Named }) {
		return all, nil
	}
	return all, c.layerError(op, err)
}

// meant returns the name that an invalid name probably means, without a check, and whether
// arguments follow the name.
func (c *collection[Info]) meant(name string) (meant string, arguments bool) {
	dirs := []string{c.noun + "s"}
	for _, l := range c.layers {
		dirs = append(dirs, l.Name)
	}
	return names.Meant(name, dirs)
}

// checkName returns an error for a name that is not a safe path element. The name of a file, such
// as "x..md" of the entry "x.", is safe if the stem is safe.
func (c *collection[Info]) checkName(op, name string) error {
	if stem, _ := names.TrimMarkdown(name); names.Loose(name) || names.Loose(stem) {
		return nil
	}
	correction := c.rule
	meant, _ := c.meant(name)
	if dir, base := path.Split(meant); strings.EqualFold(base, "SKILL.md") {
		meant = strings.TrimSuffix(dir, "/")
	}
	meant, _ = names.TrimMarkdown(meant)
	if slices.ContainsFunc(c.layers, func(l layer) bool { return l.Plugins != nil }) {
		meant = strings.ReplaceAll(meant, "/", ":")
	}
	if names.Loose(meant) {
		correction = "write " + quote(meant)
	}
	return &Error{Code: c.invalid, Op: op, Path: name, Message: "invalid " + c.noun + " name " + quote(name) + "; " + correction}
}

// shadows returns the places of the entries that an entry shadows.
func (c *collection[Info]) shadows(s *index.Snapshot, e *index.Entry) (places []string) {
	for _, other := range s.Shadows(e) {
		places = append(places, c.Place(other))
	}
	return places
}

// headerDescription returns the description in the header of a skill or an agent.
func headerDescription(e *index.Entry) string {
	return strings.TrimSpace(agentmd.NewFrontmatter(e.Header()).Text("description"))
}

// unknownName returns the error for a name that no shown entry has.
func (c *collection[Info]) unknownName(op, name, stem string, shown *index.Snapshot) error {
	return &Error{Code: c.notFound, Op: op, Path: name, Message: "there is no " + c.noun + " " + quote(stem) + "; " + c.hint(shown.Entries, stem)}
}

// ambiguousName returns the error for a name that several plugins have.
func (c *collection[Info]) ambiguousName(op, name string, candidates []*index.Entry) error {
	e := &Error{Code: CodeAmbiguousName, Op: op, Path: name}
	for _, candidate := range candidates {
		e.Names = append(e.Names, candidate.Name)
	}
	shown := make([]string, min(len(e.Names), maxShownNames))
	for i := range shown {
		shown[i] = quote(e.Names[i])
	}
	e.Message = fmt.Sprintf("%d %ss of plugins have the name %s; write %s", len(e.Names), c.noun, quote(name), strings.Join(shown, " or "))
	if more := len(e.Names) - len(shown); more > 0 {
		e.Message += fmt.Sprintf(" or one of %d other names", more)
	}
	return e
}

// maxShownNames is the number of candidates in a message.
const maxShownNames = 5

// The limits of the memory of an iteration over all texts, in bytes.
const (
	maxCollected = 64 << 20 // texts that the scan has read
	maxAhead     = 32 << 20 // texts ahead of the consumer
)

// loadAll ranges over all entries, with their texts. An entry that cannot be loaded is the result
// of unloaded, with the reason or nil.
func loadAll[T, Info any](ctx context.Context, c *Catalog, in *collection[Info], op string, read reader[T, Info], unloaded func(*index.Snapshot, *index.Entry, error) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		if err := c.begin(ctx, op); err != nil {
			yield(zero, err)
			return
		}
		all, entries, err := in.collected(ctx, op)
		if err != nil {
			yield(zero, err)
			return
		}
		ending, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.lifetime, cancel)()
		type loaded struct {
			reading[T, Info]
			err error
		}
		last, o := -1, in.observer.Begin(ctx)
		weight := func(i int) int64 { return entries[i].Unread() }
		for i, now := range parallel.Ahead(ending, c.config.maxReads, len(entries), maxAhead, weight, func(ctx context.Context, i int) (l loaded) {
			if !c.lifetime.Enter() {
				return loaded{err: fs.ErrClosed}
			}
			defer c.lifetime.Leave()
			if l.err = entries[i].Broken(); l.err == nil {
				l.reading, l.err = read(c, ctx, all, entries[i].Entry, entries[i].Text)
			}
			return l
		}) {
			if ending.Err() != nil || c.lifetime.Err() != nil { // ending follows lifetime with a delay
				break
			}
			last = i
			if errors.Is(now.err, fs.ErrNotExist) && entries[i].Broken() == nil || !in.filter.KeepsAll(now.states) {
				continue // removed, or hidden by a change, since the scan
			}
			now.entry = entries[i].Entry
			if now.err != nil {
				now.value = unloaded(all, now.entry, now.err)
				if in.observer != nil {
					now.err = in.fileError(op, now.entry.Name, now.entry, now.err)
				}
			}
			in.send(o, Event{Action: EventLoaded}, now.outcome, now.err)
			if !yield(now.value, nil) {
				return
			}
			o = in.observer.Begin(ctx)
		}
		switch {
		case last == len(entries)-1:
		case ctx.Err() != nil:
			yield(zero, ctx.Err())
		default:
			yield(zero, closedMeanwhile(op))
		}
	}
}

// collected returns the current entries, and the entries that a range shows.
func (c *collection[Info]) collected(ctx context.Context, op string) (all *index.Snapshot, entries []index.Collected, err error) {
	texts, end := c.CollectTexts(maxCollected)
	defer end() // also after a panic of the caller's filesystem
	all, shown, err := c.list(ctx, op)
	if err != nil {
		return nil, nil, err
	}
	return all, c.Collected(shown, texts), nil
}

// unread returns the problem of a file that could not be read after the scan. If the scan could not
// read the file either, the entry has its problems.
func (c *collection[Info]) unread(e *index.Entry, err error) []problem.Problem {
	if e.Broken() != nil {
		return e.Problems()
	}
	if rejection := (*index.Rejection)(nil); errors.As(err, &rejection) {
		return rejection.Reasons
	}
	return []problem.Problem{c.Unread(e, err)}
}

// lookupError returns the error for a name if the directories cannot be scanned.
func (c *collection[Info]) lookupError(op, name, stem string, err error) error {
	failed := c.layerError(op, err)
	if CodeOf(failed) != CodeDirectoryNotFound {
		return failed
	}
	reason := rootNotFound(op, c.root, failed).Message
	var at *index.LayerError
	if errors.As(err, &at) && !at.NoRoot {
		reason = "no directory of " + c.noun + "s exists" + c.missingReason(at) + "; check the configuration"
	}
	return &Error{Code: c.notFound, Op: op, Path: name, Message: "there is no " + c.noun + " " + quote(stem) + ", because " + reason, Err: failed}
}

// fileError describes why the file of an entry cannot be read. An *Error of a reader
// stays.
func (c *collection[Info]) fileError(op, name string, entry *index.Entry, err error) error {
	if CodeOf(err) != "" {
		return err
	}
	file := c.file + " of " + c.noun + " " + quote(entry.Name)
	if c.LayerOf(entry).Files {
		file = "the file of " + c.noun + " " + quote(entry.Name)
	}
	e := &Error{Code: CodeFileRead, Op: op, Path: name, Err: err,
		Message: "cannot read " + file + " (" + escape.Reason(err) + "); " + c.LayerOf(entry).ReadAdvice(err)}
	switch {
	case errors.Is(err, fs.ErrClosed):
		return closedMeanwhile(op)
	case errors.As(err, new(*index.Rejection)):
		e.Message = file + " is rejected by the rules of WithStrict: " + err.Error()
	case errors.Is(err, index.ErrTooLarge):
		e.Code, e.Message = CodeFileTooLarge, file+" is larger than allowed; shorten the file, or raise the limit with WithMaxFileSize"
	case errors.Is(err, digest.ErrChanging):
		e.Message = "the files of " + c.noun + " " + quote(entry.Name) + " change while they are read; try again"
	case errors.Is(err, index.ErrNoSkillFile):
		e.Code, e.Message = c.notFound, "the directory "+quote(entry.Name)+" has no SKILL.md; add a SKILL.md with a name and a description in its frontmatter"
	case errors.Is(err, fs.ErrNotExist) && entry.Broken() != nil:
		e.Message = file + " is a broken link; replace the link by the file"
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = c.notFound, c.noun+" "+quote(entry.Name)+" was removed a moment ago; list the "+c.noun+"s for the names"
	}
	return e
}

// layerError converts an error of the index to an *Error. The contract of
// list_skills prescribes the texts for missing and unreadable directories.
func (c *collection[Info]) layerError(op string, err error) error {
	if err == nil {
		return nil
	}
	var failed *index.LayerError
	switch {
	case errors.Is(err, fs.ErrClosed) && !errors.As(err, &failed):
		return closedMeanwhile(op)
	case !errors.As(err, &failed):
		return err // error of the context
	case failed.NoRoot:
		return rootNotFound(op, c.root, failed)
	}
	content := c.noun + "s"
	if c.layers[failed.Layer].Plugins != nil {
		content = "plugins"
	}
	e := directoryError(op, c.layers[failed.Layer].Name, content, failed.Err, c.Layer(failed.Layer))
	if e.Code == CodeDirectoryNotFound {
		e.Message += c.missingReason(failed)
	}
	return e
}

// missingReason returns the reason of a store for a missing directory, in parentheses. If the
// error says no more than fs.ErrNotExist, missingReason returns "".
func (c *collection[Info]) missingReason(failed *index.LayerError) string {
	cause := escape.Cause(failed.Err)
	_, system := cause.(syscall.Errno)
	if c.layers[failed.Layer].FS == nil || system || cause == fs.ErrNotExist {
		return ""
	}
	return " (" + escape.Name(cause.Error()) + ")"
}

// rootNotFound returns the error of every method if the root does not exist or is a file.
func rootNotFound(op, root string, err error) *Error {
	if errors.Is(err, confine.ErrNotDir) {
		return &Error{Code: CodeNotADirectory, Op: op, Path: root, Err: err, Message: "root " + quote(root) + " is a file; pass a directory to WithRoot"}
	}
	return &Error{Code: CodeDirectoryNotFound, Op: op, Path: root, Err: err, Message: "root " + quote(root) + " does not exist; check the path given to WithRoot"}
}

// directoryError returns the error for a directory that cannot be read. The contract of list_skills
// fixes the first two texts. The content of the directory is "commands", "skills", "agents",
// "plugins" or "reports". A directory of reports has no layer.
func directoryError(op, name, content string, err error, layer index.Layer) *Error {
	e := &Error{Op: op, Path: name, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = CodeDirectoryNotFound, strings.ToUpper(content[:1])+content[1:]+" folder not found at path: "+name
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message = CodePermissionDenied, "Permission denied reading "+content+" folder"
	case errors.Is(err, confine.ErrNotDir):
		e.Code, e.Message = CodeNotADirectory, "the directory "+quote(name)+" of "+content+" is a file; name another directory in the options"
	case errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink):
		e.Code, e.Message = CodeOutsideRoot, "the directory "+quote(name)+" of "+content+" is behind a link that is not followed; replace the link by the directory, or see WithSymlinks"
	default:
		e.Code, e.Message = CodeFileRead, "cannot read the directory "+quote(name)+" of "+content+" ("+escape.Reason(err)+"); "+layer.ReadAdvice(err)
	}
	return e
}

// A reading is the result of a reader, with every state of the entry that the
// reader has seen. The filter must keep all states. Without a filter, the states
// are unknown.
type reading[T, Info any] struct {
	value  T
	states []Info
	from   *collection[Info] // of a skill below the root; otherwise nil
	outcome
}

// An outcome is what an observer learns of a reading.
type outcome struct {
	entry  *index.Entry // nil without an entry
	digest string       // of the bytes; "" without an observer
	bytes  int
	hidden bool // the filter or the gate refuses the entry
}

// of completes an event of an entry with the name of its layer.
func (e Event) of(kind string, entry *index.Entry, layer string) Event {
	e.Kind, e.Name, e.Layer, e.Plugin = Kind(kind), entry.Name, layer, entry.Plugin()
	return e
}

// seen completes the event of a call for an entry. The event has the action, and the name and the
// path as given.
func (c *collection[Info]) seen(ctx context.Context, e Event, found outcome) Event {
	e.Kind, e.Digest, e.Bytes = Kind(c.noun), found.digest, found.bytes
	if found.entry != nil {
		e = e.of(c.noun, found.entry, c.LayerOf(found.entry).Name)
	}
	if found.hidden {
		e.Action, e.Reason, e.Digest, e.Bytes = EventRefused, "filter", "", 0
		if reason, digest := c.filter.Guard.Refusal(ctx, found.entry); reason != "" {
			e.Reason, e.Digest = reason, digest
		}
	}
	return e
}

// send sends the event that seen returns.
func (c *collection[Info]) send(o observe.Call[Event], e Event, found outcome, err error) {
	if ctx := o.Context(); ctx != nil {
		o.Send(c.seen(ctx, e, found), err)
	}
}

// A reader reads the file of an entry of a snapshot. If the argument kept, the text that the scan has
// read, is not nil, the reader reads no file. If the reader fails, the states count all the same.
type reader[T, Info any] func(c *Catalog, ctx context.Context, s *index.Snapshot, e *index.Entry,
	kept *index.Cached[string]) (reading[T, Info], error)

// A lookup finds the entry with a name or, if no entry has the name, with the stem of the
// name, and reads the file of the entry.
type lookup[T, Info any] struct {
	catalog    *Catalog
	from       *collection[Info]
	op         string
	name, stem string
	read       reader[T, Info]
	kept       bool // read may return a kept value, without a wait, also after the end of its context

	// If not nil, beside finds the collection of an unknown name, and the name there.
	beside func(context.Context) (*collection[Info], *Catalog, string, error)
}

// resolve returns the result of read for the entry, and sends the event with the action and the
// path of e.
func (l lookup[T, Info]) resolve(ctx context.Context, e Event) (value T, err error) {
	o := l.from.observer.Begin(ctx)
	now, err := l.find(ctx)
	e.Name = l.name
	cmp.Or(now.from, l.from).send(o, e, now.outcome, err)
	if err != nil {
		return value, err
	}
	return now.value, nil
}

// find returns the reading of the entry: in the last snapshot if stats prove the entry, or else in
// the result of a scan. If the error is not nil, only the outcome counts.
func (l lookup[T, Info]) find(ctx context.Context) (reading[T, Info], error) {
	if l.beside != nil {
		return l.findBeside(ctx)
	}
	return l.findListed(ctx)
}

// findBeside is find for a name that can be in the collection of beside. The name of a plugin may be
// missing only if no skill there has the name.
func (l lookup[T, Info]) findBeside(ctx context.Context) (reading[T, Info], error) {
	listed, failed, short := reading[T, Info]{}, error(nil), false
	if !exposure.Qualified(l.name) {
		listed, failed = l.findListed(ctx)
		short = listed.entry != nil && listed.entry.Name != l.name || CodeOf(failed) == CodeAmbiguousName
		if !short && (CodeOf(failed) != l.from.notFound || listed.hidden) {
			return listed, failed
		}
	}
	from, c, name, err := l.beside(ctx)
	if err != nil || short && name == l.name {
		return listed, cmp.Or(err, failed)
	}
	given := l.name
	l.catalog, l.from, l.name, l.stem = c, from, name, name
	shown := from.filter.Apply(ctx, from.way.All)
	now, err := l.in(ctx, from.way.All, shown)
	if now.from = from; CodeOf(err) == from.notFound {
		err = from.unknownName(l.op, given, given, shown) // also of a hidden skill
	}
	return now, err
}

// findListed is find for the name of a list.
func (l lookup[T, Info]) findListed(ctx context.Context) (reading[T, Info], error) {
	c := l.from
	if err := c.checkName(l.op, l.name); err != nil {
		return reading[T, Info]{}, err
	}
	if c.refresh != nil {
		if err := c.refresh(ctx); err != nil {
			return reading[T, Info]{}, err
		}
	}
	last := c.Last() // read once: a concurrent scan replaces the last snapshot
	now, err := reading[T, Info]{}, fs.ErrNotExist
	if l.kept {
		now, err = l.known(index.Ended, last) // needs no goroutine
	}
	if err != nil {
		now, err = awaitRoot(ctx, l.catalog, c.inRoot, func(ctx context.Context) (reading[T, Info], error) { return l.known(ctx, last) })
	}
	if err == nil && c.filter.Shows(ctx, now.entry) && c.filter.KeepsAll(now.states) {
		return now, nil
	}
	if ctx.Err() != nil {
		return reading[T, Info]{}, ctx.Err()
	}
	now, err = l.scanned(ctx, c.Snapshot)
	if c.watch && CodeOf(err) == c.notFound {
		// The system may not have reported a new file yet.
		return l.scanned(ctx, c.Validate)
	}
	return now, err
}

// known returns the reading of the entry that stats prove.
func (l lookup[T, Info]) known(ctx context.Context, s *index.Snapshot) (now reading[T, Info], err error) {
	e := l.from.Known(ctx, s, l.name, l.stem)
	if e == nil {
		return now, fs.ErrNotExist
	}
	now, err = l.read(l.catalog, ctx, s, e, nil)
	now.entry = e
	return now, err
}

// absent reports whether stats prove that no entry has the name.
func (l lookup[T, Info]) absent(ctx context.Context) bool {
	_, err := awaitRoot(ctx, l.catalog, l.from.inRoot, func(ctx context.Context) (none reading[T, Info], err error) {
		if !l.from.Absent(ctx, l.from.Last(), l.name) {
			err = fs.ErrExist
		}
		return none, err
	})
	return err == nil
}

// scanned resolves the name in the result of snapshot, which scans the files.
func (l lookup[T, Info]) scanned(ctx context.Context, snapshot func(context.Context) (*index.Snapshot, error)) (reading[T, Info], error) {
	all, err := snapshot(ctx)
	if err != nil {
		return reading[T, Info]{}, l.from.lookupError(l.op, l.name, l.stem, err)
	}
	return l.in(ctx, all, l.from.filter.Apply(ctx, all))
}

// in resolves the name in a snapshot. The snapshot shown has the entries of all that pass
// the filter.
func (l lookup[T, Info]) in(ctx context.Context, all, shown *index.Snapshot) (now reading[T, Info], err error) {
	e, candidates := shown.Find(l.name, l.stem)
	if now.entry = e; e == nil {
		now.entry, _ = all.Find(l.name, l.stem)
		now.hidden = now.entry != nil
	}
	switch unread := l.from.filter.Guard.Unread(all, now.entry, now.hidden, l.name, l.stem); {
	case len(candidates) > 0:
		return now, l.from.ambiguousName(l.op, l.name, candidates)
	case unread != nil:
		return now, &Error{Code: CodeFileRead, Op: l.op, Path: l.name, Err: unread.Err, Message: "cannot find " + l.from.noun + " " + quote(l.stem) + ", because " + unread.Reason}
	case e == nil:
		return now, l.from.unknownName(l.op, l.name, l.stem, shown)
	}
	now, err = awaitRoot(ctx, l.catalog, l.from.inRoot, func(ctx context.Context) (reading[T, Info], error) { return l.read(l.catalog, ctx, all, e, nil) })
	now.entry = e
	switch {
	case err != nil && ctx.Err() != nil:
		return now, ctx.Err()
	case !l.from.filter.KeepsAll(now.states): // the filter refuses the new content
		now.hidden = true
		return now, l.from.unknownName(l.op, l.name, l.stem, shown)
	case err != nil:
		return now, l.from.fileError(l.op, l.name, e, err)
	}
	return now, nil
}

// suggestion returns the end of a "not found" message: the entry with the most similar name, or
// else the advice.
func suggestion(entries []*index.Entry, name, advice string) string {
	if similar := index.Similar(entries, name); similar != "" {
		return "did you mean " + quote(similar) + "?"
	}
	return advice
}
