package toolshelf

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

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
}

// CommandMetadata describes the file of a command.
type CommandMetadata struct {
	Path              string            `json:"path"`                   // full path on the filesystem of the file
	Size              int64             `json:"size"`                   // in bytes
	LastModified      time.Time         `json:"last_modified,omitzero"` // UTC; zero, and omitted in JSON, if unknown to the filesystem
	Description       string            `json:"description"`
	DescriptionSource DescriptionSource `json:"-"`
}

// DescriptionSource is the origin of a description.
type DescriptionSource string

// The sources of a description.
const (
	DescriptionNone        DescriptionSource = DescriptionSource(matter.FromNone)        // "": no description
	DescriptionFrontmatter DescriptionSource = DescriptionSource(matter.FromFrontmatter) // "frontmatter": written in the frontmatter by the author
	DescriptionParagraph   DescriptionSource = DescriptionSource(matter.FromParagraph)   // "paragraph": the first paragraph of the text
)

// Get returns the command with the given name. The name may end in ".md", in any
// letter case. Otherwise Get compares names as List prints them, including letter
// case. Get also returns the dependencies that List omits.
//
// Get returns [ErrInvalidCommandName] for a name that no command can have. If the
// name resembles a valid name, as "/review" does, the message contains the valid
// name. Arguments are no part of a name: [Command.Render] fills in arguments. Names never
// become part of a path. Get returns [ErrCommandNotFound] if no layer
// contains the name. If no layer directory exists, the error also matches
// [ErrDirectoryNotFound]. If the file exists but cannot be read, Get returns
// [ErrFileRead] with the cause, such as fs.ErrPermission, in the chain. If the
// file exceeds the limit of [WithMaxFileSize], Get returns [ErrFileTooLarge].
// [Catalog.List] describes the errors of unreadable directories.
//
// A cached command of the first layer costs one stat of its directory and one stat
// of its file. For each layer with precedence, Get also stats the files that could have
// the name. The cache holds up to 16 MiB of files. Get serves a cached file as long as
// the change time proves the file unchanged (see [WithFs]). Otherwise Get reads the
// file. For a name that no call has seen yet, Get also costs as much as List.
// [Catalog.Commands] reads all commands.
func (c *Catalog) Get(ctx context.Context, name string) (Command, error) {
	const op = "Get"
	if err := c.begin(ctx, op); err != nil {
		return Command{}, err
	}
	stem, _ := names.TrimMarkdown(name)
	if !c.validName(stem) && !c.validName(name) {
		return Command{}, &Error{Code: CodeInvalidCommandName, Op: op, Path: name,
			Message: "invalid command name " + quote(name) + ": " + c.nameCorrection(name)}
	}
	if command, ok := c.cachedCommand(name, stem); ok {
		return c.detach(command), nil
	}
	command, err := lookup[Command, CommandInfo]{c, c.commands, op, name, stem, c.readCommand}.resolve(ctx)
	if err != nil {
		return Command{}, err
	}
	return c.detach(command), nil
}

// cachedCommand is Get for a cached command whose file the feed, or a look into an open
// directory, shows unchanged. cachedCommand needs no goroutine, because the look never waits.
func (c *Catalog) cachedCommand(name, stem string) (Command, bool) {
	e := c.commands.KnownCached(c.commands.Last(), name, stem)
	if e == nil {
		return Command{}, false
	}
	kept := c.caches.commands.Get(e.File())
	if kept == nil {
		return Command{}, false
	}
	unchanged := c.commands.Current(e) && index.StampOf(kept.Info).Same(e.Stamp)
	if !unchanged {
		info, ok := c.commands.StatCached(e)
		unchanged = ok && index.SameFile(info, kept.Info)
	}
	if !unchanged || !c.commands.filter.keeps(kept.Value.info()) {
		return Command{}, false
	}
	return kept.Value, true
}

// info returns the CommandInfo of a list, computed from the command.
func (c Command) info() CommandInfo {
	m := c.Metadata
	return CommandInfo{Name: c.Name, Description: m.Description, Size: m.Size, LastModified: m.LastModified}
}

// readCommand is a reader for a lookup.
func (c *Catalog) readCommand(ctx context.Context, _ *index.Snapshot, e *index.Entry) (reading[Command, CommandInfo], error) {
	command, err := c.loadCommand(ctx, e)
	if err != nil {
		return reading[Command, CommandInfo]{}, err
	}
	return reading[Command, CommandInfo]{command, []CommandInfo{command.info()}}, nil
}

// loadCommand returns the command of an entry. If the feed or a stat shows that the file is
// unchanged, or the store does not answer and has served its last good snapshot,
// loadCommand returns the command in the version of the list, as far as the catalog has the
// bytes.
func (c *Catalog) loadCommand(ctx context.Context, e *index.Entry) (Command, error) {
	fsys := c.commands.FS(ctx, e.Layer())
	if c.commands.Current(e) {
		if command, ok := c.listedCommand(e); ok {
			return command, nil
		}
	} else if kept := c.caches.commands.Get(e.File()); kept != nil && c.commandUnchanged(fsys, e, kept.Info) {
		return kept.Value, nil
	}
	now, begin := time.Now(), c.config.now()
	raw, info, err := c.readFile(fsys, e.Path)
	if err != nil {
		if c.commands.Unanswered(e, begin, err) {
			if command, ok := c.listedCommand(e); ok {
				return command, nil
			}
		}
		return Command{}, err
	}
	command := c.parseCommand(e, raw, info)
	if c.commands.Settled(e.Layer(), info, now) {
		c.keepCommand(e, command, info)
	}
	return command, nil
}

// listedCommand returns the command in the version of the last scan, if the catalog has the
// bytes.
func (c *Catalog) listedCommand(e *index.Entry) (Command, bool) {
	if kept := c.caches.commands.Get(e.File()); kept != nil && index.StampOf(kept.Info).Same(e.Stamp) {
		return kept.Value, true
	}
	text, info, ok := c.caches.commandTexts.find(e)
	if !ok {
		return Command{}, false
	}
	command := c.parseCommand(e, text, info)
	c.keepCommand(e, command, info)
	return command, true
}

func (c *Catalog) keepCommand(e *index.Entry, command Command, info confine.Info) {
	size := len(command.Raw) + len(command.Content) + command.Frontmatter.doc.Memory()
	c.caches.commands.Put(&index.Cached[Command]{File: e.File(), Info: info, Value: command, Size: int64(size)})
}

// commandUnchanged reports whether the file of an entry still has the given metadata.
func (c *Catalog) commandUnchanged(fsys *confine.FS, e *index.Entry, known confine.Info) bool {
	if c.commands.Layer(e.Layer()).Immutable {
		return true
	}
	stat := fsys.Lstat
	if e.Linked {
		stat = fsys.Info
	}
	info, err := stat(e.Path)
	return err == nil && index.SameFile(info, known)
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

// parseCommand converts a file to a command.
func (c *Catalog) parseCommand(e *index.Entry, raw []byte, info confine.Info) Command {
	layer := c.commands.Layer(e.Layer())
	doc, _ := matter.Parse(raw, true)
	description, source := matter.Description(doc, raw[doc.Body:])
	command := Command{
		Name:    e.Name,
		Content: string(raw[doc.Body:]),
		Metadata: CommandMetadata{
			Path:              layer.FS.Path(e.Path),
			Size:              int64(len(raw)),
			LastModified:      utc(info.Modified),
			Description:       description,
			DescriptionSource: DescriptionSource(source),
		},
		Raw:         raw,
		Frontmatter: newFrontmatter(doc.Frontmatter),
		Dependency:  index.IsDependency(doc, raw),
		Loadable:    true,
		Layer:       layer.Name,
	}
	for _, p := range doc.Problems {
		command.Diagnostics = append(command.Diagnostics, newDiagnostic(p.In(c.commands.Place(e))))
	}
	if c.config.nextSteps == nil {
		command.NextSteps = defaultNextSteps(command, c.config.reports.configured())
	}
	return command
}

// validName reports whether a command can have this name.
func (c *Catalog) validName(name string) bool {
	if !c.config.nested {
		return c.validElement(name)
	}
	for element := range strings.SplitSeq(name, ":") {
		if !c.validElement(element) {
			// A loose name may contain colons.
			return c.validElement(name)
		}
	}
	return true
}

// validElement is validName for a single path element.
func (c *Catalog) validElement(name string) bool {
	if c.config.looseNames {
		return names.Loose(name)
	}
	return names.Plain(name)
}

// nameCorrection completes the message for an invalid name: the valid name that the caller
// probably means, or else the rule.
func (c *Catalog) nameCorrection(name string) string {
	meant, arguments := c.commands.meant(name)
	words := strings.Fields(meant)
	guess := !arguments && len(words) > 1 && !c.validElement(meant)
	if guess {
		meant = words[0]
	}
	meant, _ = names.TrimMarkdown(meant)
	nested := strings.ReplaceAll(meant, "/", ":")
	if c.config.nested {
		meant = nested
	}
	write := "write " + quote(meant)
	if arguments || guess {
		write += ", and fill in the arguments with Render"
	}
	const rule = `use letters, digits, "_" and "-"`
	switch {
	case c.validName(meant) && guess:
		return rule + "; if arguments follow the name, " + write
	case c.validName(meant):
		return write
	case c.config.looseNames:
		return "use one path element without separators, control characters and leading dot"
	case c.config.nested:
		return rule + `; separate directories with ":"`
	case strings.Contains(nested, ":") && c.validElement(strings.ReplaceAll(nested, ":", "")):
		return rule + "; the catalog reads no subdirectories without WithNestedCommands"
	default:
		return rule
	}
}
