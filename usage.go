package toolshelf

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// A CommandUsage describes a listed command and the arguments that the command
// expects, for a menu or a form.
type CommandUsage struct {
	CommandInfo

	// Arguments are those of [Renderer.ListedArguments]. Arguments is nil if the command expects none, if the file cannot
	// be read, or if the file is not read in time; see [Catalog.ListUsage].
	Arguments []Argument `json:"arguments,omitempty"`
}

// A UsageList is one page of commands with their arguments.
type UsageList struct {
	Commands   []CommandUsage `json:"commands"` // never null
	Pagination Pagination     `json:"pagination"`

	snapshot *index.Snapshot
}

// Contains reports whether the catalog listed a command of this name when the page
// was made, on any page. The name may end with ".md", as for [Catalog.Get].
// Contains reads no file. A zero UsageList contains no name.
func (l UsageList) Contains(name string) bool {
	if l.snapshot == nil {
		return false
	}
	stem, _ := names.TrimMarkdown(name)
	e := l.snapshot.Lookup(name, stem)
	return e != nil && !e.Hidden && e.Broken == nil
}

// ListUsage is [Catalog.List] with the arguments of each command. The options of r
// are those that will render the command.
//
// No file delays the others. ListUsage reads the files of a page at the same time,
// and at most 64 KiB of each. If a filesystem does not answer for half a
// second, ListUsage returns the commands that are still being read without
// arguments. Later calls do not wait for these files; they have the arguments once
// the files are read.
//
// The errors are those of List. The cost is that of List, and of reading the files
// that are new or have changed: up to 16 MiB of arguments are kept in memory. On a
// filesystem without change times, ListUsage reads the files each time, and parses
// the text of those that have changed.
func (c *Catalog) ListUsage(ctx context.Context, page Page, r Renderer) (UsageList, error) {
	const op = "ListUsage"
	if err := c.begin(ctx, op); err != nil {
		return UsageList{}, err
	}
	if _, err := page.normalized(); err != nil {
		return UsageList{}, inOp(op, err)
	}
	snapshot, err := c.commandSnapshot(ctx)
	if err != nil {
		return UsageList{}, c.commandsError(op, err)
	}
	entries, pagination, err := commandPage(snapshot, page)
	if err != nil {
		return UsageList{}, inOp(op, err)
	}
	commands, err := c.usageOf(ctx, entries, r)
	if err != nil {
		return UsageList{}, c.methodError(op, err)
	}
	return UsageList{Commands: commands, Pagination: pagination, snapshot: snapshot}, nil
}

// AllUsage ranges over the commands of all pages of ListUsage, as they are when
// the range begins. AllUsage reads the files of 100 commands at a time. An error,
// see ListUsage, ends the range: the error comes once, with a zero CommandUsage.
func (c *Catalog) AllUsage(ctx context.Context, r Renderer) iter.Seq2[CommandUsage, error] {
	return func(yield func(CommandUsage, error) bool) {
		const op = "AllUsage"
		if err := c.begin(ctx, op); err != nil {
			yield(CommandUsage{}, err)
			return
		}
		snapshot, err := c.commandSnapshot(ctx)
		if err != nil {
			yield(CommandUsage{}, c.commandsError(op, err))
			return
		}
		for entries := range slices.Chunk(snapshot.Entries, maxPageSize) {
			commands, err := c.usageOf(ctx, entries, r)
			if err != nil {
				yield(CommandUsage{}, c.methodError(op, err))
				return
			}
			for _, command := range commands {
				if !yield(command, nil) {
					return
				}
			}
		}
	}
}

const (
	usageHead      = matter.MaxHead         // bytes of a file that are read for its arguments
	usageArguments = 100                    // arguments of a command that are kept
	usageWait      = 500 * time.Millisecond // without an answer of the filesystem
)

// usageOf returns the usage of each entry.
func (c *Catalog) usageOf(ctx context.Context, entries []*index.Entry, r Renderer) ([]CommandUsage, error) {
	all := make([]CommandUsage, len(entries))
	reads := make([]*usageRead, len(entries))
	for i, e := range entries {
		all[i].CommandInfo = commandInfo(e)
		kept := c.usages.get(file{e.Layer, e.Path})
		if kept != nil && kept.value.settled && kept.value.renderer == r && index.SameFile(kept.info, e.Info) {
			all[i].Arguments = slices.Clone(kept.value.arguments)
		} else {
			reads[i] = c.startUsage(e, r)
		}
	}
	wait := time.NewTimer(usageWait)
	defer wait.Stop()
	expired := false
	for i, read := range reads {
		switch {
		case read == nil:
			continue
		case !expired && !read.late.Load():
			wait.Reset(usageWait)
			select {
			case <-read.done:
			case <-wait.C:
				expired = true
			case <-ctx.Done():
			case <-c.lifetime.Done():
			}
		}
		if err := cmp.Or(ctx.Err(), c.lifetime.Err()); err != nil {
			return nil, c.closedCause(err)
		}
		select {
		case <-read.done:
			if read.panicked != nil {
				panic(read.panicked)
			}
			all[i].Arguments = slices.Clone(read.arguments)
		default:
			read.late.Store(true)
		}
	}
	return all, nil
}

// A usage holds the arguments of a command for one renderer. It is immutable.
type usage struct {
	renderer  Renderer
	arguments []Argument
	head      uint64 // hash of the bytes that the arguments are from
	whole     bool   // the bytes are the whole file
	settled   bool   // the metadata of the file will show a change
}

var usageSeed = maphash.MakeSeed()

// usageReads are the reads in progress, one for each file that several calls wait
// for.
type usageReads struct {
	mu  sync.Mutex
	all map[usageKey]*usageRead
}

type usageKey struct {
	entry    *index.Entry
	renderer Renderer
}

type usageRead struct {
	done      chan struct{} // closed when arguments and panicked are set
	arguments []Argument
	panicked  any         // of the filesystem, for the caller to recover from
	late      atomic.Bool // a call has given up waiting
}

// startUsage returns the read in progress for an entry, and starts one if there is
// none. After Close, the read is done and empty.
func (c *Catalog) startUsage(e *index.Entry, r Renderer) *usageRead {
	reads, key := &c.usageReads, usageKey{e, r}
	reads.mu.Lock()
	defer reads.mu.Unlock()
	if read := reads.all[key]; read != nil {
		return read
	}
	read := &usageRead{done: make(chan struct{})}
	if !c.enter() {
		close(read.done)
		return read
	}
	if reads.all == nil {
		reads.all = make(map[usageKey]*usageRead)
	}
	reads.all[key] = read
	go func() {
		defer c.leave()
		defer func() {
			read.panicked = recover()
			close(read.done)
			reads.mu.Lock()
			defer reads.mu.Unlock()
			delete(reads.all, key)
		}()
		read.arguments = c.readUsage(e, r)
	}()
	return read
}

// readUsage reads the arguments of a command. The text is parsed only if no
// earlier call has parsed the same text.
func (c *Catalog) readUsage(e *index.Entry, r Renderer) []Argument {
	if c.closed() {
		return nil // the waiting calls return ErrClosed
	}
	now := time.Now()
	f, err := c.commands.Layer(e.Layer).FS.OpenRegular(e.Path)
	if err != nil {
		return nil // the file was removed since the scan, or its permissions changed
	}
	defer f.Close()
	head := make([]byte, min(f.Info().Size, usageHead))
	n, err := f.ReadHead(head)
	if err != nil {
		return nil
	}
	key, info := file{e.Layer, e.Path}, f.Info()
	u := usage{renderer: r, head: maphash.Bytes(usageSeed, head[:n]), whole: int64(n) >= info.Size}
	u.settled = index.SameFile(info, e.Info) && c.commands.Settled(e.Layer, info, now)
	if kept := c.usages.get(key); kept != nil && kept.value.renderer == r && kept.value.head == u.head && kept.value.whole == u.whole {
		u.arguments = kept.value.arguments
	} else {
		u.arguments = r.listedArguments(head[:n], u.whole)
	}
	size := int64(0)
	for _, a := range u.arguments {
		size += int64(64 + len(a.Name) + len(a.Description) + len(a.Hint))
	}
	c.usages.put(&content[usage]{file: key, info: info, value: u, size: size})
	return u.arguments
}

// ListedArguments returns the arguments that [Catalog.ListUsage] gives for c:
// those of the first 64 KiB of c.Raw, at most 100. For a longer file,
// [Renderer.Arguments] may return further arguments, and may lack an argument: the
// rest of the text may close a code span, or have the first numbered placeholder.
func (r Renderer) ListedArguments(c Command) []Argument {
	return r.listedArguments(c.Raw[:min(len(c.Raw), usageHead)], len(c.Raw) <= usageHead)
}

func (r Renderer) listedArguments(head []byte, whole bool) []Argument {
	doc, _ := matter.Parse(head, whole)
	body := head[doc.Body:]
	if !whole { // the last line may end within a placeholder
		body = body[:bytes.LastIndexByte(body, '\n')+1]
	}
	list := r.Arguments(Command{Content: string(body), Frontmatter: newFrontmatter(doc)})
	if len(list) == 0 {
		return nil
	}
	// The strings are parts of the text, which must not stay in memory.
	arguments := slices.Clone(list[:min(len(list), usageArguments)])
	for i := range arguments {
		a := &arguments[i]
		a.Name, a.Description, a.Hint = strings.Clone(a.Name), strings.Clone(a.Description), strings.Clone(a.Hint)
	}
	return arguments
}
