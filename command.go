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
// Get returns [ErrInvalidCommandName] for a name that no command can have. Names
// never become part of a path. Get returns [ErrCommandNotFound] if no layer
// contains the name. If no layer directory exists, the error also matches
// [ErrDirectoryNotFound]. If the file exists but cannot be read, Get returns
// [ErrFileRead] with the cause, such as fs.ErrPermission, in the chain. If the
// file exceeds the limit of [WithMaxFileSize], Get returns [ErrFileTooLarge].
// [Catalog.List] describes the errors of unreadable directories.
//
// A cached command of the first layer costs one stat of its directory and one stat
// of its file. The cache holds up to 16 MiB of files. Get serves a cached file as
// long as the change time proves the file unchanged (see [WithFs]). Otherwise Get
// reads the file. For a name that no call has seen yet, Get also costs as much as
// List.
func (c *Catalog) Get(ctx context.Context, name string) (Command, error) {
	const op = "Get"
	if err := c.begin(ctx, op); err != nil {
		return Command{}, err
	}
	stem, _ := names.TrimMarkdown(name)
	if !c.validName(stem) && !c.validName(name) {
		return Command{}, &Error{Code: CodeInvalidCommandName, Op: op, Path: name,
			Message: "invalid command name " + quote(name) + ": use " + c.nameRule(name)}
	}
	if command, ok := c.cachedCommand(name, stem); ok {
		return c.detach(command), nil
	}
	command, err := resolve(ctx, c, c.commands, op, name, stem, c.readCommand)
	if err != nil {
		return Command{}, err
	}
	return c.detach(command), nil
}

// cachedCommand is Get for a cached command whose file the feed, or a look into an open
// directory, shows unchanged. cachedCommand needs no goroutine, because the look never waits.
func (c *Catalog) cachedCommand(name, stem string) (Command, bool) {
	e := c.commands.known(c.commands.Last(), name, stem)
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

// readCommand is a reader for resolve.
func (c *Catalog) readCommand(ctx context.Context, _ *index.Snapshot, e *index.Entry) (reading[Command, CommandInfo], error) {
	command, err := c.load(ctx, e)
	if err != nil {
		return reading[Command, CommandInfo]{}, err
	}
	return reading[Command, CommandInfo]{command, []CommandInfo{command.info()}}, nil
}

// load returns the command of an entry. If the feed or a stat shows that the file is
// unchanged, load returns the cached command.
func (c *Catalog) load(ctx context.Context, e *index.Entry) (Command, error) {
	key := e.File()
	fsys := c.commands.FS(ctx, e.Layer())
	if kept := c.caches.commands.Get(key); kept != nil && c.unchanged(fsys, e, kept.Info) {
		return kept.Value, nil
	}
	now := time.Now()
	raw, info, err := c.readFile(fsys, e.Path)
	if err != nil {
		return Command{}, err
	}
	command := c.parse(e, raw, info)
	if c.commands.Settled(e.Layer(), info, now) {
		c.caches.commands.Put(&index.Cached[Command]{File: key, Info: info, Value: command, Size: int64(len(raw) + len(command.Content) + command.Frontmatter.doc.Memory())})
	}
	return command, nil
}

// keepText keeps the text of a small command that a scan has read from a store with
// versions, because another request for the text takes long.
func (c *Catalog) keepText(e *index.Entry, info confine.Info, text []byte) {
	if info.Version != "" {
		c.caches.texts.Put(&index.Cached[[]byte]{File: e.File(), Info: info, Value: bytes.Clone(text), Size: int64(len(text))})
	}
}

// listedText returns the text of a command in the version of a snapshot, if the catalog
// still has the text.
func (c *Catalog) listedText(e *index.Entry) (text []byte, info confine.Info, ok bool) {
	kept := c.caches.texts.Get(e.File())
	if kept == nil || !index.StampOf(kept.Info).Same(e.Stamp) {
		return nil, confine.Info{}, false
	}
	return kept.Value, kept.Info, true
}

// unchanged reports whether the file of an entry still has the given metadata.
func (c *Catalog) unchanged(fsys *confine.FS, e *index.Entry, known confine.Info) bool {
	switch {
	case c.commands.Layer(e.Layer()).Immutable:
		return true
	case c.commands.Current(e):
		return index.StampOf(known).Same(e.Stamp)
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

// parse converts a file to a command.
func (c *Catalog) parse(e *index.Entry, raw []byte, info confine.Info) Command {
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

// nameRule completes the message for an invalid name.
func (c *Catalog) nameRule(name string) string {
	switch {
	case c.config.looseNames:
		return "one path element without separators, control characters and leading dot"
	case c.config.nested:
		return `letters, digits, "_" and "-"; separate directories with ":"`
	case strings.Contains(name, ":"):
		return `letters, digits, "_" and "-"; the catalog reads no subdirectories without WithNestedCommands`
	default:
		return `letters, digits, "_" and "-"`
	}
}
