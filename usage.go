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

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A CommandUsage describes a listed command and the arguments that the command
// expects, for a menu or a form.
type CommandUsage struct {
	CommandInfo

	// Arguments is the result of [Renderer.ListedArguments]. Arguments is nil if the
	// command expects no arguments, if the file cannot be read, or if the read takes too
	// long; see [Catalog.ListUsage].
	Arguments []Argument `json:"arguments,omitempty"`
}

// A UsageList is one page of commands with their arguments.
type UsageList struct {
	Commands   []CommandUsage `json:"commands"` // never null
	Pagination Pagination     `json:"pagination"`

	snapshot *index.Snapshot
}

// Contains reports whether the catalog listed a command of this name, on any page,
// at the time of the call that returned l. The name may end with ".md", as for [Catalog.Get].
// Contains reads no file. A zero UsageList contains no name.
func (l UsageList) Contains(name string) bool {
	if l.snapshot == nil {
		return false
	}
	stem, _ := names.TrimMarkdown(name)
	e := l.snapshot.Lookup(name, stem)
	return e != nil && !e.Dependency && e.Broken() == nil
}

// ListUsage is [Catalog.List] with the arguments of each command. Pass the Renderer
// that will render the commands.
//
// A slow file does not delay other files. ListUsage reads the files of a page
// concurrently, at most 64 KiB of each file. If no read completes for half a second,
// ListUsage returns the remaining commands without arguments, and their reads
// continue. Later calls do not wait for these reads. Later calls return the arguments
// after the reads complete.
//
// ListUsage returns the errors of List. In addition to the cost of List, ListUsage
// reads the files that are new or have changed. ListUsage caches up to 16 MiB of
// arguments. On a filesystem without change times, ListUsage reads all files of the
// page, and parses the changed files only.
func (c *Catalog) ListUsage(ctx context.Context, page Page, r Renderer) (UsageList, error) {
	const op = "ListUsage"
	if err := c.begin(ctx, op); err != nil {
		return UsageList{}, err
	}
	if _, err := page.normalized(); err != nil {
		return UsageList{}, inOp(op, err)
	}
	snapshot, err := c.commands.shownSnapshot(ctx, op)
	if err != nil {
		return UsageList{}, err
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

// AllUsage ranges over the commands of all pages of ListUsage, as of the start of
// the range. AllUsage reads the files of 100 commands at a time. An error ends the
// range: AllUsage yields the error once, with a zero CommandUsage. For errors see
// [Catalog.ListUsage].
func (c *Catalog) AllUsage(ctx context.Context, r Renderer) iter.Seq2[CommandUsage, error] {
	return func(yield func(CommandUsage, error) bool) {
		const op = "AllUsage"
		if err := c.begin(ctx, op); err != nil {
			yield(CommandUsage{}, err)
			return
		}
		snapshot, err := c.commands.shownSnapshot(ctx, op)
		if err != nil {
			yield(CommandUsage{}, err)
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
	usageHead      = matter.MaxHead         // bytes read of a file
	usageArguments = 100                    // arguments of a command
	usageWait      = 500 * time.Millisecond // for the next completed read
)

// usageOf returns the usage of each entry.
func (c *Catalog) usageOf(ctx context.Context, entries []*index.Entry, r Renderer) ([]CommandUsage, error) {
	all := make([]CommandUsage, len(entries))
	reads := make([]*usageRead, len(entries))
	for i, e := range entries {
		all[i].CommandInfo = commandInfo(e)
		kept := c.caches.usages.Get(e.File())
		if kept != nil && kept.Value.settled && kept.Value.renderer == r && stamp.Of(kept.Info).Same(e.Stamp) {
			all[i].Arguments = slices.Clone(kept.Value.arguments)
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
			if read.exit != nil {
				read.exit.Resume()
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
	head      uint64 // hash of the bytes read
	whole     bool   // head covers the whole file
	settled   bool   // a change of the file changes its metadata
}

var usageSeed = maphash.MakeSeed()

// usageReads holds the reads in progress. Concurrent calls share the read of a file.
type usageReads struct {
	slots chan struct{} // has an element for each file that is being read

	mu  sync.Mutex
	all map[usageKey]*usageRead // guarded by mu
}

type usageKey struct {
	entry    *index.Entry
	renderer Renderer
}

type usageRead struct {
	done      chan struct{} // closed when arguments and exit are set
	arguments []Argument
	exit      *parallel.Exit // a panic or runtime.Goexit of the filesystem, passed on to the caller
	late      atomic.Bool    // a call has stopped waiting
}

// startUsage returns the read in progress for an entry, or starts a read. After
// Close, startUsage returns a completed read without arguments.
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
		parallel.Run(func() {
			select {
			case reads.slots <- struct{}{}:
				defer func() { <-reads.slots }()
				read.arguments = c.readUsage(e, r)
			case <-c.lifetime.Done(): // the waiting calls return ErrClosed
			}
		}, func(exit *parallel.Exit) {
			read.exit = exit
			close(read.done)
			reads.mu.Lock()
			defer reads.mu.Unlock()
			delete(reads.all, key)
		})
	}()
	return read
}

// readUsage reads the arguments of a command. If the text is the same as at the last
// read, readUsage returns the cached arguments.
func (c *Catalog) readUsage(e *index.Entry, r Renderer) []Argument {
	if c.sharedClosed() {
		return nil // the waiting calls return ErrClosed
	}
	now := time.Now()
	head, info, err := c.readUsageHead(e)
	if err != nil {
		return nil // the file was removed since the scan, or its permissions changed
	}
	key := e.File()
	u := usage{renderer: r, head: maphash.Bytes(usageSeed, head), whole: int64(len(head)) >= info.Size}
	u.settled = stamp.Of(info).Same(e.Stamp) && c.commands.Settled(e.Layer(), info, now)
	if kept := c.caches.usages.Get(key); kept != nil && kept.Value.renderer == r && kept.Value.head == u.head && kept.Value.whole == u.whole {
		u.arguments = kept.Value.arguments
	} else {
		u.arguments = r.listedArguments(head, u.whole)
	}
	size := int64(0)
	for _, a := range u.arguments {
		size += int64(64 + len(a.Name) + len(a.Description) + len(a.Hint))
	}
	c.caches.usages.Put(&index.Cached[usage]{File: key, Info: info, Value: u, Size: size})
	return u.arguments
}

// readUsageHead returns the first bytes of a command's file.
func (c *Catalog) readUsageHead(e *index.Entry) ([]byte, confine.Info, error) {
	if text, info, ok := c.caches.commandTexts.find(e); ok {
		return text, info, nil
	}
	f, err := c.commands.FS(c.lifetime, e.Layer()).OpenRegular(e.Path)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	head := make([]byte, min(f.Info().Size, usageHead))
	n, err := f.ReadHead(head)
	return head[:n], f.Info(), err
}

// ListedArguments returns the arguments that [Catalog.ListUsage] gives for c:
// the arguments of the first 64 KiB of c.Raw, at most 100. For a longer file,
// [Renderer.Arguments] may return more arguments, or may omit an argument, because
// the rest of the text can close a code span or contain the first numbered
// placeholder.
func (r Renderer) ListedArguments(c Command) []Argument {
	return r.listedArguments(c.Raw[:min(len(c.Raw), usageHead)], len(c.Raw) <= usageHead)
}

func (r Renderer) listedArguments(head []byte, whole bool) []Argument {
	doc, _ := matter.Parse(head, whole)
	body := head[doc.Body:]
	if !whole { // the last line may end within a placeholder
		body = body[:bytes.LastIndexByte(body, '\n')+1]
	}
	list := r.Arguments(Command{Content: string(body), Frontmatter: newFrontmatter(doc.Frontmatter)})
	if len(list) == 0 {
		return nil
	}
	// The strings share the memory of the text. Clones allow the text to be freed.
	arguments := slices.Clone(list[:min(len(list), usageArguments)])
	for i := range arguments {
		a := &arguments[i]
		a.Name, a.Description, a.Hint = strings.Clone(a.Name), strings.Clone(a.Description), strings.Clone(a.Hint)
	}
	return arguments
}
