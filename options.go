package toolshelf

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/audit"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/layers"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/paths"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/reports"
)

const defaultMaxFileSize = 10 << 20

// An Option sets one property of a Catalog. If several options set the same
// property, the last option wins. Layer options and filters accumulate: each layer
// option appends its directories below the previous layers, and each filter
// applies in addition to the previous filters.
//
// New ignores a nil Option.
type Option interface{ apply(*config) }

// An optionFunc is an Option that only New accepts.
type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

// An optionError is the first error of the options of a call.
type optionError struct{ err error }

func (e *optionError) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// require fails with ErrInvalidOption unless ok, and returns ok. The arguments cost an allocation,
// also if ok.
func (e *optionError) require(ok bool, format string, args ...any) bool {
	if !ok {
		e.fail(invalidOption(fmt.Sprintf(format, args...)))
	}
	return ok
}

// check fails with ErrInvalidOption if err is not nil.
func (e *optionError) check(err error) {
	if err != nil {
		e.fail(invalidOption(err.Error()))
	}
}

// config holds the values of the options. New turns a config into a Catalog.
type config struct {
	optionError

	gate  Gate     // of WithGate
	gated []string // the layers of WithGate; none means the layers of the project

	fs          afero.Fs // nil for the operating system's filesystem
	root        string
	home        *string // of WithHome
	boundary    *string // of WithParents
	clients     bool    // WithClient or WithInstructions is given
	commands    layers.List
	skills      layers.List
	agents      layers.List
	plugins     layers.List
	manifests   []string // of the clients of WithClient
	mentions    []string // of the clients of WithClient
	nested      bool
	colons      bool // the names of commands may contain ":", because of directories or a prefix
	looseNames  bool
	skillDepth  int
	symlinks    Symlinks
	trusted     []string
	maxFileSize int64
	maxReads    int
	nextSteps   func(Command) string // nil for the default rule
	logger      *slog.Logger
	ttl         time.Duration
	now         func() time.Time
	watch       bool
	feed        feed
	reports     reports.Names
	keep        filterFuncs
	strict      *lint.Profile // of WithStrict, or nil

	exposure func(SkillInfo) Exposure // of WithExposure, or nil

	commandSearcher Searcher // nil for the built-in search
	skillSearcher   Searcher
	embedder        Embedder // nil for words alone
	vectorCache     string   // of WithVectorCache, or ""

	instructions layers.List     // of rules
	readers      []client.Client // of WithInstructions
	placed       []client.Client // of WithClient

	observer func(context.Context, Event) // or nil
}

// A feed is the source of WithFeed. Without WithFeed, listen is nil.
type feed struct {
	maxAge time.Duration
	listen func(ctx context.Context, touch func(paths ...string)) error
}

func newConfig(opts []Option) (config, error) {
	c := config{
		root:        ".",
		maxFileSize: defaultMaxFileSize,
		maxReads:    parallel.MaxReads,
		logger:      slog.New(slog.DiscardHandler),
		now:         time.Now,
	}
	for _, opt := range opts {
		if opt != nil && c.err == nil {
			opt.apply(&c)
		}
	}
	if c.err != nil {
		return c, c.err
	}
	c.commands.AddDefault("commands")
	c.skills.AddDefault("skills")
	c.addPlugins()
	c.require(c.boundary == nil || c.clients,
		"WithParents: the catalog has no client; add WithClient or WithInstructions")
	c.colons = c.nested || len(c.plugins.All) > 0 || slices.ContainsFunc(c.commands.All, func(l layer) bool { return l.Place.Nested() || l.Place.Prefix != "" })
	c.require(c.vectorCache == "" || c.embedder != nil,
		"WithVectorCache: the catalog has no vectors; add WithEmbedder")
	c.completeTrusted()
	c.checkGate()
	c.checkSources()
	return c, c.err
}

// onOS reports whether the files are on the operating system's filesystem.
func (c *config) onOS() bool {
	switch c.fs.(type) {
	case nil, *afero.OsFs, afero.OsFs:
		return true
	}
	return false
}

// completeTrusted checks the directories of SymlinksTrusted.
func (c *config) completeTrusted() {
	trusted := make([]string, len(c.trusted))
	for i, dir := range c.trusted {
		full, ok := paths.Absolute(dir, c.onOS())
		c.require(ok, "WithSymlinks: the trusted directory %q is not an absolute path", dir)
		trusted[i] = full
	}
	c.trusted = trusted
}

// checkSources fails if the sources of changes, WithWatch and WithFeed, suit no layer.
func (c *config) checkSources() {
	onFS := func(l layer) bool { return l.FS != nil }
	c.require(!c.watch || c.onOS(),
		"WithWatch: only the operating system's filesystem can be watched; omit the option, or use "+
			"WithCacheTTL")
	c.require(c.feed.listen == nil || !c.onOS() || slices.ContainsFunc(c.allLayers(), onFS),
		"WithFeed: every layer is on the operating system's filesystem; use WithWatch, or add a layer "+
			"with WithCommandsFS or WithSkillsFS")
}

func (c *config) layerLists() []*layers.List {
	return []*layers.List{&c.commands, &c.skills, &c.agents, &c.instructions}
}

func (c *config) allLayers() []layer {
	return slices.Concat(c.commands.All, c.skills.All, c.agents.All, c.instructions.All)
}

// WithFs reads through fsys instead of the operating system's filesystem: an afero.MemMapFs in a
// test, a bucket, an archive. The guarantees differ; see "Confinement" in the package
// documentation.
//
// A filesystem has change times if its FileInfo.Sys has the change time of the operating system (a
// *syscall.Stat_t), or if its FileInfo is [Versioned]. On Linux, only local filesystems of the
// operating system have change times. On a filesystem without change times, each list reads the
// first 4 KB of every file, Search reads every file, and Get and GetSkill read their file. Use
// [WithCacheTTL] if reads are expensive.
func WithFs(fsys afero.Fs) Option {
	return optionFunc(func(c *config) {
		c.require(fsys != nil, "WithFs: the filesystem is nil")
		c.fs = fsys
	})
}

// WithRoot sets the project root. ListDir and the other file methods never leave
// the root, and relative layer directories are below the root. The default is ".",
// the working directory at the time of New, and the top of a filesystem of [WithFs]. An empty dir
// means ".".
func WithRoot(dir string) Option {
	return optionFunc(func(c *config) { c.root = cmp.Or(dir, ".") })
}

// WithCommandsDir reads commands from these directories, highest precedence first, instead of from
// the default directory "commands". A relative directory is below the root. Without arguments,
// WithCommandsDir removes the default directory without a replacement. The table "Missing
// directories" of docs/reference.md has the result of each method if every directory is missing.
func WithCommandsDir(dirs ...string) Option {
	return optionFunc(func(c *config) {
		c.check(c.commands.AddDirs("WithCommandsDir", dirs, index.Place{}))
	})
}

// WithSkillsDir reads skills from these directories, highest precedence first,
// instead of from the default directory "skills". The rules of [WithCommandsDir]
// apply. Of the methods that read skills, ListSkills and Skills return
// [ErrDirectoryNotFound] if the default directory is missing.
func WithSkillsDir(dirs ...string) Option {
	return optionFunc(func(c *config) {
		c.check(c.skills.AddDirs("WithSkillsDir", dirs, index.Place{}))
	})
}

// WithCommandsFS reads commands from the top of fsys, such as an embed.FS (use fs.Sub for a
// directory of fsys). The name identifies fsys in the field Layer of the commands, and in
// diagnostics.
//
// The default directory "commands" of the root stays, with precedence over all layers, so a project
// can replace the commands of fsys. To read fsys alone, add WithCommandsDir(). The layers of
// earlier options have precedence: give the directories before WithCommandsFS to override fsys.
//
// The catalog reads an embed.FS, and a filesystem marked with [Immutable], once. The files of any
// other fs.FS may change at any time. An fs.FS over a remote store should be [Versioned];
// docs/stores.md describes all interfaces that save requests.
func WithCommandsFS(name string, fsys fs.FS) Option {
	return optionFunc(func(c *config) { c.check(c.commands.AddFS("WithCommandsFS", name, fsys)) })
}

// WithSkillsFS reads skills from the top of fsys. The rules of [WithCommandsFS]
// apply. The default directory "skills" stays, with precedence over all layers.
func WithSkillsFS(name string, fsys fs.FS) Option {
	return optionFunc(func(c *config) { c.check(c.skills.AddFS("WithSkillsFS", name, fsys)) })
}

// WithClient reads the places in which the clients keep commands, skills and agents, in place of
// the default directories: WithClient(client.Claude()) reads .claude/commands, .claude/skills and
// .claude/agents of the project and of the home directory. A program may also pass a row of its
// own. [WithInstructions] reads instructions.
//
// Each place is a layer. The places of the project have precedence over the places of the user, and
// the places of an earlier client over the places of a later client. A missing directory is empty.
// Without a home directory, and on a filesystem other than the operating system's without
// [WithHome], the catalog reads only the places of the project.
//
// Names and placeholder rules follow the client: .gemini/commands/git/commit.toml is the command
// "git:commit" with the text of its field prompt. A row without a place, or that is not valid
// (client.Client.Check), is [ErrInvalidOption].
func WithClient(clients ...client.Client) Option {
	return optionFunc(func(c *config) {
		places, err := layers.Places(clients)
		if !c.require(err == nil, "WithClient: %v", err) {
			return
		}
		c.commands.AddPlaces(places[client.Commands])
		c.skills.AddPlaces(places[client.Skills])
		c.agents.AddPlaces(places[client.Agents])
		c.plugins.AddPlaces(layers.PluginPlaces(clients))
		for _, row := range clients {
			c.manifests = append(c.manifests, row.Manifests...)
			if row.Mention != "" && !slices.Contains(c.mentions, row.Mention) {
				c.mentions = append(c.mentions, row.Mention)
			}
		}
		c.clients, c.placed = true, append(c.placed, clients...)
	})
}

// WithHome sets the home directory of [WithClient] and [WithInstructions], on the filesystem of the
// catalog, and has no effect without both. A relative dir is below the root. If dir is "", the
// catalog reads no directory of a user, as a server for several users should. The default is
// os.UserHomeDir on the operating system's filesystem, and no home directory on another filesystem.
func WithHome(dir string) Option {
	return optionFunc(func(c *config) { c.home = &dir })
}

// WithParents also reads, for the places of [WithClient] and [WithInstructions] whose client looks
// up (client.Place), the directories above the root, nearest first: up to the first directory with
// a .git, or to the directory boundary, whichever is nearer. A relative boundary is below the root,
// as in "..". Without a .git and with the boundary "", the catalog reads no parent. If the boundary
// does not contain the root, or both options are missing, New returns [ErrInvalidOption].
//
// The places of the parents follow the places of the project and precede the places of the user.
// New determines the parents. A parent that belongs to another user is not read, and Lint reports
// agentmd.DiagDirectoryOfOtherUser. The document docs/precedence.md has the details.
func WithParents(boundary string) Option {
	return optionFunc(func(c *config) { c.boundary = &boundary })
}

// WithStrict serves only the files that a client loads: a file for which Lint with [LintFor]
// reports an error in the header or a field cannot be loaded. Such a skill has Loadable false in
// ListSkills, and the errors in its Diagnostics. List, prompts, searches and MCP omit such a file,
// and Get and GetSkill return [ErrFileRead] with the first error. The file hides the files of its
// name in lower layers.
//
// With client.AgentSkills(), the catalog loads the skills that the reference validator accepts. The
// directories of the client are not read; add [WithClient]. Without WithStrict, the catalog loads
// every file that can be read.
func WithStrict(c client.Client) Option {
	return optionFunc(func(config *config) {
		err := c.Check()
		config.require(err == nil, "WithStrict: %v", err)
		config.strict = lint.For(c)
	})
}

// judge returns the Config.Judge of a kind of files.
func (c *config) judge(kind client.Files) func(l index.Layer, name, path string, raw []byte, doc matter.Document) []problem.Problem {
	if c.strict == nil {
		return nil
	}
	return func(l index.Layer, name, path string, raw []byte, doc matter.Document) []problem.Problem {
		return c.strict.Rejects(kind, audit.File(l, name, path, raw, doc))
	}
}

// WithNestedCommands also reads the subdirectories of command directories: the
// file frontend/component.md is the command "frontend:component". Hidden
// directories are skipped at every depth.
func WithNestedCommands() Option {
	return optionFunc(func(c *config) { c.nested = true })
}

// maxSkillDepth is the deepest search for skills that the client guide of the
// Agent Skills format mentions.
const maxSkillDepth = 6

// WithSkillDepth looks for skills in the given number of directory levels, 1 to 6. With 2, both
// skills/scraper/SKILL.md and skills/web/scraper/SKILL.md are skills. The default is 1. The name of
// a skill is the name of its own directory. Of several skills with the same name in a layer, the
// skill nearest to the layer wins, then the first by path.
//
// A skill may contain further skills, but only in direct subdirectories; the files of an inner
// skill also belong to the outer skill. Below the first level, the catalog reads at most 2,000
// directories without a SKILL.md, and at most 100 in the directory of one skill. Lint reports a
// search that ends early.
func WithSkillDepth(levels int) Option {
	return optionFunc(func(c *config) {
		c.require(levels >= 1 && levels <= maxSkillDepth,
			"WithSkillDepth: %d levels; use 1 to %d", levels, maxSkillDepth)
		c.skillDepth = levels
	})
}

// WithLooseNames accepts every command name that is a single safe path element,
// such as "my command" or "v1.2". Without WithLooseNames, names consist of
// letters, digits, "_" and "-". Loose names contain no separator, control
// character or invalid UTF-8, and do not begin with a dot.
func WithLooseNames() Option {
	return optionFunc(func(c *config) { c.looseNames = true })
}

// Symlinks determines which symbolic links the catalog follows: to commands, skills and
// directories of reports, in the paths of the methods for files, and to the files that
// FindFiles returns and Grep searches. ListDir and Tree show a link as a link. Tree,
// FindFiles and Grep enter no linked directory.
type Symlinks int

const (
	SymlinksInside  Symlinks = iota // links that stay inside the root; the default
	SymlinksDeny                    // no links
	SymlinksTrusted                 // links that stay inside the root or lead into a given directory
	SymlinksAll                     // every link, wherever the link leads; see WithSymlinks for the danger
)

// WithSymlinks sets which symbolic links the catalog follows. A link to a command or a
// skill that is not followed causes a diagnostic. SymlinksTrusted requires dirs: absolute
// paths of directories outside the root, such as a directory that all projects of a user
// share.
//
// With SymlinksAll, whoever can write into the project chooses the files of the machine that the
// catalog reads and shows to a model. Use SymlinksAll only if the operating system confines the
// program, or if the user has written all files. On Windows, SymlinksAll includes all volumes.
//
// For a layer outside the root, "the root" is the layer's own directory.
func WithSymlinks(policy Symlinks, dirs ...string) Option {
	return optionFunc(func(c *config) {
		c.require(policy >= SymlinksInside && policy <= SymlinksAll,
			"WithSymlinks: no policy %d; use SymlinksInside, SymlinksDeny, SymlinksTrusted or "+
				"SymlinksAll", policy)
		c.require((policy == SymlinksTrusted) == (len(dirs) > 0),
			"WithSymlinks: SymlinksTrusted requires the directories that links may lead into; the other "+
				"policies accept no directories")
		c.symlinks, c.trusted = policy, dirs
	})
}

// WithMaxFileSize sets the maximum size in bytes of a command, a SKILL.md or
// another file of a skill. The default is 10 MiB. A larger command is not listed.
// Get, GetSkill and ReadSkillFile return [ErrFileTooLarge] without reading a
// larger file. A file is read into one slice, so the limit is below [math.MaxInt]
// for every n: below 2 GiB on a 32-bit platform.
func WithMaxFileSize(n int64) Option {
	return optionFunc(func(c *config) {
		c.require(n >= 1, "WithMaxFileSize: %d bytes; use 1 or more", n)
		c.maxFileSize = min(n, math.MaxInt-1)
	})
}

// WithNextSteps replaces the rule for Command.NextSteps. Get calls f with the
// finished Command, in the goroutine of Get's caller. If f returns "", the command
// has no hint. If f is nil, no command has a hint.
//
// The default adds a hint to each command whose name or content contains analyze,
// analysis, diagnostic, debug, inspect, investigate or report, in any letter case.
// With [WithReports], the hint names the tool report_feedback.
func WithNextSteps(f func(Command) string) Option {
	if f == nil {
		f = func(Command) string { return "" }
	}
	return optionFunc(func(c *config) { c.nextSteps = f })
}

// WithReports allows SaveReport to write shared reports into one directory and
// local reports into another. A relative directory is below the root, on the
// catalog's filesystem. The first report creates a missing directory. If a
// directory is "", SaveReport rejects reports of its kind. If both are "", SaveReport
// rejects all reports. Both directories may be the same.
//
// If a directory is a link, or is reached through a link, [WithSymlinks] decides
// whether SaveReport uses the directory. Do not use a directory of commands: with
// [WithNestedCommands] each report would become a command.
func WithReports(shared, local string) Option {
	return optionFunc(func(c *config) { c.reports = reports.Names{Shared: shared, Local: local} })
}

// WithCacheTTL lets each method that lists, searches or checks commands or skills use the
// result of an earlier scan for the duration d, without another look at the files. During
// this time, Get and GetSkill do not find new files. Get and GetSkill never return an
// outdated text: they stat the file, or read the file on a filesystem without change times
// (see [WithFs]). The default, 0, is a scan in every call.
func WithCacheTTL(d time.Duration) Option {
	return optionFunc(func(c *config) {
		c.require(d >= 0, "WithCacheTTL: %v; use 0 or more", d)
		c.ttl = d
	})
}

// WithWatch lets the operating system report changes in the directories of commands, skills,
// agents, rules and plugins. If nothing has changed since the last call, a call costs no scan, and
// OnChange reports changes as they happen, usually within milliseconds. A call still stats the
// directory of each layer, and Get stats its file. On a local disk of Linux, [Catalog.Instructions]
// returns the answer of the last call for the path.
//
// WithWatch supports only the operating system's filesystem. With another filesystem, New returns
// [ErrInvalidOption]. The catalog assumes that the layers of [WithCommandsFS], [WithSkillsFS] and
// [WithPluginsFS] do not change, except stores (see [SnapshotFS]): if a layer is a store, each call
// scans all layers, unless [WithFeed] reports the changes. The document docs/methods.md states
// which changes the system does not report.
func WithWatch() Option {
	return optionFunc(func(c *config) { c.watch = true })
}

// WithFeed lets the program report the changes of a remote store, so that calls make no request
// while nothing changes. The feed covers the layers of [WithCommandsFS] and [WithSkillsFS] and,
// with [WithFs], all layers.
//
// New calls feed in a goroutine. The feed calls touch when the feed is connected, and after each
// change; the paths may be omitted. Before the first touch, after feed has returned, and when
// maxAge has passed since the last touch, every call checks the store itself.
//
// The ctx of feed ends with Close, which does not wait for feed. The catalog logs the error of
// feed. If maxAge is not positive, feed is nil, or the feed covers no layer, New returns
// [ErrInvalidOption]. The document docs/stores.md has the details.
func WithFeed(maxAge time.Duration, feed func(ctx context.Context, touch func(paths ...string)) error) Option {
	return optionFunc(func(c *config) {
		c.require(maxAge > 0, "WithFeed: a maximum age of %v; use a positive duration", maxAge)
		c.require(feed != nil,
			"WithFeed: the function is nil; omit the option to check the store in each call")
		c.feed.maxAge, c.feed.listen = maxAge, feed
	})
}

// WithLogger sends messages for maintainers to l, at debug level. By default, and with nil, the
// catalog does not log. A panic of the caller's filesystem or of a filter on a goroutine without a
// caller, as in a scan in the background, is a message at error level. New warns of a release of Go
// whose os.Root has a known defect, where the catalog uses os.Root (docs/platforms.md), and the
// first OnChange of a missing [WithWatch] or [WithFeed].
func WithLogger(l *slog.Logger) Option {
	return optionFunc(func(c *config) { c.logger = cmp.Or(l, slog.New(slog.DiscardHandler)) })
}

// WithSearcher makes Search use the engine commands and SearchSkills use the engine skills. If an
// engine is nil, its method keeps the built-in search. [PromptFor] uses the same engines. Use an
// engine for more than 100,000 commands or skills.
//
// Search omits the hits that List omits, and asks the engine for up to 1,000 hits. The results keep
// the order of the engine and have the tier "tier2". If a score is above 1, Search divides all
// scores by the highest score. If the engine returns an error, Search returns [ErrSearchFailed].
func WithSearcher(commands, skills Searcher) Option {
	return optionFunc(func(c *config) { c.commandSearcher, c.skillSearcher = commands, skills })
}

// WithEmbedder makes Search and SearchSkills also find by meaning, with the vectors of an embedding
// model. Until the vectors of all entries are known, and if the embedder fails, the results are the
// results without an embedder, and SearchResults.Semantic is false.
//
// A search waits at most one second for the embedder. The embedder receives the queries, and the
// texts of all entries that can be loaded, also of entries that a filter hides. The vectors are in
// memory; [WithVectorCache] also keeps a file. New calls ID. A nil embedder and an empty ID are
// [ErrInvalidOption]. Package embedding has embedders for the usual servers; the document
// docs/search.md has the formula.
func WithEmbedder(e Embedder) Option {
	return optionFunc(func(c *config) {
		c.require(e != nil && e.ID() != "",
			"WithEmbedder: the embedder is nil or has no ID; pass an embedder whose ID names the model")
		c.embedder = e
	})
}

// WithVectorCache keeps the vectors of [WithEmbedder] in a file of a directory on the operating
// system's filesystem, so that a later program embeds only new texts. The path must be absolute; a
// missing directory is created. Several catalogs, models and processes may share the directory.
//
// The file has at most 64 MB, and loses the oldest unused vectors first. A broken file is made
// again. The file contains no text, but vectors and hashes tell about texts, so only the user
// may read the file. An error of the filesystem costs only the file. Without WithEmbedder, New
// returns [ErrInvalidOption].
func WithVectorCache(dir string) Option {
	return optionFunc(func(c *config) {
		c.require(filepath.IsAbs(dir), "WithVectorCache: the directory %q is not an absolute path", dir)
		c.vectorCache = dir
	})
}

// A Filter is an [Option] that [Catalog.View] accepts too. [WithCommandFilter], [WithSkillFilter],
// [WithAgentFilter] and [WithInstructionFilter] return a Filter. A nil Filter shows everything.
type Filter func(*filterFuncs) error

func (f Filter) apply(c *config) {
	if f != nil {
		c.fail(f(&c.keep))
	}
}

// filterFuncs are the functions of filters.
type filterFuncs struct {
	commands []func(CommandInfo) bool
	skills   []func(SkillInfo) bool
	agents   []func(AgentInfo) bool

	instructions []func(Instruction) bool
	servers      []func(MCPServer) bool
}

// WithCommandFilter shows only the commands for which keep returns true. To every method except
// [Catalog.Lint], the other commands do not exist. A command must pass every filter.
//
// A filter applies after the precedence of layers: a command with the name of a refused command in
// a lower layer stays shadowed. The filter also applies to the dependencies that List omits.
//
// Keep must be a pure function of its argument, and safe for concurrent use. The results are cached
// until a command changes. Keep must not call a method that applies the filter. A nil keep is
// [ErrInvalidOption].
func WithCommandFilter(keep func(CommandInfo) bool) Filter {
	return func(f *filterFuncs) error { return addFilter(&f.commands, keep, "WithCommandFilter", "commands") }
}

// keeps reports whether all functions show a row.
func keeps[Info any](all []func(Info) bool, row Info) bool {
	return !slices.ContainsFunc(all, func(keep func(Info) bool) bool { return !keep(row) })
}

// keepsRow returns a function that reports whether all functions show a row, or nil without
// functions.
func keepsRow[Info any](all []func(Info) bool, row Info) func() bool {
	if len(all) == 0 {
		return nil
	}
	return func() bool { return keeps(all, row) }
}

// keepsEntries returns a function that reports whether all functions show the row of an entry, or nil
// without functions.
func keepsEntries[Info any](all []func(Info) bool, row func(*index.Snapshot, *index.Entry) Info,
) func(*index.Snapshot, *index.Entry) bool {
	if len(all) == 0 {
		return nil
	}
	return func(s *index.Snapshot, e *index.Entry) bool { return keeps(all, row(s, e)) }
}

// addFilter returns [ErrInvalidOption] if keep is nil.
func addFilter[Info any](all *[]func(Info) bool, keep func(Info) bool, option, content string) error {
	if keep == nil {
		return invalidOption(option + ": the function is nil; omit the option to show all " + content)
	}
	*all = append(slices.Clip(*all), keep) // a view has the slice of its catalog
	return nil
}

// WithSkillFilter shows only the skills for which keep returns true. The rules of
// [WithCommandFilter] apply.
func WithSkillFilter(keep func(SkillInfo) bool) Filter {
	return func(f *filterFuncs) error { return addFilter(&f.skills, keep, "WithSkillFilter", "skills") }
}

// A Searcher is a search engine for the commands or for the skills of a catalog: Bleve,
// Meilisearch, a database. [WithSearcher] replaces the built-in search with a Searcher.
// The program puts the texts into the engine, for example in a function that
// [Catalog.OnChange] calls. The directory examples/bleve has a program.
type Searcher interface {
	// Search returns the best hits for a query, the best hit first, and the total number
	// of matches. The query has 1 to 500 characters without space at both ends. The limit
	// is 1 to 1,000. Search returns at most limit hits, and nil if nothing matches.
	//
	// Several goroutines call Search at the same time. Search must return soon after ctx
	// ends. A caller whose ctx ends does not wait for Search.
	Search(ctx context.Context, query string, limit int) (hits []Hit, total int, err error)
}

// An Embedder computes the vectors of texts with an embedding model, for [WithEmbedder].
type Embedder interface {
	// ID identifies the model, the number of dimensions and all that changes a vector. Vectors of
	// different IDs are never compared.
	ID() string

	// Embed returns one vector for each text, in the order of the texts. All vectors have the same
	// number of dimensions, at most 16,384. If query is true, the texts are search queries,
	// otherwise texts of entries, of at most 2,000 bytes each. A call has at most 64 texts.
	//
	// Several goroutines call Embed at the same time. Embed must return soon after ctx ends: after
	// a second for a query, after a minute for other texts, and at Close. Close does not wait for
	// Embed.
	Embed(ctx context.Context, texts []string, query bool) ([][]float32, error)
}

// A Hit is a match that a [Searcher] found.
type Hit struct {
	Name   string  // of the command or skill, as List or ListSkills returns the name
	Score  float64 // 0 or more; a better match has a higher score
	Reason string  // becomes SearchResult.MatchReason; may be empty
}

// Immutable marks a filesystem whose files never change, such as a zip.Reader, for [WithCommandsFS]
// and [WithSkillsFS]. A catalog scans the filesystem once. An embed.FS, and an fs.Sub of an
// embed.FS, need no mark. With a nil fsys, the option returns [ErrInvalidOption]. If a file changes
// nevertheless, a method may serve the old or the new content.
func Immutable(fsys fs.FS) fs.FS { return immutable{FS: fsys} }

type immutable = layers.Immutable

// addParents adds the places of WithClient in the directories above the root.
func (c *Catalog) addParents() error {
	if c.config.boundary == nil {
		return nil
	}
	parents, err := c.at.Parents(c.files.FS(), *c.config.boundary, c.config.home)
	if err != nil {
		return invalidOption("WithParents: " + err.Error())
	}
	c.parents = parents
	for _, list := range c.config.layerLists() {
		list.AddParents(parents)
	}
	return nil
}

// linkOptions returns the options of WithSymlinks.
func (c *config) linkOptions() []confine.Option {
	switch c.symlinks {
	case SymlinksDeny:
		return []confine.Option{confine.DenySymlinks()}
	case SymlinksAll:
		return []confine.Option{confine.TrustAll()}
	}
	return []confine.Option{confine.TrustDirs(c.trusted...)}
}

// userDirs are the directories of the user, by base. A base without a directory has no layers.
type userDirs = map[client.Base]string

// openUser returns the directories of the user, if a layer is below one, and removes the layers
// below unknown directories.
func (c *Catalog) openUser() userDirs {
	single := func(row client.Client) bool {
		return slices.ContainsFunc(row.Instructions, func(p client.Place) bool { return p.Base != client.Project })
	}
	needed := slices.ContainsFunc(c.config.readers, single) || len(c.config.placed) > 0
	return layers.User(c.config.layerLists(), needed, func() (string, string) { return c.at.User(c.config.home) })
}

// Versioned is implemented by the fs.FileInfo of a store that knows a version of each file, such as
// an ETag, a digest or a revision, in all of fs.Stat, fs.File.Stat and fs.DirEntry.Info. Two equal
// versions of a name mean equal contents. A file is unchanged exactly as long as its version is,
// whatever its size and its time. "" is no version. A version has at most a few hundred bytes.
//
// Versioned is also implemented by the result of [SnapshotFS] if the store knows a version of all
// its files, such as a tree hash. If the version is the version of the last list, the catalog lists
// nothing.
type Versioned interface {
	Version() string
}

// SnapshotFS is implemented by an fs.FS that can show all its files at one moment. The methods
// that list or search call Snapshot once for each scan of the layer, and read the files through
// the result. An error of Snapshot is the error of the layer's directory. The ctx limits Snapshot
// only.
//
// The catalog also calls these methods of the fs.FS of a layer, and of the result of Snapshot:
//
//	WithContext(ctx context.Context) fs.FS              // of both: the same files, whose requests end with ctx
//	ReadHead(name string) ([]byte, fs.FileInfo, error)  // of the fs.FS: the frontmatter of a file, without reading the file
//	Stale() error                                       // of the result: the error of a store that serves its last good snapshot
//	Version() string                                    // of the result, which is [Versioned]
//
// Each method is optional. The documents docs/stores.md and docs/methods.md have the details.
type SnapshotFS interface {
	fs.FS
	Snapshot(ctx context.Context) (fs.FS, error)
}
