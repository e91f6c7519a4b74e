package toolshelf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// A Command is a Markdown file, whole.
type Command struct {
	Name      string          `json:"name"`
	Content   string          `json:"content"` // the Markdown after the frontmatter, as it is in the file
	Metadata  CommandMetadata `json:"metadata"`
	NextSteps string          `json:"next_steps,omitempty"` // what a model should do after the command; see WithNextSteps

	Raw         []byte       `json:"-"` // the file to the byte; the caller's to keep and change
	Frontmatter Frontmatter  `json:"-"`
	Diagnostics []Diagnostic `json:"-"` // what was survived in reading it
	Dependency  bool         `json:"-"` // it is a part of other commands, which List leaves out
	Layer       string       `json:"-"` // the folder, or the name of the FS, that it is from, as the option has it
}

// CommandMetadata is what is known of a command's file.
type CommandMetadata struct {
	Path              string            `json:"path"`          // the full path on the filesystem that the file is on
	Size              int64             `json:"size"`          // in bytes
	LastModified      time.Time         `json:"last_modified"` // UTC; zero where the filesystem does not know
	Description       string            `json:"description"`
	DescriptionSource DescriptionSource `json:"-"`
}

// DescriptionSource says where a description was found.
type DescriptionSource string

// Where a description can be from.
const (
	DescriptionNone        DescriptionSource = DescriptionSource(matter.FromNone)        // "": there is none
	DescriptionFrontmatter DescriptionSource = DescriptionSource(matter.FromFrontmatter) // "frontmatter": its author wrote it as one
	DescriptionParagraph   DescriptionSource = DescriptionSource(matter.FromParagraph)   // "paragraph": it is the first paragraph of the text
)

// Get returns the command of this name, with or without ".md" (in any letter
// case). The name is as in List, letter case included; commands that List
// leaves out as dependencies are served too.
//
// A name that no command can have is ErrInvalidCommandName; no name ever
// becomes part of a path. A name that no layer has is ErrCommandNotFound, also
// where there is no folder (then the error is ErrDirectoryNotFound as well). A
// file that is there and cannot be read is ErrFileRead, and the cause, such as
// fs.ErrPermission, is in the chain; one over the limit of WithMaxFileSize is
// ErrFileTooLarge. For folders that cannot be read, see List.
//
// The cost, for a command of the first layer that was had before, is a stat of
// its folder and one of its file: up to 16 MiB of memory hold files, which are
// served as long as their change times prove them unchanged (see [WithFs]).
// Otherwise the file is read, and for a
// name that no call has seen yet the cost is also that of List.
func (c *Catalog) Get(ctx context.Context, name string) (Command, error) {
	const op = "Get"
	if err := c.begin(ctx, op); err != nil {
		return Command{}, err
	}
	stem, _ := names.TrimMarkdown(name)
	if !c.validName(stem) && !c.validName(name) {
		return Command{}, &Error{Code: ErrInvalidCommandName.Code, Op: op, Path: name,
			Message: "no command can be called " + quote(name) + "; use " + c.nameRule(name)}
	}
	if command, ok := c.knownCommand(ctx, name, stem); ok {
		return c.hand(command), nil
	}
	if ctx.Err() != nil {
		return Command{}, ctx.Err()
	}
	// Where anything is not as it was, the files are looked through anew.
	command, err := c.lookUpCommand(ctx, op, name, stem, c.commands.Snapshot)
	if c.config.watch && errors.Is(err, ErrCommandNotFound) {
		// What is not there yet may be what was not told of yet.
		command, err = c.lookUpCommand(ctx, op, name, stem, c.commands.Validate)
	}
	if err != nil {
		return Command{}, err
	}
	return c.hand(command), nil
}

// knownCommand is Get for a command that can be had without a look at any file
// but its own.
func (c *Catalog) knownCommand(ctx context.Context, name, stem string) (Command, bool) {
	e := c.commands.Known(name, stem)
	if e == nil {
		return Command{}, false
	}
	if kept := c.commandContents.get(file{e.Layer, e.Path}); kept != nil {
		if info, ok := c.commands.Glance(e); ok && index.SameFile(info, kept.info) && c.shows(kept.value) {
			return kept.value, true
		}
	}
	command, err := await(ctx, c, func(context.Context) (Command, error) { return c.load(e) })
	return command, err == nil && c.shows(command)
}

// lookUpCommand is Get for the command that a snapshot has.
func (c *Catalog) lookUpCommand(ctx context.Context, op, name, stem string, look func(context.Context) (*index.Snapshot, error)) (Command, error) {
	snapshot, err := look(ctx)
	if err != nil {
		err = c.commandsError(op, err)
		if errors.Is(err, ErrDirectoryNotFound) {
			err = &Error{Code: ErrCommandNotFound.Code, Op: op, Path: name,
				Message: "there is no command " + quote(stem) + c.noDirectory(err, "commands"), Err: err}
		}
		return Command{}, err
	}
	shown := c.commandFilter.of(snapshot)
	notFound := func() error {
		return &Error{Code: ErrCommandNotFound.Code, Op: op, Path: name,
			Message: "there is no command " + quote(stem) + "; " + suggestion(shown.Entries, stem, "list the commands for the names")}
	}
	e := shown.Lookup(name, stem)
	if e == nil {
		return Command{}, notFound()
	}
	command, err := await(ctx, c, func(context.Context) (Command, error) { return c.load(e) })
	switch {
	case err == nil && c.shows(command):
		return command, nil
	case err == nil: // it has just become one that is not shown
		return Command{}, notFound()
	case ctx.Err() != nil:
		return Command{}, ctx.Err()
	default:
		return Command{}, commandError(op, name, e, err)
	}
}

// commandError says why the file of a command cannot be had.
func commandError(op, name string, entry *index.Entry, err error) error {
	e := &Error{Code: ErrFileRead.Code, Op: op, Path: name, Err: err,
		Message: "the file of command " + quote(entry.Name) + " cannot be read (" + escape.Reason(err) + "); check that it is a file and its permissions"}
	switch {
	case errors.Is(err, fs.ErrClosed):
		return closedMeanwhile(op)
	case errors.Is(err, index.ErrTooLarge):
		e.Code, e.Message = ErrFileTooLarge.Code, "the file of command "+quote(entry.Name)+" is larger than allowed; shorten it, or raise the limit with WithMaxFileSize"
	case errors.Is(err, fs.ErrNotExist) && entry.Broken == nil:
		e.Code, e.Message = ErrCommandNotFound.Code, "command "+quote(entry.Name)+" was removed just now; list the commands for the names"
	}
	return e
}

// shows reports whether the catalog's filters keep a command as it is now.
func (c *Catalog) shows(command Command) bool {
	m := command.Metadata
	return c.commandFilter.keeps(CommandInfo{Name: command.Name, Description: m.Description, Size: m.Size, LastModified: m.LastModified})
}

// load returns the command of an entry, from memory if a stat shows that its
// file is as it was when it was read.
func (c *Catalog) load(e *index.Entry) (Command, error) {
	key := file{e.Layer, e.Path}
	layer := c.commands.Layer(e.Layer)
	fsys := layer.FS
	if kept := c.commandContents.get(key); kept != nil {
		if layer.Immutable {
			return kept.value, nil
		}
		stat := fsys.Lstat
		if e.Linked {
			stat = fsys.Info
		}
		if info, err := stat(e.Path); err == nil && index.SameFile(info, kept.info) {
			return kept.value, nil
		}
	}
	now := time.Now()
	raw, info, err := c.readFile(fsys, e.Path)
	if err != nil {
		return Command{}, err
	}
	command := c.parse(e, raw, info)
	if c.commands.Settled(e.Layer, info, now) {
		c.commandContents.put(&content[Command]{file: key, info: info, value: command, size: int64(len(raw) + len(command.Content) + command.Frontmatter.doc.Memory())})
	}
	return command, nil
}

// hand makes a command the caller's own, and has the caller's rule fill in
// what to do next.
func (c *Catalog) hand(command Command) Command {
	command.Raw = bytes.Clone(command.Raw)
	command.Diagnostics = slices.Clone(command.Diagnostics)
	if c.config.nextSteps != nil {
		command.NextSteps = c.config.nextSteps(command)
	}
	return command
}

// parse makes a command of a file.
func (c *Catalog) parse(e *index.Entry, raw []byte, info confine.Info) Command {
	layer := c.commands.Layer(e.Layer)
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
		Frontmatter: newFrontmatter(doc),
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

// readFile reads a regular file of at most the allowed size.
func (c *Catalog) readFile(fsys *confine.FS, name string) ([]byte, confine.Info, error) {
	f, err := fsys.OpenRegular(name)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	raw, err := c.readOpen(f)
	return raw, f.Info(), err
}

// readOpen reads a file of at most the allowed size.
func (c *Catalog) readOpen(f *confine.File) ([]byte, error) {
	size := f.Info().Size
	if size > c.config.maxFileSize {
		return nil, index.ErrTooLarge
	}
	// The reported size is a hint: a file can grow, and a filesystem can report any
	// size. Beyond readStep, memory therefore grows with the bytes read.
	raw := make([]byte, 0, min(size, readStep)+1)
	for !c.closed() {
		n, err := f.Read(raw[len(raw) : len(raw)+min(cap(raw)-len(raw), readStep)])
		raw = raw[:len(raw)+n]
		switch {
		case int64(len(raw)) > c.config.maxFileSize:
			return nil, index.ErrTooLarge
		case err == io.EOF:
			return raw, nil
		case err != nil:
			return nil, err
		}
		if len(raw) == cap(raw) {
			rest := max(size+1-int64(len(raw)), 1)
			raw = slices.Grow(raw, int(min(rest, int64(len(raw)))))
		}
	}
	return nil, fs.ErrClosed
}

// readStep is how much of a file is read before it is seen that the catalog was
// closed.
const readStep = 16 << 20

// validName reports whether a command can have this name.
func (c *Catalog) validName(name string) bool {
	if !c.config.nested {
		return c.validElement(name)
	}
	for element := range strings.SplitSeq(name, ":") {
		if !c.validElement(element) {
			// A loose name may itself hold colons.
			return c.validElement(name)
		}
	}
	return true
}

// validElement is validName for a name that is one path element.
func (c *Catalog) validElement(name string) bool {
	if c.config.looseNames {
		return names.Loose(name)
	}
	return names.Plain(name)
}

func (c *Catalog) nameRule(name string) string {
	switch {
	case c.config.looseNames:
		return "one path element without separators, control characters and leading dot"
	case c.config.nested:
		return `letters, digits, "_" and "-", with ":" after each folder`
	case strings.Contains(name, ":"):
		return `letters, digits, "_" and "-"; commands in folders are not read without WithNestedCommands`
	default:
		return `letters, digits, "_" and "-"`
	}
}
