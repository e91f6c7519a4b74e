package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/changes"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/exposure"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
	"github.com/toolshelf-go/toolshelf/internal/layers"
	"github.com/toolshelf-go/toolshelf/internal/lifetime"
	"github.com/toolshelf-go/toolshelf/internal/meaning"
	"github.com/toolshelf-go/toolshelf/internal/mounts"
	"github.com/toolshelf-go/toolshelf/internal/observe"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/paths"
	"github.com/toolshelf-go/toolshelf/internal/release"
	"github.com/toolshelf-go/toolshelf/internal/reports"
	"github.com/toolshelf-go/toolshelf/internal/servers"
	"github.com/toolshelf-go/toolshelf/internal/skill"
	"github.com/toolshelf-go/toolshelf/internal/text"
	"github.com/toolshelf-go/toolshelf/internal/usage"
)

// A Catalog provides the commands, skills, agents and files of one project. A Catalog is
// safe for concurrent use. All state is in the filesystem: each call sees the
// files as they are, unless [WithCacheTTL], [WithWatch] or [WithFeed] is set.
//
// If the context of a method ends, the method returns the context's error, even if the filesystem
// does not answer. If the root and everything mounted below are on disks of a Linux machine, the
// methods for files (ListDir, Tree, FindFiles, Stat, ReadFile and Grep) and for one command, skill
// or agent (Get, GetSkill, ReadSkillFile and GetAgent) first finish the system call in progress.
// After Close, every method with a context returns [ErrClosed].
type Catalog struct {
	*shared
	commands *collection
	skills   *collection
	agents   *collection

	instructions *collection        // the rules
	asked        *instruction.Asked // the single files
	servers      servers.List
	keep         filterFuncs

	view  bool         // created by View, not by New
	whole *Catalog     // of the catalog of one call; see along
	ended *atomic.Bool // set by Close of a view
}

// bridged has the methods of a catalog that package internal/bridge documents.
type bridged struct {
	*Catalog
	prompts selection
}

var _ bridge.Catalog[SkillInfo, SkillFile] = bridged{}

func init() {
	bridge.Open = func(catalog any) any { return bridged{catalog.(*Catalog), selection{commands: true, skills: true}} }
	bridge.ForModel = func(catalog any) any { return catalog.(*Catalog).forModel() }
	bridge.WithMaxReads = func(n int) any {
		return optionFunc(func(c *config) { c.maxReads = n })
	}
	bridge.WithElements = promptOption(func(o *promptOptions) { o.elements = true })
	bridge.WithoutSizes = dirOption(func(o *dirOptions) { o.withoutSizes = true })
}

// shared is the state that a catalog shares with its views.
type shared struct {
	config    config
	at        paths.Root
	parents   []paths.Parent // with WithParents
	root      *confine.FS
	local     *mounts.Tree // of the root; nil if the root cannot be local, see awaitRoot
	files     layers.Files
	changes   changes.Hub
	unwatched sync.Once                // logs that OnChange has no source
	observer  *observe.Observer[Event] // nil without WithObserver
	indexes   []*index.Index           // of the commands, the skills and the agents; fewer if New fails
	reports   reports.Directories

	commandDirs []string // of the layers of commands: the path of the filesystem, with a separator at the end

	feed     *index.Feed    // nil without WithFeed
	meanings *meaning.Store // nil without WithEmbedder
	finder   *instruction.Finder
	settings *exposure.Reader // of skills; nil without settings
	below    exposure.Below   // the skills below the root

	caches caches
	usages usage.Reader // of prompts

	lifetime *lifetime.Lifetime // ends with Close
}

// caches hold contents of files and values computed from contents. Before the use of a
// value, the catalog compares the metadata of the file.
type caches struct {
	commands index.Loader[Command]
	skills   skill.Reader
	agents   index.Loader[Agent]
	lines    index.Cache[*text.LineIndex]
}

// New returns a Catalog. Without options, the catalog reads the directories
// "commands" and "skills" of the working directory.
//
// New reads nothing. The method that needs a missing directory reports the error, and the directory
// may be created later. With [WithWatch], New starts to read in the background. With [WithClient],
// New checks whether the home directory is the root, and [WithParents] looks for a .git above the
// root. New returns [ErrInvalidOption] if an option cannot be used.
func New(opts ...Option) (*Catalog, error) {
	const op = "New"
	config, err := newConfig(opts)
	if err != nil {
		return nil, inOp(op, err)
	}
	c := &Catalog{shared: &shared{config: config}, keep: config.keep, ended: new(atomic.Bool),
		asked: new(instruction.Asked), servers: servers.List{Asked: new(servers.Asked)}}
	c.at = paths.Root{Dir: filepath.Clean(config.root), OnOS: config.onOS()}
	if c.at.OnOS {
		if c.at.Dir, err = filepath.Abs(c.at.Dir); err != nil {
			return nil, inOp(op, invalidOption("WithRoot: the working directory is unknown ("+
				escape.Reason(err)+"); pass an absolute directory"))
		}
	}
	c.files = layers.Files{At: c.at, Given: config.fs, Options: config.linkOptions(), Fed: config.feed.listen != nil}
	if err := c.addParents(); err != nil {
		return nil, inOp(op, err)
	}
	if config.observer != nil {
		more := func(n int) Event { return Event{Action: EventChanged, Count: n} }
		c.observer = &observe.Observer[Event]{Func: config.observer, Finish: finishEvent, More: more,
			Logger: config.logger}
	}
	c.namePlugins()
	c.lifetime = lifetime.New()
	release.Warn(config.logger, runtime.GOOS, runtime.Version())
	c.usages.Open(config.maxReads, c.lifetime, c.lifetime.Enter, c.lifetime.Leave)
	c.root = c.files.Confine(c.at.Dir)
	c.files.Root = c.root
	if c.at.OnOS && config.symlinks < SymlinksTrusted {
		c.local = mounts.New(c.at.Dir)
	}
	c.reports.Open(config.reports, c.files.Locate, c.at.OnOS)
	if config.feed.listen != nil {
		c.feed = index.NewFeed(config.feed.maxAge, config.now)
	}
	if e := config.embedder; e != nil {
		c.meanings = meaning.New(meaning.Config{ID: e.ID(), Embed: e.Embed, Dir: config.vectorCache,
			Lifetime: c.lifetime, Enter: c.lifetime.Enter, Leave: c.lifetime.Leave, Logger: config.logger})
	}
	user := c.openUser()
	if c.commands, err = c.newCommands(user); err == nil {
		c.skills, err = c.newSkills(user)
	}
	if err == nil {
		c.agents, err = c.newAgents(user)
	}
	if err == nil {
		c.instructions, err = c.newInstructions(user)
	}
	c.openServers(user)
	if err != nil {
		c.Close()
		return nil, &Error{Code: CodeInvalidOption, Op: op, Err: err,
			Message: "WithWatch: the system cannot watch directories (" + escape.Reason(err) + "); omit the option"}
	}
	for _, l := range c.commands.Layers() {
		c.commandDirs = append(c.commandDirs, strings.TrimSuffix(l.FS.Path("x"), "x"))
	}
	if c.feed != nil {
		go func() {
			err := c.feed.Run(c.lifetime, config.feed.listen)
			config.logger.Debug("the feed has ended; every call checks the store", "error", err)
		}()
	}
	return c, nil
}

// changed returns the Config.Changed of the next index. The function calls drop, which removes from
// the caches the files that are not in the new snapshot, and wakes the subscribers.
func (c *Catalog) changed(drop func(now *index.Snapshot)) func(before, now *index.Snapshot) {
	list := len(c.indexes)
	return func(before, now *index.Snapshot) {
		drop(now)
		if c.config.logger.Enabled(c.lifetime, slog.LevelDebug) {
			c.config.logger.Debug("files changed", "generation", now.Generation,
				"listed", len(now.Entries), "problems", len(now.Problems()))
		}
		c.changes.Notify(list, before)
	}
}

// logExit reports a panic of a function of the caller on a goroutine without a caller.
func (c *Catalog) logExit(exit *parallel.Exit) {
	c.config.logger.Error("a function of the program did not return in the background; "+
		"the next call runs the function again", "exit", exit.String())
}

// View returns a Catalog of the same files with additional filters, for example the skills for one
// of several agents. View returns [ErrInvalidOption] if the function of a filter is nil, and
// [ErrClosed] after Close. [Catalog.ListDir] and the other file methods are not filtered.
//
// A view costs almost nothing, because the view shares all caches, scans and watches with c. Close
// of a view ends the view's subscriptions and rejects further calls of the view's methods. Close of
// the Catalog that New returned closes all its views.
func (c *Catalog) View(filters ...Filter) (*Catalog, error) {
	const op = "View"
	if c.isClosed() {
		return nil, closedError(op)
	}
	keep := c.keep
	for _, filter := range filters {
		if filter == nil {
			continue
		}
		if err := filter(&keep); err != nil {
			return nil, inOp(op, err)
		}
	}
	return &Catalog{
		shared: c.shared, view: true, ended: new(atomic.Bool), keep: keep,
		commands:     c.commands.view(keepsEntries(keep.commands, c.listedCommand)),
		skills:       c.skills.view(keepsEntries(keep.skills, c.listedSkill)),
		agents:       c.agents.view(keepsEntries(keep.agents, c.listedAgent)),
		instructions: c.instructions,
		asked:        new(instruction.Asked),
		servers:      servers.List{Finder: c.servers.Finder, Asked: new(servers.Asked)},
	}, nil
}

// Close ends all calls in progress and releases the open directories. A call in progress returns
// [ErrClosed], or its result if the call is about to end. A report that [Catalog.SaveReport] has
// begun to write is still completed. After Close has returned, the catalog does not touch the
// filesystem. A second Close does nothing. The error is always nil.
//
// Close waits for each filesystem call in progress: if the filesystem hangs, Close hangs too. Close
// does not wait for the caller's functions, such as the f of [Catalog.OnChange] or a filter, which
// may call Close. A method of the caller's filesystem, logger or [Searcher] must not call Close.
func (c *Catalog) Close() error {
	if c.view {
		c.ended.Store(true)
		c.changes.End(c.ended)
		return nil
	}
	if !c.lifetime.End() {
		return nil
	}
	c.changes.Close()
	if c.finder != nil {
		c.finder.Observer.Close()
	}
	c.below.Observer.Close()
	c.servers.Close()
	for _, x := range c.indexes {
		x.Close()
	}
	c.lifetime.Wait()
	c.files.Close()
	if c.local != nil {
		c.local.Close()
	}
	return nil
}

// begin returns the error of a method that starts after Close or after the end of
// ctx.
func (c *Catalog) begin(ctx context.Context, op string) error {
	if c.isClosed() {
		return closedError(op)
	}
	return ctx.Err()
}

func (c *Catalog) isClosed() bool { return c.ended.Load() || c.sharedClosed() }

// sharedClosed reports whether the catalog that New returned was closed. The Close of a
// view does not count.
func (s *shared) sharedClosed() bool { return s.lifetime.Err() != nil }

func closedError(op string) error {
	return &Error{Code: CodeClosed, Op: op, Message: "the catalog is closed; create another catalog with New"}
}

func closedMeanwhile(op string) error {
	return &Error{Code: CodeClosed, Op: op, Message: "the catalog was closed during the call; create another catalog with New"}
}

// methodError sets the method of an error. If Close caused the error, methodError
// returns ErrClosed.
func (c *Catalog) methodError(op string, err error) error {
	if errors.Is(err, fs.ErrClosed) && c.sharedClosed() {
		return closedMeanwhile(op)
	}
	return inOp(op, err)
}

// A Change describes the differences since the last Change of a subscriber. Names are in the
// order of List. Lists without names are nil.
//
// A command, an agent or a rule changes with the metadata of its file, and a skill with the
// metadata of its SKILL.md. Other files of a skill cause no Change, except in a layer of
// [WithGate]: there, every file of the skill causes a Change. A new version, hook or server of a
// plugin causes no Change.
type Change struct {
	Commands Names
	Skills   Names // with WithWatch on Linux, also of the directories of ListSkillsFor
	Agents   Names

	Instructions Names // paths of rules and, with WithWatch on Linux, of single files; see Instruction.Path
	MCPServers   Names // if the program has called MCPServers
}

// Names are the commands, skills, agents or instructions that a list newly shows, no longer shows,
// or shows with another file.
type Names struct {
	Added   []string
	Removed []string
	Changed []string
}

// OnChange calls f with the names that were added, removed and changed, whenever the commands,
// skills, agents or rules of [Catalog.Instructions] differ from the previous scan. With [WithWatch]
// or [WithFeed], the catalog scans after a reported change. Without both, only a method that lists
// scans the files of its kind, and the first OnChange logs a warning ([WithLogger]).
//
// The result of the first scan is not a change. With WithWatch, OnChange may perform the first scan
// itself, and read every command, skill and agent. Otherwise, call a method that lists first.
//
// Calls of f do not overlap, follow the order of the changes, and run in a goroutine of their own.
// The function f may call every method of the catalog. The changes during a call of f are one later
// Change. A panic of f ends the program. The subscription ends with stop or with Close, which do
// not wait for a running f. The document docs/methods.md has the details.
func (c *Catalog) OnChange(f func(Change)) (stop func()) {
	if !c.config.watch && c.feed == nil {
		c.unwatched.Do(func() {
			c.config.logger.Warn("without WithWatch or WithFeed, OnChange reports a change after the next call that lists")
		})
	} else if c.config.watch && !c.isClosed() {
		for _, x := range c.indexes {
			if x.Last() == nil {
				_, _ = x.Snapshot(context.Background()) // methods that list return the error
			}
		}
	}
	listServers := func() { _, _ = c.listServers(c.lifetime, "OnChange", observe.Call[Event]{}) }
	return c.changes.Subscribe(&changes.Subscriber{
		Lists: []changes.List{
			{Index: c.commands.Index, Shown: c.commands.shown},
			{Index: c.skills.Index, Shown: c.skills.shown, More: c.skillsBelow()},
			{Index: c.agents.Index, Shown: c.agents.shown},
			{Index: c.instructions.Index, Since: c.instructionsSince()},
			{Index: c.commands.Index, More: c.servers.Asked.Follow(listServers)}},
		Ended:  c.ended,
		Exited: c.logExit,
		Call: func(change changes.Change) {
			f(Change{Names(change[0]), Names(change[1]), Names(change[2]), Names(change[3]), Names(change[4])})
		},
	})
}

// await is lifetime.Await.
func await[T any](ctx context.Context, c *Catalog, do func(context.Context) (T, error)) (T, error) {
	return lifetime.Await(ctx, c.lifetime, do)
}

// awaitRoot is await. If do reads only files below the root, inRoot is true. On a local disk, no
// system call waits for a network or another program, and do looks at its context
// between system calls. There, do runs on the caller's goroutine, because another
// goroutine can cost more than a small directory.
func awaitRoot[T any](ctx context.Context, c *Catalog, inRoot bool, do func(context.Context) (T, error)) (T, error) {
	if inRoot && c.onDisk() {
		return lifetime.Direct(ctx, c.lifetime, do)
	}
	return await(ctx, c, do)
}

// onDisk reports whether all files below the root are on a local disk.
func (c *Catalog) onDisk() bool { return c.local != nil && c.local.Local() }
