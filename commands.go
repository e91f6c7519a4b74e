package toolshelf

import (
	"bytes"
	"context"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/reports"
	"github.com/toolshelf-go/toolshelf/internal/search"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
	"github.com/toolshelf-go/toolshelf/internal/usage"
)

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

	// The values of Get that the JSON of a list omits, because the contract of the tool
	// list_commands has no such fields.
	ArgumentHint string `json:"-"` // Frontmatter.Text("argument-hint")
	Layer        string `json:"-"` // the directory or the FS name, as given to the option
	Plugin       string `json:"-"` // the name of the plugin, which begins Name; "" for a command of no plugin
	Path         string `json:"-"` // full path on the filesystem of the file
}

// List returns one page of commands in case-insensitive name order. List omits hidden files,
// README.md, files with an invalid command name (see [WithLooseNames]), unreadable files, and
// commands with is_dependency: true. [Catalog.Lint] reports the invalid names and the unreadable
// files. If several layers contain the same name, the first layer wins, even if its command is
// omitted or unreadable.
//
// List returns [ErrDirectoryNotFound] if no layer directory exists (the missing directories of
// [WithClient] are empty), [ErrPermissionDenied] or [ErrFileRead] if a layer directory
// cannot be read, [ErrNotADirectory] if a layer is a file, and [ErrOutsideRoot] if a symbolic link
// leads a layer outside the root. [Paginate] describes the errors of a page.
//
// List reads each layer directory once, stats each file, and reads the beginning of new and
// changed files. Concurrent calls share one scan. The document docs/methods.md has the details.
func (c *Catalog) List(ctx context.Context, page Page) (CommandList, error) {
	const op = "List"
	if err := c.begin(ctx, op); err != nil {
		return CommandList{}, err
	}
	page, err := page.normalized()
	if err != nil {
		return CommandList{}, inOp(op, err)
	}
	_, snapshot, err := c.commands.list(ctx, op)
	if err != nil {
		return CommandList{}, err
	}
	name := func(e *index.Entry) string { return e.Name }
	entries, pagination, err := paginate(snapshot.Entries, page, usage.CommandScope, name, names.Compare)
	if err != nil {
		return CommandList{}, inOp(op, err)
	}
	return CommandList{Commands: c.commandInfos(entries), Pagination: pagination}, nil
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
		_, snapshot, err := c.commands.list(ctx, op)
		if err != nil {
			yield(CommandInfo{}, err)
			return
		}
		for entries := range slices.Chunk(snapshot.Entries, maxPageSize) {
			for _, info := range c.commandInfos(entries) {
				if err := ctx.Err(); err != nil {
					yield(CommandInfo{}, err)
					return
				}
				if !yield(info, nil) {
					return
				}
			}
		}
	}
}

// Commands ranges over the commands of Get with their texts, in the order of List. A file that List
// omits because the file cannot be read is a Command with Loadable false, without a text, and with
// the reason in Diagnostics.
//
// [Catalog.Skills] describes changes during the range, errors, cost and memory.
func (c *Catalog) Commands(ctx context.Context) iter.Seq2[Command, error] {
	return func(yield func(Command, error) bool) {
		for command, err := range loadAll(ctx, c, c.commands, "Commands", commandReader{}, c.unloadedCommand) {
			if command.Loadable {
				command = c.detach(command) // calls a function of the program
			}
			if !yield(command, err) {
				return
			}
		}
	}
}

// unloadedCommand returns a command without a text.
func (c *Catalog) unloadedCommand(_ *index.Snapshot, e *index.Entry, err error) Command {
	layer := c.commands.LayerOf(e)
	return Command{
		Name: e.Name,
		Metadata: CommandMetadata{Path: layer.FS.Path(e.Path), Size: e.Stamp.Size, LastModified: stamp.UTC(e.Stamp.Modified()),
			Description: e.Description()},
		Layer:       layer.Name,
		Plugin:      e.Plugin(),
		Diagnostics: newDiagnostics(c.commands.unread(e, err)),
	}
}

// commandInfos returns the rows of entries. The paths of all rows share one allocation.
func (c *Catalog) commandInfos(entries []*index.Entry) []CommandInfo {
	size := 0
	for _, e := range entries {
		size += len(c.commandDirs[e.Layer()]) + len(e.Path)
	}
	var paths strings.Builder
	paths.Grow(size)
	rows := make([]CommandInfo, len(entries))
	for i, e := range entries {
		dir, begin := c.commandDirs[e.Layer()], paths.Len()
		paths.WriteString(dir)
		if strings.HasSuffix(dir, `\`) { // a directory of Windows
			paths.WriteString(filepath.FromSlash(e.Path))
		} else {
			paths.WriteString(e.Path)
		}
		rows[i] = c.commandInfo(e, paths.String()[begin:])
	}
	return rows
}

func (c *Catalog) listedCommand(_ *index.Snapshot, e *index.Entry) CommandInfo {
	return c.commandInfo(e, c.commands.LayerOf(e).FS.Path(e.Path))
}

func (c *Catalog) commandInfo(e *index.Entry, path string) CommandInfo {
	return CommandInfo{
		Name:         e.Name,
		Description:  e.Description(),
		Size:         e.Stamp.Size,
		LastModified: stamp.UTC(e.Stamp.Modified()),
		ArgumentHint: e.Hint(),
		Layer:        c.commands.LayerOf(e).Name,
		Plugin:       e.Plugin(),
		Path:         path,
	}
}

// A Command is the complete content of a Markdown file.
type Command struct {
	Name      string          `json:"name"`
	Content   string          `json:"content"` // the Markdown after the frontmatter, unchanged
	Metadata  CommandMetadata `json:"metadata"`
	NextSteps string          `json:"next_steps,omitempty"` // advice to a model for the time after the command; see WithNextSteps

	Raw         []byte       `json:"-"` // the bytes of the file; the caller may modify them
	Frontmatter Frontmatter  `json:"-"`
	Diagnostics []Diagnostic `json:"-"` // problems found in the file
	Dependency  bool         `json:"-"` // part of other commands, omitted by List
	Loadable    bool         `json:"-"` // the command has its text; false only for an unreadable file in Commands
	Layer       string       `json:"-"` // the directory or the FS name, as given to the option
	Plugin      string       `json:"-"` // as in CommandInfo; JSON omits the field by the contract of the tool get_command
	Rules       client.Rules `json:"-"` // the placeholder rules of the client of the layer or of the plugin; zero without WithClient
	Source      source       `json:"-"` // for WithObserver
}

// CommandMetadata describes the file of a command.
type CommandMetadata struct {
	Path              string    `json:"path"`                   // full path on the filesystem of the file
	Size              int64     `json:"size"`                   // in bytes
	LastModified      time.Time `json:"last_modified,omitzero"` // UTC; zero, and omitted in JSON, if unknown to the filesystem
	Description       string    `json:"description"`
	DescriptionSource string    `json:"-"` // "frontmatter", "paragraph" (the first paragraph of the text), or "" without a description
}

// Get returns the command with the given name, also a dependency that List omits. The name may end
// in ".md". Otherwise Get compares names as List prints them, including letter case. A name never
// becomes part of a path. The name of a plugin may be missing, as in "rollback" for
// "deploy:rollback"; if several plugins have the name, the error is [ErrAmbiguousName].
//
// Get returns [ErrInvalidCommandName] for a name that no command can have, [ErrCommandNotFound] if
// no layer contains the name (and also [ErrDirectoryNotFound] if no layer directory exists),
// [ErrFileRead] with its cause if the file cannot be read, and [ErrFileTooLarge] above the limit of
// [WithMaxFileSize]. [Catalog.List] describes the errors of unreadable directories.
//
// A cached command of the first layer costs two stats. For a new name, Get also costs as much as
// List. [Catalog.Commands] reads all commands.
func (c *Catalog) Get(ctx context.Context, name string) (Command, error) {
	const op = "Get"
	if err := c.begin(ctx, op); err != nil {
		return Command{}, err
	}
	o := c.observer.Begin(ctx)
	now, err := commandLookup(c, op, name).find(ctx)
	command, err := now.sent(o, c.commands, Event{Action: EventLoaded, Name: name}, err)
	if err != nil {
		return command, err
	}
	return c.detach(command), nil
}

// commandLookup is the lookup of Get. The caller detaches the command.
func commandLookup(c *Catalog, op, name string) lookup[Command] {
	stem, _ := names.TrimMarkdown(name)
	return lookup[Command]{catalog: c, from: c.commands, op: op, name: name, stem: stem,
		reader: commandReader{}, direct: true}
}

// info returns the CommandInfo of a list, computed from the command.
func (c Command) info() CommandInfo {
	m := c.Metadata
	return CommandInfo{Name: c.Name, Description: m.Description, Size: m.Size, LastModified: m.LastModified,
		ArgumentHint: c.Frontmatter.Text("argument-hint"), Layer: c.Layer, Plugin: c.Plugin, Path: m.Path}
}

// A commandReader is the reader of commands.
type commandReader struct{}

func (commandReader) read(ctx context.Context, c *Catalog, _ *index.Snapshot, e *index.Entry,
	kept *index.Cached[string]) (now reading[Command], err error) {
	command, err := c.caches.commands.Load(ctx, e, kept)
	if err != nil {
		return now, err
	}
	now.value = command
	now.outcome = outcome{digest: command.Source.digest, bytes: len(command.Raw)}
	if c.commands.filter.Keeps != nil {
		now.passes = keepsRow(c.keep.commands, command.info())
	}
	return now, nil
}

// detach returns a copy that the caller may modify, and calls the function of
// WithNextSteps.
func (c *Catalog) detach(command Command) Command {
	command.Raw = bytes.Clone(command.Raw)
	command.Diagnostics = slices.Clone(command.Diagnostics)
	if c.config.nextSteps != nil {
		command.NextSteps = c.config.nextSteps(command)
	}
	return command
}

// parseCommand converts a file to a command, and returns the memory of the command in bytes.
func (c *Catalog) parseCommand(e *index.Entry, raw []byte, info confine.Info) (Command, int) {
	layer := c.commands.LayerOf(e)
	doc, _ := matter.ParseFile(e.Path, raw, true)
	text := doc.Text(raw)
	description, from := matter.Description(doc, text)
	command := Command{
		Name:    e.Name,
		Content: string(text),
		Metadata: CommandMetadata{
			Path:              layer.FS.Path(e.Path),
			Size:              int64(len(raw)),
			LastModified:      stamp.UTC(info.Modified),
			Description:       description,
			DescriptionSource: string(from),
		},
		Raw:         raw,
		Frontmatter: agentmd.NewFrontmatter(doc.Frontmatter),
		Dependency:  index.IsDependency(doc, raw),
		Loadable:    true,
		Layer:       layer.Name,
		Plugin:      e.Plugin(),
		Rules:       layer.Rules,
		Source:      source{observer: c.observer, digest: c.observer.Digest(e.Seal(), path.Base(e.Path), raw)},
	}
	for _, p := range doc.Problems {
		command.Diagnostics = append(command.Diagnostics, agentmd.NewDiagnostic(p.In(c.commands.Place(e))))
	}
	if c.config.nextSteps == nil {
		command.NextSteps = reports.NextSteps(command.Name, command.Content, c.config.reports.Configured())
	}
	return command, len(raw) + len(text) + doc.Memory()
}

// Frontmatter is the header of a command or skill file: the type of package
// [github.com/toolshelf-go/toolshelf/agentmd], which parses headers without a catalog.
type Frontmatter = agentmd.Frontmatter

// newCommands returns the commands of a new catalog. The error is the error of the
// watch.
func (c *Catalog) newCommands(user userDirs) (*collection, error) {
	commands := &collection{
		engine:      c.config.commandSearcher,
		layers:      c.config.commands.All,
		description: (*index.Entry).Description,
		undescribed: true,
		texts:       &c.caches.commands.Texts,
		noun:        "command",
		file:        "the file",
		invalid:     CodeInvalidCommandName,
		names: names.Rule{Plugins: len(c.config.plugins.All) > 0, Colons: c.config.colons,
			Loose: c.config.looseNames},
		notFound: CodeCommandNotFound,
		hint: func(shown []*index.Entry, name string) string {
			return suggestion(shown, name, "list the commands for the names")
		},
	}
	commands.filter = &filter{Keeps: keepsEntries(c.keep.commands, c.listedCommand)}
	drop := func(now *index.Snapshot) {
		c.caches.commands.Retain(now)
		c.usages.Commands.Kept.Retain(now.HasFile)
	}
	opened, err := commands.open(c, user, client.Commands, drop, index.Config{Nested: c.config.nested, Valid: commands.names.Element}, search.Config{Reports: c.reports.Named()})
	c.caches.commands.Index, c.caches.commands.Parse = commands.Index, c.parseCommand
	c.usages.Commands.Index, c.usages.Commands.Texts = commands.Index, commands.texts
	return opened, err
}
