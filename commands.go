package toolshelf

import (
	"context"
	"iter"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
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
// List returns [ErrDirectoryNotFound] if no layer directory exists (the missing
// directories of [WithConventionalDirs] are empty), or if a layer
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
	snapshot, err := c.commands.shownSnapshot(ctx, op)
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
		snapshot, err := c.commands.shownSnapshot(ctx, op)
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

// Commands ranges over the commands of List with their texts, in the same order. A file that List
// omits because the file cannot be read is a Command with Loadable false, without a text, and with
// the reason in Diagnostics.
//
// [Catalog.Skills] describes changes during the range, errors, cost and memory.
func (c *Catalog) Commands(ctx context.Context) iter.Seq2[Command, error] {
	return func(yield func(Command, error) bool) {
		for command, err := range loadAll(ctx, c, c.commands, "Commands", c.loadText, c.unloadedCommand) {
			if command.Loadable {
				command = c.detach(command) // calls a function of the program
			}
			if !yield(command, err) {
				return
			}
		}
	}
}

// loadText is a loader.
func (c *Catalog) loadText(ctx context.Context, s *index.Snapshot, e *index.Entry, texts *listedTexts) (reading[Command, CommandInfo], error) {
	if raw, info, ok := texts.find(e); ok {
		command := c.parseCommand(e, raw, info)
		return reading[Command, CommandInfo]{command, []CommandInfo{command.info()}}, nil
	}
	return c.readCommand(ctx, s, e)
}

// unloadedCommand returns a command without a text.
func (c *Catalog) unloadedCommand(_ *index.Snapshot, e *index.Entry, err error) Command {
	layer := c.commands.Layer(e.Layer())
	return Command{
		Name: e.Name,
		Metadata: CommandMetadata{Path: layer.FS.Path(e.Path), Size: e.Stamp.Size, LastModified: utc(e.Stamp.Modified()),
			Description: e.Description},
		Layer:       layer.Name,
		Diagnostics: newDiagnostics(c.commands.unread(e, err)),
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
