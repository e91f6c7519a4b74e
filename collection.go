package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/digest"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/search"
)

// A collection is the commands or the skills of a catalog, as the catalog shows
// them. All fields are set once. A view has a copy with another filter.
type collection[Info any] struct {
	*index.Index
	searcher *search.Searcher
	engine   Searcher      // replaces searcher, unless nil
	filter   *filter[Info] // Index knows no filter: shownSnapshot applies the filter, Index.Snapshot does not

	layers []layer // as given to the options, in the order of the index
	root   string  // as given to WithRoot
	watch  bool    // WithWatch
	inRoot bool    // all layers are below the root of the catalog

	description func(*index.Entry) string

	// The texts of errors.
	noun, title string                                         // "command" and "Command"
	file        string                                         // "the file" or "SKILL.md"
	notFound    Code                                           // of an unknown name
	hint        func(shown []*index.Entry, name string) string // completes the message for an unknown name
}

// newCommands returns the commands of a new catalog. The error is the error of the
// watch.
func (c *Catalog) newCommands(home string) (*collection[CommandInfo], error) {
	x, err := index.Commands(c.indexConfig(index.Config{
		Layers:  c.openLayers(c.config.commands.all, home),
		Nested:  c.config.nested,
		Valid:   c.validElement,
		Changed: c.commandsChanged,
		Whole:   c.caches.commandTexts.keep,
	}))
	if err != nil {
		return nil, err
	}
	description := func(e *index.Entry) string { return e.Description }
	return &collection[CommandInfo]{
		Index: x,
		searcher: search.New(c.searchConfig(search.Config{
			Index:       x,
			Description: description,
			Text:        c.caches.commandTexts.find,
			Reports:     c.reports.named(),
		})),
		engine: c.config.commandSearcher,
		filter: &filter[CommandInfo]{keep: c.config.keep.commands, info: func(_ *index.Snapshot, e *index.Entry) CommandInfo { return commandInfo(e) }},

		layers: c.config.commands.all,
		root:   c.config.root,
		watch:  c.config.watch,
		inRoot: c.inRoot(x.Layers()),

		description: description,

		noun:     "command",
		title:    "Command",
		file:     "the file",
		notFound: CodeCommandNotFound,
		hint: func(shown []*index.Entry, name string) string {
			return suggestion(shown, name, "list the commands for the names")
		},
	}, nil
}

// newSkills returns the skills of a new catalog. The error is the error of the watch.
func (c *Catalog) newSkills(home string) (*collection[SkillInfo], error) {
	x, err := index.Skills(c.indexConfig(index.Config{
		Layers:     c.openLayers(c.config.skills.all, home),
		Depth:      c.config.skillDepth,
		Broken:     true,
		KeepHeader: true,
		Changed:    c.skillsChanged,
		Whole:      c.caches.skillTexts.keep,
	}))
	if err != nil {
		return nil, err
	}
	description := func(e *index.Entry) string { return c.skillInfo(e).Description }
	return &collection[SkillInfo]{
		Index: x,
		searcher: search.New(c.searchConfig(search.Config{
			Index:       x,
			Description: description,
			Text:        c.caches.skillTexts.find,
		})),
		engine: c.config.skillSearcher,
		filter: &filter[SkillInfo]{keep: c.config.keep.skills, info: c.listedSkill},

		layers: c.config.skills.all,
		root:   c.config.root,
		watch:  c.config.watch,
		inRoot: c.inRoot(x.Layers()),

		description: description,

		noun:     "skill",
		title:    "Skill",
		file:     "SKILL.md",
		notFound: CodeSkillNotFound,
		hint:     skillHint,
	}, nil
}

func (c *Catalog) inRoot(layers []index.Layer) bool {
	return !slices.ContainsFunc(layers, func(l index.Layer) bool { return l.FS != c.root })
}

func (c *Catalog) indexConfig(x index.Config) index.Config {
	x.Lifetime = c.lifetime
	x.MaxFileSize, x.MaxReads = c.config.maxFileSize, c.config.maxReads
	x.TTL, x.Now = c.config.ttl, c.config.now
	x.Watch, x.Feed, x.Exited = c.config.watch, c.feed, c.logExit
	return x
}

func (c *Catalog) searchConfig(s search.Config) search.Config {
	s.MaxFileSize, s.MaxReads = c.config.maxFileSize, c.config.maxReads
	s.TTL, s.Now = c.config.ttl, c.config.now
	s.Watch = c.config.watch
	s.Logger = c.config.logger
	return s
}

// view returns a copy of the collection that shows only the entries that all
// functions keep.
func (c *collection[Info]) view(keep []func(Info) bool) *collection[Info] {
	view := *c
	view.filter = &filter[Info]{keep: keep, info: c.filter.info}
	return &view
}

// shownSnapshot returns the current entries that pass the filter, dependencies included.
// If no directory exists, shownSnapshot returns an error.
func (c *collection[Info]) shownSnapshot(ctx context.Context, op string) (*index.Snapshot, error) {
	all, err := c.Snapshot(ctx)
	if err != nil {
		return nil, c.layerError(op, err)
	}
	return c.filter.apply(all), nil
}

// optionalSnapshot returns the current entries without the filter, for a method
// that works without directories. If no option names a layer, missing directories
// are empty instead of an error.
func (c *collection[Info]) optionalSnapshot(ctx context.Context, op string) (*index.Snapshot, error) {
	all, err := c.Snapshot(ctx)
	var missing *index.LayerError
	if all != nil && errors.As(err, &missing) && !slices.ContainsFunc(c.layers, func(l layer) bool { return l.named }) {
		return all, nil
	}
	return all, c.layerError(op, err)
}

// meant returns the name that an invalid name probably means, without a check, and whether
// arguments follow the name.
func (c *collection[Info]) meant(name string) (meant string, arguments bool) {
	dirs := []string{c.noun + "s"}
	for _, l := range c.layers {
		dirs = append(dirs, l.name)
	}
	return names.Meant(name, dirs)
}

// unknownName returns the error for a name that no shown entry has.
func (c *collection[Info]) unknownName(op, name, stem string, shown *index.Snapshot) error {
	return &Error{Code: c.notFound, Op: op, Path: name,
		Message: "there is no " + c.noun + " " + quote(stem) + "; " + c.hint(shown.Entries, stem)}
}

// The limits of the memory of an iteration over all texts, in bytes.
const (
	maxCollected = 64 << 20 // texts that the scan has read
	maxAhead     = 32 << 20 // texts that are read ahead of the consumer
)

// A loader converts the text of an entry that can be loaded. If the texts contain the text of the
// entry, the loader reads no file.
type loader[T, Info any] func(ctx context.Context, s *index.Snapshot, e *index.Entry, texts *listedTexts) (reading[T, Info], error)

// loadAll ranges over all entries, with their texts. An entry that cannot be loaded is the result of
// unloaded, with the reason or nil.
func loadAll[T, Info any](ctx context.Context, c *Catalog, in *collection[Info], op string, load loader[T, Info], unloaded func(*index.Snapshot, *index.Entry, error) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		if err := c.begin(ctx, op); err != nil {
			yield(zero, err)
			return
		}
		var texts listedTexts
		texts.Max = maxCollected
		all, err := func() (*index.Snapshot, error) {
			defer in.Collect(texts.collect)() // also after a panic of the caller's filesystem
			return in.Snapshot(ctx)
		}()
		if err != nil {
			yield(zero, in.layerError(op, err))
			return
		}
		entries := in.filter.apply(all).Named()
		ending, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.lifetime, cancel)()
		type loaded struct {
			reading[T, Info]
			err error
		}
		last := -1
		for i, now := range parallel.Ahead(ending, c.config.maxReads, len(entries), maxAhead, func(i int) int64 { return entries[i].Stamp.Size }, func(ctx context.Context, i int) (l loaded) {
			if !c.enter() {
				return loaded{err: fs.ErrClosed}
			}
			defer c.leave()
			if l.err = entries[i].Broken(); l.err == nil {
				l.reading, l.err = load(ctx, all, entries[i], &texts)
			}
			return l
		}) {
			if ending.Err() != nil || c.lifetime.Err() != nil { // ending follows lifetime with a delay
				break
			}
			last = i
			if errors.Is(now.err, fs.ErrNotExist) && entries[i].Broken() == nil || !in.filter.keepsAll(now.states) {
				continue // removed, or hidden by a change, since the scan
			}
			value := now.value
			if now.err != nil {
				value = unloaded(all, entries[i], now.err)
			}
			if !yield(value, nil) {
				return
			}
		}
		switch {
		case ctx.Err() != nil && last < len(entries)-1:
			yield(zero, ctx.Err())
		case last < len(entries)-1:
			yield(zero, closedMeanwhile(op))
		}
	}
}

// unread returns the problem of a file that could not be read after the scan. If the scan could not
// read the file either, the entry has its problems.
func (c *collection[Info]) unread(e *index.Entry, err error) []problem.Problem {
	if e.Broken() != nil {
		return e.Problems()
	}
	return []problem.Problem{unreadFile(c.Index, e, err)}
}

func unreadFile(x *index.Index, e *index.Entry, err error) problem.Problem {
	return problem.Problem{Code: problem.FileRead, Severity: problem.Error, Path: x.Place(e),
		Message: "cannot read the file: " + escape.Reason(err), Suggestion: x.Layer(e.Layer()).ReadAdvice(err)}
}

// lookupError returns the error for a name if the directories cannot be scanned.
func (c *collection[Info]) lookupError(op, name, stem string, err error) error {
	failed := c.layerError(op, err)
	if CodeOf(failed) != CodeDirectoryNotFound {
		return failed
	}
	reason := rootMissingText(c.root)
	var at *index.LayerError
	if errors.As(err, &at) && !at.NoRoot {
		reason = "no directory of " + c.noun + "s exists" + c.missingReason(at) + "; check the configuration"
	}
	return &Error{Code: c.notFound, Op: op, Path: name, Message: "there is no " + c.noun + " " + quote(stem) + ": " + reason, Err: failed}
}

// fileError describes why the file of an entry cannot be read. An *Error of a reader
// stays.
func (c *collection[Info]) fileError(op, name string, entry *index.Entry, err error) error {
	if CodeOf(err) != "" {
		return err
	}
	file := c.file + " of " + c.noun + " " + quote(entry.Name)
	e := &Error{Code: CodeFileRead, Op: op, Path: name, Err: err,
		Message: "cannot read " + file + " (" + escape.Reason(err) + "); " + c.Layer(entry.Layer()).ReadAdvice(err)}
	switch {
	case errors.Is(err, fs.ErrClosed):
		return closedMeanwhile(op)
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
	e := directoryError(op, c.layers[failed.Layer].name, c.noun+"s", c.title+"s", failed.Err)
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
	if c.layers[failed.Layer].fsys == nil || system || cause == fs.ErrNotExist {
		return ""
	}
	return " (" + escape.Name(cause.Error()) + ")"
}

// rootNotFound returns the error of every method if the root does not exist.
func rootNotFound(op, root string, err error) error {
	return &Error{Code: CodeDirectoryNotFound, Op: op, Path: root, Err: err, Message: rootMissingText(root)}
}

func rootMissingText(root string) string {
	return "root " + quote(root) + " does not exist; check the path given to WithRoot"
}

// directoryError returns the error for a directory that cannot be read. The texts
// name the content of the directory in lower case and with a capital letter.
func directoryError(op, name, lower, upper string, err error) *Error {
	e := &Error{Op: op, Path: name, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = CodeDirectoryNotFound, upper+" folder not found at path: "+e.Path
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message = CodePermissionDenied, "Permission denied reading "+lower+" folder"
	case errors.Is(err, confine.ErrNotDir):
		e.Code, e.Message = CodeNotADirectory, upper+" directory is a file: "+e.Path+"; name another directory in the options"
	case errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink):
		e.Code, e.Message = CodeOutsideRoot, upper+" directory is behind a link that is not followed: "+e.Path+"; see WithSymlinks"
	default:
		e.Code, e.Message = CodeFileRead, upper+" directory cannot be read: "+e.Path+" ("+escape.Reason(err)+")"
	}
	return e
}
