package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/mounts"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// A Catalog provides the commands, skills and files of one project. A Catalog is
// safe for concurrent use. All state is in the filesystem: each call sees the
// files as they are, unless [WithCacheTTL], [WithWatch] or [WithFeed] is set.
//
// If the context of a method ends, the method returns the context's error, even if
// the filesystem does not answer. If the root and everything mounted below are on
// disks of a Linux machine, the methods for files (ListDir, Tree, FindFiles, Stat,
// ReadFile and Grep) first finish the system call in progress. After Close, every
// method with a context returns [ErrClosed].
type Catalog struct {
	*shared
	commands *collection[CommandInfo]
	skills   *collection[SkillInfo]

	view  bool        // created by View, not by New
	ended atomic.Bool // set by Close of a view
}

// shared is the state that a catalog shares with its views.
type shared struct {
	config  config
	onOS    bool   // the operating system's filesystem
	rootDir string // full path of the root on the catalog's filesystem
	root    *confine.FS
	local   *mounts.Tree // of the root; nil if the root cannot be local, see awaitRoot
	opened  []*confine.FS
	changes changes
	reports reportDirectories

	feed *index.Feed // nil without WithFeed

	caches     caches
	usageReads usageReads
	reading    chan struct{} // has an element for each file that usageReads reads

	closing  atomic.Bool     // Close was called
	lifetime context.Context // ends with Close
	end      context.CancelFunc
	pending  sync.RWMutex // read-locked by work on the filesystem, locked forever by Close
}

// maxCache bounds the memory of each cache of a catalog, in bytes.
const maxCache = 16 << 20

// caches hold contents of files and values computed from contents. Before the use of a
// value, the catalog compares the metadata of the file.
type caches struct {
	commands index.Cache[Command]
	texts    index.Cache[[]byte] // of commands in remote stores
	skills   index.Cache[skillText]
	digests  index.Cache[fileDigest]
	usages   index.Cache[usage]
	lines    index.Cache[*text.Index]
}

// New returns a Catalog. Without options, the catalog reads the directories
// "commands" and "skills" of the working directory.
//
// New reads nothing. The method that needs a missing directory reports the error,
// and the directory may be created later. With [WithWatch], New starts to read in
// the background. With [WithConventionalDirs], New checks whether the home
// directory is the root. New returns [ErrInvalidOption] if an option cannot be
// used.
func New(opts ...Option) (*Catalog, error) {
	config, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	_, isOS := config.fs.(*afero.OsFs)
	c := &Catalog{shared: &shared{config: config, onOS: config.fs == nil || isOS, rootDir: filepath.Clean(config.root)}}
	c.reading = make(chan struct{}, config.maxReads)
	c.lifetime, c.end = context.WithCancel(context.Background())
	for _, max := range []*int64{&c.caches.commands.Max, &c.caches.texts.Max, &c.caches.skills.Max, &c.caches.digests.Max, &c.caches.usages.Max, &c.caches.lines.Max} {
		*max = maxCache
	}
	if c.onOS {
		if c.rootDir, err = filepath.Abs(c.rootDir); err != nil {
			return nil, invalidOption("WithRoot: the working directory is unknown: " + escape.Reason(err))
		}
	}
	if config.watch && !c.onOS {
		return nil, invalidOption("WithWatch: only the operating system's filesystem can be watched; omit the option, or use WithCacheTTL")
	}
	if config.feed.run != nil {
		if c.onOS && !slices.ContainsFunc(slices.Concat(config.commands.all, config.skills.all), func(l layer) bool { return l.fsys != nil }) {
			return nil, invalidOption("WithFeed: every layer is on the operating system's filesystem; use WithWatch, or add a layer with WithCommandsFS or WithSkillsFS")
		}
		c.feed = index.NewFeed(config.feed.maxAge, config.now)
	}
	c.root = c.open(c.rootDir)
	if c.onOS && len(config.trusted) == 0 {
		c.local = mounts.New(c.rootDir)
	}
	c.openReports()
	inHome := func(l layer) bool { return l.home }
	home := ""
	if slices.ContainsFunc(slices.Concat(config.commands.all, config.skills.all), inHome) {
		home = c.home()
	}
	if home == "" {
		c.config.commands.all = slices.DeleteFunc(c.config.commands.all, inHome)
		c.config.skills.all = slices.DeleteFunc(c.config.skills.all, inHome)
	}
	if c.commands, err = c.newCommands(home); err == nil {
		c.skills, err = c.newSkills(home)
	}
	if err != nil {
		c.Close()
		return nil, &Error{Code: CodeInvalidOption, Op: "New", Err: err,
			Message: "WithWatch: the system cannot watch directories: " + escape.Reason(err) + "; omit the option"}
	}
	if c.feed != nil {
		go func() {
			err := c.feed.Run(c.lifetime, config.feed.run)
			c.config.logger.Debug("the feed has ended; every call checks the store", "error", err)
		}()
	}
	return c, nil
}

// commandsChanged removes from the caches all commands that are not in the new
// snapshot, and wakes the subscribers.
func (c *Catalog) commandsChanged(before, now *index.Snapshot) {
	has := func(f index.File) bool { return now.Has(f.Layer, f.Path) }
	c.caches.commands.Retain(has)
	c.caches.texts.Retain(has)
	c.caches.usages.Retain(has)
	c.logChange(now)
	c.changes.notify(snapshots{commands: before})
}

// skillsChanged removes from the caches all skills that are not in the new
// snapshot, with the digests of their files, and wakes the subscribers.
func (c *Catalog) skillsChanged(before, now *index.Snapshot) {
	c.caches.skills.Retain(func(f index.File) bool { return now.HasSkill(f.Layer, path.Dir(f.Path)) })
	c.caches.digests.Retain(func(f index.File) bool {
		for dir := path.Dir(f.Path); ; dir = path.Dir(dir) {
			if now.HasSkill(f.Layer, dir) {
				return true
			}
			if dir == "." {
				return false
			}
		}
	})
	c.logChange(now)
	c.changes.notify(snapshots{skills: before})
}

func (c *Catalog) logChange(now *index.Snapshot) {
	if !c.config.logger.Enabled(c.lifetime, slog.LevelDebug) {
		return
	}
	c.config.logger.Debug("files changed", "generation", now.Generation, "listed", len(now.Entries), "problems", len(now.Problems()))
}

// open confines a directory of the catalog's filesystem.
func (c *Catalog) open(dir string) *confine.FS {
	opts := []confine.Option{confine.TrustDirs(c.config.trusted...)}
	if c.config.symlinks == SymlinksDeny {
		opts = []confine.Option{confine.DenySymlinks()}
	}
	var fsys afero.Fs = afero.NewOsFs()
	if !c.onOS {
		fsys = c.config.fs
	}
	return c.confined(confine.Over(fsys, dir, opts...))
}

// confined registers a filesystem for Close. The error is always nil: dir is
// absolute on the operating system's filesystem, and newConfig has checked the
// options.
func (c *Catalog) confined(fsys *confine.FS, err error) *confine.FS {
	if err != nil {
		panic(err)
	}
	c.opened = append(c.opened, fsys)
	return fsys
}

// home returns the user's home directory. On a filesystem other than the operating
// system's, or if the home directory is unknown or is the root, home returns "".
func (c *Catalog) home() string {
	home, err := os.UserHomeDir()
	if !c.onOS || err != nil || !filepath.IsAbs(home) || sameDir(home, c.rootDir) {
		return ""
	}
	return home
}

// sameDir reports whether two paths name the same directory, also through
// links.
func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// layers gives each layer a confined filesystem. A directory within the root is
// opened through the root. Links between the directories of a project therefore
// work, and links that leave the project do not.
func (c *Catalog) layers(named []layer, home string) []index.Layer {
	var all []index.Layer
	for _, l := range named {
		if l.fsys != nil {
			fsys := c.confined(confine.Over(afero.FromIOFS{FS: l.fsys}, "."))
			all = append(all, index.Layer{Name: l.name, FS: fsys, Dir: ".", Fixed: true, Immutable: l.immutable, Store: l.fsys, Fed: c.feed != nil})
			continue
		}
		dir := l.name
		if l.home {
			dir = filepath.Join(home, strings.TrimPrefix(dir, "~"))
		}
		fsys, below := c.locate(dir)
		if fsys == c.root {
			all = append(all, index.Layer{Name: l.name, FS: fsys, Dir: below, InRoot: !c.rootIsTop(), Fed: c.feed != nil && !c.onOS})
		} else {
			all = append(all, index.Layer{Name: l.name, FS: fsys, Dir: below, Optional: l.home, Fed: c.feed != nil && !c.onOS})
		}
	}
	return all
}

// locate returns a confined filesystem that contains a directory, and the path of
// the directory on it. A directory within the root is located on c.root.
func (c *Catalog) locate(dir string) (fsys *confine.FS, below string) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.rootDir, dir)
	}
	if below, err := filepath.Rel(c.rootDir, dir); err == nil && filepath.IsLocal(below) {
		return c.root, filepath.ToSlash(below)
	}
	return c.open(dir), "."
}

// rootIsTop reports whether the root is the top of a filesystem other than the
// operating system's. The top exists even if a stat fails, as in an empty
// afero.MemMapFs.
func (c *Catalog) rootIsTop() bool {
	top := path.Clean(filepath.ToSlash(c.rootDir))
	return !c.onOS && (top == "." || top == "/")
}

// View returns a Catalog of the same files with additional filters. The view shows
// only entries that pass the filters of c and the given filters, for example the
// skills for one of several agents. View returns [ErrInvalidOption] if the function
// of a filter is nil, and [ErrClosed] after Close.
//
// A view costs almost nothing, because the view shares all caches, scans and
// watches with c. Close of a view ends the view's subscriptions and rejects
// further calls of the view's methods. Calls in progress continue, and other
// catalogs are not affected. Close of the Catalog that New returned closes all its
// views. [Catalog.ListDir] and the other file methods are not filtered.
func (c *Catalog) View(filters ...Filter) (*Catalog, error) {
	const op = "View"
	if c.isClosed() {
		return nil, closedError(op)
	}
	keep := filterFuncs{slices.Clone(c.commands.filter.keep), slices.Clone(c.skills.filter.keep)}
	for _, filter := range filters {
		if filter == nil {
			continue
		}
		if err := filter(&keep); err != nil {
			return nil, inOp(op, err)
		}
	}
	return &Catalog{shared: c.shared, view: true, commands: c.commands.view(keep.commands), skills: c.skills.view(keep.skills)}, nil
}

// Close ends all calls in progress and releases the open directories. A call in
// progress returns ErrClosed, or its result if the call is about to end. A report
// that [Catalog.SaveReport] has begun to write is still completed. After Close has
// returned, the catalog does not touch the filesystem. A second Close does
// nothing. The error is always nil. [Catalog.View] describes the Close of a view.
//
// Close waits for each filesystem call in progress, but not for the catalog method
// that made the call. If the filesystem hangs, Close hangs too. A method whose
// context ends returns even then.
//
// Close does not wait for the caller's functions: the f of [Catalog.OnChange] or
// [WithProgress], a filter, a function of [WithNextSteps], [WithFeed], [PromptTokens]
// or [BudgetTokens]. These functions may still run after Close has returned, and may
// call Close. A method of the caller's filesystem, logger or [Searcher] must not call
// Close, because Close waits for the method.
func (c *Catalog) Close() error {
	if c.view {
		c.ended.Store(true)
		c.changes.end(c)
		return nil
	}
	if c.closing.Swap(true) {
		return nil
	}
	c.end()
	c.changes.close()
	if c.commands != nil { // nil if New fails
		c.commands.Close()
	}
	if c.skills != nil {
		c.skills.Close()
	}
	c.pending.Lock() // never unlocked
	for _, fsys := range c.opened {
		fsys.Close()
	}
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

func (c *Catalog) isClosed() bool { return c.ended.Load() || c.closed() }

// closed reports whether the catalog was closed. For a view, closed reports
// whether the view's catalog was closed.
func (c *Catalog) closed() bool { return c.lifetime.Err() != nil }

func closedError(op string) error {
	return &Error{Code: CodeClosed, Op: op, Message: "the catalog is closed; create another catalog with New"}
}

func closedMeanwhile(op string) error {
	return &Error{Code: CodeClosed, Op: op, Message: "the catalog was closed during the call; create another catalog with New"}
}

// methodError sets the method of an error. If Close caused the error, methodError
// returns ErrClosed.
func (c *Catalog) methodError(op string, err error) error {
	if errors.Is(err, fs.ErrClosed) && c.closed() {
		return closedMeanwhile(op)
	}
	return inOp(op, err)
}

// enter reports whether the catalog may touch the filesystem. Close waits for
// leave. After Close began, enter reports false.
func (c *Catalog) enter() bool { return c.pending.TryRLock() }
func (c *Catalog) leave()      { c.pending.RUnlock() }

// await returns the result of do, which touches the filesystem with a context
// that ends with ctx and with Close. As soon as ctx ends, await returns the
// error of ctx, and leaves the goroutine of do behind if the filesystem hangs.
// A panic and a runtime.Goexit in do end the caller's goroutine.
//
// No function of the caller's may run in do, because Close waits for do.
func await[T any](ctx context.Context, c *Catalog, do func(context.Context) (T, error)) (T, error) {
	if ctx.Done() == nil {
		return direct(c, c.lifetime, do)
	}
	var zero T
	if !c.enter() {
		return zero, fs.ErrClosed
	}
	type outcome struct {
		value T
		err   error
		exit  *parallel.Exit
	}
	ending, cancel := context.WithCancel(ctx)
	defer cancel()
	within := callContext{ending, c.lifetime}
	done := make(chan outcome, 1)
	go func() {
		defer c.leave()
		var o outcome
		parallel.Run(func() { o.value, o.err = do(within) }, func(exit *parallel.Exit) {
			o.exit = exit
			done <- o
		})
	}()
	closing := c.lifetime.Done()
	for {
		select {
		case o := <-done:
			if o.exit != nil {
				o.exit.Resume()
			}
			return o.value, c.closedCause(o.err)
		case <-ctx.Done():
			return zero, ctx.Err()
		case <-closing:
			cancel()
			closing = nil
		}
	}
}

// awaitRoot is await for a do that reads only files below the root. On a local disk, no
// system call waits for a network or another program, and do looks at its context
// between system calls. There, do runs on the caller's goroutine, because another
// goroutine can cost more than a small directory.
func awaitRoot[T any](ctx context.Context, c *Catalog, do func(context.Context) (T, error)) (T, error) {
	if c.local != nil && c.local.Local() {
		return direct(c, callContext{ctx, c.lifetime}, do)
	}
	return await(ctx, c, do)
}

// direct calls do on the caller's goroutine.
func direct[T any](c *Catalog, ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	if !c.enter() {
		var zero T
		return zero, fs.ErrClosed
	}
	defer c.leave()
	value, err := do(ctx)
	return value, c.closedCause(err)
}

// A callContext is the context of a call. After Close, Err returns an error immediately.
// With await, Done also closes after Close.
type callContext struct {
	context.Context
	lifetime context.Context
}

func (c callContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	return c.lifetime.Err()
}

// closedCause returns fs.ErrClosed for an error that Close has caused.
func (c *Catalog) closedCause(err error) error {
	if errors.Is(err, context.Canceled) && c.closed() {
		return fs.ErrClosed
	}
	return err
}

// A CommandList is one page of commands.
type CommandList struct {
	Commands   []CommandInfo `json:"commands"` // never null
	Pagination Pagination    `json:"pagination"`
}

// CommandInfo describes a command in a list.
type CommandInfo struct {
	Name         string    `json:"name"`                   // without ".md", as accepted by Get
	Description  string    `json:"description"`            // from the frontmatter, else the first paragraph on a single line; may be empty
	Size         int64     `json:"size"`                   // file size in bytes
	LastModified time.Time `json:"last_modified,omitzero"` // UTC; zero, and omitted in JSON, if unknown to the filesystem
}

// List returns one page of commands in case-insensitive name order (Unicode simple
// folding). Names that differ only in case are ordered by their bytes.
//
// List omits hidden files, README.md, files with an invalid command name (see
// [WithLooseNames]), unreadable files, and commands with is_dependency: true.
// [Catalog.Lint] reports the invalid names and the unreadable files. If several
// layers contain the same name, the first layer wins, even if its command is
// omitted or unreadable.
//
// List returns [ErrDirectoryNotFound] if no layer directory exists, or if a layer
// directory is missing because the root does not exist. List returns
// [ErrPermissionDenied] or [ErrFileRead] if a layer directory cannot be read,
// [ErrNotADirectory] if a layer is a file, and [ErrOutsideRoot] if a symbolic link
// leads a layer outside the root. [Paginate] describes the errors of a page.
//
// List reads each layer directory once and stats each file. List reads the
// beginning of new and changed files, 4 KB of most files. On a filesystem without
// change times (see [WithFs]), List reads the beginning of every file. Concurrent
// calls share one scan.
//
// The catalog keeps the descriptions and the problems of all commands in memory:
// up to 4 KB of each command, and up to 32 MiB in total for commands that need
// more. If the 32 MiB are used up, List cuts the description of a further large
// command to 1 KB, and Lint reports FRONTMATTER_NOT_KEPT. The order of reading
// decides which of the large commands are cut. [Catalog.Get] returns every command
// complete.
func (c *Catalog) List(ctx context.Context, page Page) (CommandList, error) {
	const op = "List"
	if err := c.begin(ctx, op); err != nil {
		return CommandList{}, err
	}
	if _, err := page.normalized(); err != nil {
		return CommandList{}, inOp(op, err)
	}
	snapshot, err := c.commands.snapshot(ctx, op)
	if err != nil {
		return CommandList{}, err
	}
	entries, pagination, err := commandPage(snapshot, page)
	if err != nil {
		return CommandList{}, inOp(op, err)
	}
	list := CommandList{Commands: make([]CommandInfo, len(entries)), Pagination: pagination}
	for i, e := range entries {
		list.Commands[i] = commandInfo(e)
	}
	return list, nil
}

func commandPage(snapshot *index.Snapshot, page Page) ([]*index.Entry, Pagination, error) {
	return paginate(snapshot.Entries, page, "commands", func(e *index.Entry) string { return e.Name }, names.Compare)
}

// All iterates over all commands of List, in the same order. The commands are
// those of the time when the iteration begins. If an error of List occurs, All
// yields the error once, with a zero CommandInfo, and ends.
func (c *Catalog) All(ctx context.Context) iter.Seq2[CommandInfo, error] {
	return func(yield func(CommandInfo, error) bool) {
		const op = "All"
		if err := c.begin(ctx, op); err != nil {
			yield(CommandInfo{}, err)
			return
		}
		snapshot, err := c.commands.snapshot(ctx, op)
		if err != nil {
			yield(CommandInfo{}, err)
			return
		}
		for _, e := range snapshot.Entries {
			if err := ctx.Err(); err != nil {
				yield(CommandInfo{}, err)
				return
			}
			if !yield(commandInfo(e), nil) {
				return
			}
		}
	}
}

func commandInfo(e *index.Entry) CommandInfo {
	return CommandInfo{
		Name:         e.Name,
		Description:  e.Description,
		Size:         e.Stamp.Size,
		LastModified: utc(e.Stamp.Modified()),
	}
}

// utc converts the time of a file for results. JSON cannot express every time that
// a file can have; utc returns the zero time for the others.
func utc(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
