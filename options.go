package toolshelf

import (
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/names"
)

const defaultMaxFileSize = 10 << 20

// An Option sets one property of a Catalog. Of options that set the same
// property the last one given stands, except for those that add up: each layer
// option appends its folders below those named before it, and each filter keeps
// what those before it do.
type Option func(*config) error

// config is what the options say; New turns it into a Catalog.
type config struct {
	fs          afero.Fs // nil is the operating system's
	root        string
	commands    layers
	skills      layers
	nested      bool
	looseNames  bool
	skillDepth  int
	symlinks    Symlinks
	trusted     []string
	maxFileSize int64
	nextSteps   func(Command) string // nil is the default rule
	logger      *slog.Logger
	ttl         time.Duration
	now         func() time.Time
	watch       bool
	reports     reportDirs

	keepCommands []func(CommandInfo) bool
	keepSkills   []func(SkillInfo) bool
}

// layers are the layers of one kind.
type layers struct {
	all      []layer // in order of precedence
	replaced bool    // an option replaces the default directory
}

// A layer is a directory of the catalog's filesystem or, where fsys is set, the
// top of another filesystem.
type layer struct {
	name  string
	fsys  fs.FS
	home  bool // the name begins with "~/"
	named bool // the program named the layer, so the layer is not optional

	immutable bool // the files of fsys never change
}

// withDefault adds the default directory, above all other layers, unless an
// option replaces the default directory.
func (l layers) withDefault(dir string) []layer {
	if l.replaced {
		return l.all
	}
	return slices.Insert(l.all, 0, layer{name: dir})
}

func newConfig(opts []Option) (config, error) {
	c := config{
		root:        ".",
		maxFileSize: defaultMaxFileSize,
		logger:      slog.New(slog.DiscardHandler),
		now:         time.Now,
	}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&c); err != nil {
			return config{}, err
		}
	}
	c.commands.all, c.skills.all = c.commands.withDefault("commands"), c.skills.withDefault("skills")
	return c, nil
}

// WithFs reads through fsys instead of the operating system's filesystem: an
// afero.MemMapFs in a test, a bucket, an archive. The guarantees differ; see
// "Confinement" in the package documentation.
//
// A filesystem has change times if its FileInfo.Sys has the change time of the
// operating system (a *syscall.Stat_t). On a filesystem without change times,
// neither size nor modification time proves that a file is unchanged: List and
// ListSkills then read the first 4 KB of every file in each call, Search reads
// every file, and Get and GetSkill read their file. Use [WithCacheTTL] where a
// read is expensive.
func WithFs(fsys afero.Fs) Option {
	return func(c *config) error {
		if fsys == nil {
			return invalidOption("WithFs: the filesystem is nil")
		}
		c.fs = fsys
		return nil
	}
}

// WithRoot sets the project root: the folder that ListDir and its companions
// never leave, and that relative layer folders are joined to. The default is
// ".", the working directory at the time of New, and so is "".
func WithRoot(dir string) Option {
	return func(c *config) error {
		if dir == "" {
			dir = "."
		}
		c.root = dir
		return nil
	}
}

// WithCommandsDir reads commands from these directories, highest precedence
// first, instead of from the default directory "commands". A relative directory
// is below the root. With no name, WithCommandsDir removes the default directory
// without a replacement.
//
// A catalog without any of its directories is an error of every method that
// reads commands; see [Catalog.List]. The default directory, and those of
// [WithConventionalDirs], may be missing: then List, All, ListUsage and AllUsage
// return [ErrDirectoryNotFound], Get returns [ErrCommandNotFound], and the other
// methods find no commands. A root that does not exist is always an error.
func WithCommandsDir(dirs ...string) Option {
	return func(c *config) error { return c.commands.addDirs("WithCommandsDir", dirs) }
}

// WithSkillsDir reads skills from these directories, highest precedence first,
// instead of from the default directory "skills", as WithCommandsDir does
// commands. Of the methods that read skills, ListSkills returns
// [ErrDirectoryNotFound] if the default directory is missing.
func WithSkillsDir(dirs ...string) Option {
	return func(c *config) error { return c.skills.addDirs("WithSkillsDir", dirs) }
}

// WithCommandsFS reads commands from the top of fsys, such as an embed.FS
// (use fs.Sub for a directory of it). The name stands for fsys in Command.Layer
// and in diagnostics.
//
// The default directory "commands" of the root stays, above all layers: a
// project can replace the commands in fsys. To read fsys alone, add
// WithCommandsDir(). For a directory in another place, add WithCommandsDir or
// WithConventionalDirs, before WithCommandsFS to precede fsys.
//
// The files of an embed.FS cannot change, so the catalog reads them once; so it
// does those of a filesystem marked with [Immutable]. The files of any other fs.FS
// may change at any time, as those of [WithFs] may.
func WithCommandsFS(name string, fsys fs.FS) Option {
	return func(c *config) error { return c.commands.addFS("WithCommandsFS", name, fsys) }
}

// WithSkillsFS reads skills from the top of fsys, as WithCommandsFS does
// commands; the default directory "skills" stays above all layers.
func WithSkillsFS(name string, fsys fs.FS) Option {
	return func(c *config) error { return c.skills.addFS("WithSkillsFS", name, fsys) }
}

// WithConventionalDirs reads the places where programs that run agents keep
// commands and skills, highest precedence first, for the client "example":
// commands from .example/commands, and skills from .example/skills and
// .agents/skills, all in the project's root; then those from the same folders
// in the user's home folder, in diagnostics "~/.example/commands" and so on.
// Each is a layer as those of WithCommandsDir are, and replaces the default
// directories; each may be missing. A directory of the home folder that cannot be
// read counts as missing, and Lint tells of it.
//
// The places are those of the client guide of the Agent Skills format
// (https://agentskills.io/client-implementation/adding-skills-support). It also
// advises to have the user's consent before a project's own skills are used.
//
// The home folder is os.UserHomeDir's at the time of New. Its layers are left
// out where there is none, where it is the root itself, and on another
// filesystem than the operating system's. A client's name is up to 100 letters,
// digits, "-", "_" and ".", not at the beginning; any other is ErrInvalidOption.
func WithConventionalDirs(client string) Option {
	return func(c *config) error {
		if len(client) > maxClientName || !names.Loose(client) || !names.Plain(strings.ReplaceAll(client, ".", "")) {
			return invalidOption("WithConventionalDirs: no client can be called " + quote(client) +
				`; use up to 100 letters, digits, "-", "_" and ".", without the dot that its folder begins with`)
		}
		c.commands.addConventional("." + client + "/commands")
		c.skills.addConventional("."+client+"/skills", ".agents/skills")
		return nil
	}
}

const maxClientName = 100

// addConventional adds folders of the root, and then those of the home folder,
// but for those that another client has in common.
func (l *layers) addConventional(dirs ...string) {
	l.replaced = true
	for _, home := range []string{"", "~/"} {
		for _, dir := range dirs {
			add := layer{name: home + dir, home: home != ""}
			if !slices.ContainsFunc(l.all, func(l layer) bool { return l.name == add.name && l.fsys == nil }) {
				l.all = append(l.all, add)
			}
		}
	}
}

func (l *layers) addDirs(option string, dirs []string) error {
	l.replaced = true
	for _, dir := range dirs {
		if dir == "" {
			return invalidOption(option + `: a folder is ""; name one, or use "." for the root itself`)
		}
		l.all = append(l.all, layer{name: dir, named: true})
	}
	return nil
}

func (l *layers) addFS(option, name string, fsys fs.FS) error {
	marked, isMarked := fsys.(immutable)
	if isMarked {
		fsys = marked.FS
	}
	if fsys == nil {
		return invalidOption(option + ": the filesystem is nil")
	}
	if name == "" {
		return invalidOption(option + `: the name is ""; it is what diagnostics call this layer`)
	}
	l.all = append(l.all, layer{name: name, fsys: fsys, named: true, immutable: isMarked || isEmbedded(fsys)})
	return nil
}

// WithNestedCommands reads the subfolders of command folders too: the file
// frontend/component.md is the command "frontend:component". Hidden folders
// are skipped at every depth.
func WithNestedCommands() Option {
	return func(c *config) error { c.nested = true; return nil }
}

// maxSkillDepth is the deepest search for skills that the client guide of the
// Agent Skills format speaks of.
const maxSkillDepth = 6

// WithSkillDepth looks for skills in that many levels of directories, 1 to 6:
// with 2, in skills/web/scraper/SKILL.md as well as in skills/scraper/SKILL.md.
// The default is 1. The name of a skill is the name of its own directory. If a
// layer has several skills of one name, the skill of the lowest level wins, then
// the first by path.
//
// A directory that has no SKILL.md and holds skills is not listed. A skill's
// directory holds further skills only in direct subdirectories, such as
// skills/games/2d/SKILL.md beside skills/games/SKILL.md; these files also belong
// to the outer skill. Hidden directories and node_modules hold no skills. Below
// the first level, at most 2,000 directories without a SKILL.md are read, and
// at most 100 in the directory of one skill; Lint reports a search that ends
// early.
func WithSkillDepth(levels int) Option {
	return func(c *config) error {
		if levels < 1 || levels > maxSkillDepth {
			return invalidOption(fmt.Sprintf("WithSkillDepth: %d levels; use 1 to %d", levels, maxSkillDepth))
		}
		c.skillDepth = levels
		return nil
	}
}

// WithLooseNames admits every command name that is one safe path element,
// such as "my command" or "v1.2", instead of letters, digits, "_" and "-"
// alone. Names still hold no separator, control character or invalid UTF-8,
// and do not begin with a dot.
func WithLooseNames() Option {
	return func(c *config) error { c.looseNames = true; return nil }
}

// Symlinks says which symbolic links are followed to commands and skills.
// Listings of folders follow none: they show links as links.
type Symlinks int

const (
	SymlinksInside  Symlinks = iota // those that stay inside the root; the default
	SymlinksDeny                    // none
	SymlinksTrusted                 // those that stay inside the root or lead into one of the folders given
)

// WithSymlinks sets which symbolic links are followed to commands and skills.
// A link that is not followed is a diagnostic. The dirs are for
// SymlinksTrusted: folders outside the root, each an absolute path, such as
// the one in which a home directory keeps what is shared by all projects.
//
// For a layer outside the root, "the root" is the layer's own folder.
func WithSymlinks(policy Symlinks, dirs ...string) Option {
	return func(c *config) error {
		if policy < SymlinksInside || policy > SymlinksTrusted {
			return invalidOption(fmt.Sprintf("WithSymlinks: no policy %d; use SymlinksInside, SymlinksDeny or SymlinksTrusted", policy))
		}
		if (policy == SymlinksTrusted) != (len(dirs) > 0) {
			return invalidOption("WithSymlinks: SymlinksTrusted takes the folders that links may lead into, and the other policies take none")
		}
		for _, dir := range dirs {
			if !filepath.IsAbs(dir) {
				return invalidOption("WithSymlinks: the trusted folder " + quote(dir) + " is not an absolute path")
			}
		}
		c.symlinks, c.trusted = policy, dirs
		return nil
	}
}

// WithMaxFileSize sets how many bytes a command, a SKILL.md or another file of
// a skill may have; the default is 10 MiB. A larger command is not listed, and
// Get, GetSkill and ReadSkillFile report ErrFileTooLarge without reading it.
// A file is read into one slice, so the limit is below [math.MaxInt] for every n:
// below 2 GiB on a 32-bit platform.
func WithMaxFileSize(n int64) Option {
	return func(c *config) error {
		if n < 1 {
			return invalidOption(fmt.Sprintf("WithMaxFileSize: %d bytes; use 1 or more", n))
		}
		c.maxFileSize = min(n, math.MaxInt-1)
		return nil
	}
}

// WithNextSteps replaces the rule that fills Command.NextSteps. The function
// gets the finished Command; "" leaves the hint out. It is called by Get, from
// the caller's goroutine. Nil leaves the hint out always.
//
// The default gives a hint to each command whose name or content contains
// analyze, analysis, diagnostic, debug, inspect, investigate or report, in any
// letter case. With WithReports it names the tool report_feedback.
func WithNextSteps(f func(Command) string) Option {
	return func(c *config) error {
		if f == nil {
			f = func(Command) string { return "" }
		}
		c.nextSteps = f
		return nil
	}
}

// WithReports lets SaveReport write: reports to be shared into one folder, the
// others into the other. A relative folder is below the root, on the catalog's
// filesystem; the first report makes it where it is missing. Without either
// (""), reports of that kind are refused, and without both there are no reports
// at all. The two may be one folder.
//
// A folder that is a link, or is reached by one, is used as WithSymlinks says. A
// folder of commands is no place for reports: with WithNestedCommands each
// report would be a command.
func WithReports(shared, local string) Option {
	return func(c *config) error {
		c.reports = reportDirs{shared: shared, local: local}
		return nil
	}
}

// WithCacheTTL lets List, All, ListSkills, Lint and searches answer for d from
// what an earlier call has found, without looking at the files again; Get and
// GetSkill then find nothing that was added meanwhile, but never serve an old
// text: they stat its file, or read the file on a filesystem without change times
// (see [WithFs]). The default, 0, is to look each time.
func WithCacheTTL(d time.Duration) Option {
	return func(c *config) error {
		if d < 0 {
			return invalidOption(fmt.Sprintf("WithCacheTTL: %v; use 0 or more", d))
		}
		c.ttl = d
		return nil
	}
}

// WithWatch has the operating system tell of changes in the folders of
// commands and skills, so that a call in between costs nothing but its answer,
// and OnChange tells of changes as they happen. A change is seen as soon as the
// system has told of it, within milliseconds as a rule; Get stats its file all
// the same.
//
// The watch also covers the directories from the root down to a layer. If a
// layer's directory is missing, the watch covers the nearest directory above
// that exists, so the system tells of a directory that comes later, or that is
// removed and made again. A rename of a directory above the root has no event:
// the next call finds the change.
//
// Where the system may not tell, each call looks for itself as it does without
// WithWatch: where a file or directory is reached through a link, where the
// system's watches are used up, and where a layer's directory is missing.
// Changes that no system tells of, made through a memory mapping, a hard link
// elsewhere or another machine of a network filesystem, can be missed.
//
// It is for the operating system's filesystem alone; with another one New
// returns ErrInvalidOption. The layers of WithCommandsFS and WithSkillsFS are
// taken to be fixed, as those of an embed.FS are.
func WithWatch() Option {
	return func(c *config) error { c.watch = true; return nil }
}

// WithLogger sends what a user cannot act upon and a maintainer may want to
// know to l, at debug level. The default, and nil, is silence.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error {
		if l == nil {
			l = slog.New(slog.DiscardHandler)
		}
		c.logger = l
		return nil
	}
}

func invalidOption(message string) error {
	return &Error{Code: ErrInvalidOption.Code, Op: "New", Message: message}
}
