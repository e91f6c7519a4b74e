package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
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
type collection struct {
	*index.Index
	kind   client.Files
	finder *search.Finder
	engine Searcher // replaces finder, unless nil
	filter *filter  // Index knows no filter: list applies the filter, Index.Snapshot does not

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
	noun     string // "command", "skill" or "agent"
	file     string // "the file" or "SKILL.md"
	invalid  Code   // of a name that no entry can have
	names    names.Rule
	notFound Code                                           // of an unknown name
	hint     func(shown []*index.Entry, name string) string // completes the message for an unknown name
}

// open opens the layers of a new collection. The function drop removes from the caches the files
// that are not in a new snapshot. The error is the error of the watch.
func (c *collection) open(of *Catalog, user userDirs, kind client.Files, drop func(now *index.Snapshot), x index.Config, s search.Config) (*collection, error) {
	config := &of.config
	c.kind, x.Layers = kind, of.files.Open(c.layers, user)
	c.filter.Guard = config.newGuard(c.noun, c.layers, x.Layers)
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

// kinds returns the collections of a catalog.
func (c *Catalog) kinds() []*collection {
	return []*collection{c.commands, c.skills, c.agents, c.instructions}
}

// view returns a copy of the collection that shows only the entries that all
// functions keep.
func (c *collection) view(keeps func(*index.Snapshot, *index.Entry) bool) *collection {
	view := *c
	view.filter = c.filter.With(keeps)
	return &view
}

// list returns the current entries, and the entries that pass the filter, dependencies included. If
// no directory exists, list returns an error.
func (c *collection) list(ctx context.Context, op string) (all, shown *index.Snapshot, err error) {
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
func (c *collection) current(ctx context.Context) (*index.Snapshot, error) {
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
func (c *collection) shown(all *index.Snapshot) *index.Snapshot {
	return c.filter.Apply(context.Background(), all)
}

// optionalSnapshot returns the current entries without the filter, for a method
// that works without directories. If no option names a layer, missing directories
// are empty instead of an error.
func (c *collection) optionalSnapshot(ctx context.Context, op string) (*index.Snapshot, error) {
	all, err := c.current(ctx)
	var missing *index.LayerError
	if all != nil && errors.As(err, &missing) && !slices.ContainsFunc(c.layers, func(l layer) bool { return l.Named }) {
		return all, nil
	}
	return all, c.layerError(op, err)
}

// checkName returns an error for a name that no entry can have. The name of a file, such as "x..md"
// of the entry "x.", is valid if the stem is valid.
func (c *collection) checkName(op, name string) error {
	if stem, _ := names.TrimMarkdown(name); c.names.Valid(stem) || c.names.Valid(name) {
		return nil
	}
	dirs := []string{c.noun + "s"}
	for _, l := range c.layers {
		dirs = append(dirs, l.Name)
	}
	return &Error{Code: c.invalid, Op: op, Path: name, Message: "invalid " + c.noun + " name " +
		quote(name) + "; " + c.names.Correction(names.Meant(name, dirs))}
}

// shadows returns the places of the entries that an entry shadows.
func (c *collection) shadows(s *index.Snapshot, e *index.Entry) (places []string) {
	for _, other := range s.Shadows(e) {
		places = append(places, c.Place(other))
	}
	return places
}

// headerDescription returns the description in the header of a skill or an agent.
func headerDescription(e *index.Entry) string {
	return strings.TrimSpace(agentmd.NewFrontmatter(e.Header()).Text("description"))
}

// The limits of the memory of an iteration over all texts, in bytes.
const (
	maxCollected = 64 << 20 // texts that the scan has read
	maxAhead     = 32 << 20 // texts ahead of the consumer
)

// loadAll ranges over all entries, with their texts. An entry that cannot be loaded is the result
// of unloaded, with the reason or nil.
func loadAll[T any](ctx context.Context, c *Catalog, in *collection, op string, r reader[T], unloaded func(*index.Snapshot, *index.Entry, error) T) iter.Seq2[T, error] {
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
			reading[T]
			err error
		}
		last, o := -1, in.observer.Begin(ctx)
		weight := func(i int) int64 { return entries[i].Unread() }
		load := func(ctx context.Context, i int) loaded {
			l, e := loaded{err: entries[i].Broken()}, entries[i]
			if l.err == nil {
				of := lookup[T]{catalog: c, reader: r, all: all, entry: e.Entry, kept: e.Text}
				l.reading, l.err = of.read(ctx)
			}
			l.entry = e.Entry
			return l
		}
		for i, now := range parallel.Ahead(ending, c.config.maxReads, len(entries), maxAhead, weight, load) {
			if ending.Err() != nil || c.lifetime.Err() != nil { // ending follows lifetime with a delay
				break
			}
			last = i
			if errors.Is(now.err, fs.ErrNotExist) && entries[i].Broken() == nil || !now.kept() {
				continue // removed, or hidden by a change, since the scan
			}
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
func (c *collection) collected(ctx context.Context, op string) (all *index.Snapshot, entries []index.Collected, err error) {
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
func (c *collection) unread(e *index.Entry, err error) []problem.Problem {
	if e.Broken() != nil {
		return e.Problems()
	}
	if rejection := (*index.Rejection)(nil); errors.As(err, &rejection) {
		return rejection.Reasons
	}
	return []problem.Problem{c.Unread(e, err)}
}
