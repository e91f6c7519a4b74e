package toolshelf

import (
	"cmp"
	"context"
	"hash/maphash"
	"iter"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/late"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// ListUsage is documented at bridge.Catalog.
func (c bridged) ListUsage(ctx context.Context, size int, cursor string, rules *client.Rules) (bridge.UsageList, error) {
	const op = "ListUsage"
	if err := c.begin(ctx, op); err != nil {
		return bridge.UsageList{}, err
	}
	page := Page{Number: 1, Size: cmp.Or(size, defaultPageSize), Cursor: cursor}
	snapshot, err := c.commands.shownSnapshot(ctx, op)
	if err != nil {
		return bridge.UsageList{}, err
	}
	entries, pagination, err := commandPage(snapshot, page)
	if err != nil {
		return bridge.UsageList{}, inOp(op, err)
	}
	commands, err := c.usageOf(ctx, entries, rules)
	if err != nil {
		return bridge.UsageList{}, c.methodError(op, err)
	}
	return bridge.UsageList{Commands: commands, NextCursor: pagination.NextCursor, Snapshot: snapshot}, nil
}

// AllUsage is documented at bridge.Catalog.
func (c bridged) AllUsage(ctx context.Context, rules *client.Rules) iter.Seq2[bridge.Usage, error] {
	return func(yield func(bridge.Usage, error) bool) {
		const op = "AllUsage"
		if err := c.begin(ctx, op); err != nil {
			yield(bridge.Usage{}, err)
			return
		}
		snapshot, err := c.commands.shownSnapshot(ctx, op)
		if err != nil {
			yield(bridge.Usage{}, err)
			return
		}
		for entries := range slices.Chunk(snapshot.Entries, maxPageSize) {
			commands, err := c.usageOf(ctx, entries, rules)
			if err != nil {
				yield(bridge.Usage{}, c.methodError(op, err))
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

// usageWait is the time that a call waits for the next read to complete.
const usageWait = 500 * time.Millisecond

// usageOf returns the usage of each entry.
func (c *Catalog) usageOf(ctx context.Context, entries []*index.Entry, rules *client.Rules) ([]bridge.Usage, error) {
	all := make([]bridge.Usage, len(entries))
	reads := make([]*late.Read[[]template.Parameter], len(entries))
	for i, e := range entries {
		all[i] = bridge.Usage{Name: e.Name, Description: e.Description()}
		key := usageKey{e, c.commands.Layer(e.Layer()).Rules}
		if rules != nil {
			key.rules = *rules
		}
		kept := c.caches.usages.Get(e.File())
		if kept != nil && kept.Value.settled && kept.Value.rules == key.rules && stamp.Of(kept.Info).Same(e.Stamp) {
			all[i].Arguments = slices.Clone(kept.Value.arguments)
		} else {
			reads[i] = c.usageReads.Start(key)
		}
	}
	err := c.usageReads.Wait(ctx, reads, usageWait, func(i int, arguments []template.Parameter) { all[i].Arguments = slices.Clone(arguments) })
	if err != nil {
		return nil, c.closedCause(err)
	}
	return all, nil
}

// A usage holds the arguments of a command by some rules. It is immutable.
type usage struct {
	rules     client.Rules
	arguments []template.Parameter
	head      uint64 // hash of the bytes read
	whole     bool   // head covers the whole file
	settled   bool   // a change of the file changes its metadata
}

var usageSeed = maphash.MakeSeed()

type usageKey struct {
	entry *index.Entry
	rules client.Rules
}

// readUsage reads the arguments of a command. If the text is the same as at the last
// read, readUsage returns the cached arguments.
func (c *Catalog) readUsage(of usageKey) []template.Parameter {
	if c.sharedClosed() {
		return nil // the waiting calls return ErrClosed
	}
	e, now := of.entry, time.Now()
	head, info, err := c.readUsageHead(e)
	if err != nil {
		return nil // the file was removed since the scan, or its permissions changed
	}
	u := usage{rules: of.rules, head: maphash.Bytes(usageSeed, head), whole: int64(len(head)) >= info.Size}
	u.settled = stamp.Of(info).Same(e.Stamp) && c.commands.Settled(e.Layer(), info, now)
	if kept := c.caches.usages.Get(e.File()); kept != nil && kept.Value.rules == of.rules && kept.Value.head == u.head && kept.Value.whole == u.whole {
		u.arguments = kept.Value.arguments
	} else {
		u.arguments = template.Renderer{Rules: of.rules}.Listed(e.Path, head, u.whole)
	}
	size := int64(0)
	for _, a := range u.arguments {
		size += int64(64 + len(a.Name) + len(a.Description) + len(a.Hint))
	}
	c.caches.usages.Put(&index.Cached[usage]{File: e.File(), Info: info, Value: u, Size: size})
	return u.arguments
}

// readUsageHead returns the first bytes of a command's file.
func (c *Catalog) readUsageHead(e *index.Entry) ([]byte, confine.Info, error) {
	if text, info, ok := c.caches.commandTexts.Find(e); ok {
		return text, info, nil
	}
	f, err := c.commands.FS(c.lifetime, e.Layer()).OpenRegular(e.Path)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	head := make([]byte, min(f.Info().Size, template.MaxListedText))
	n, err := f.ReadHead(head)
	return head[:n], f.Info(), err
}
