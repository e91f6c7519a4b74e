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
	"github.com/toolshelf-go/toolshelf/internal/cursor"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/late"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// Invocable is documented at bridge.Catalog.
func (c bridged) Invocable(ctx context.Context) (v index.Invocable, err error) {
	const op = "Invocable"
	if err = c.begin(ctx, op); err != nil {
		return v, err
	}
	var missing error
	if v.Commands, err = c.commands.shownSnapshot(ctx, op); CodeOf(err) == CodeDirectoryNotFound {
		missing, err = err, nil
	}
	if err == nil {
		v.Skills, err = c.skills.shownSnapshot(ctx, op)
	}
	if CodeOf(err) == CodeDirectoryNotFound {
		err = missing
	}
	return v, err
}

// scopes are the scopes of the cursors of ListUsage: of commands, as in List, and of skills.
var scopes = map[bool]string{false: commandScope, true: "invocable skills"}

// ListUsage is documented at bridge.Catalog.
func (c bridged) ListUsage(ctx context.Context, size int, from string, rules *client.Rules) (bridge.UsageList, error) {
	const op = "ListUsage"
	if err := c.begin(ctx, op); err != nil {
		return bridge.UsageList{}, err
	}
	size = cmp.Or(size, defaultPageSize)
	all, err := c.Invocable(ctx)
	if err != nil {
		return bridge.UsageList{}, inOp(op, err)
	}
	after, err := decodeCursor(scopes[false], from)
	inSkills := from != "" && err != nil
	if inSkills {
		if after, err = decodeCursor(scopes[true], from); err != nil {
			return bridge.UsageList{}, inOp(op, err)
		}
	}
	list := bridge.UsageList{Invocable: all}
	var page []index.Invoked
	for e := range all.After(after, inSkills) {
		if len(page) == size {
			last := page[size-1]
			list.NextCursor = cursor.Encode(scopes[last.Skill], last.Name)
			break
		}
		page = append(page, e)
	}
	if list.Rows, err = c.usageOf(ctx, page, rules); err != nil {
		return bridge.UsageList{}, c.methodError(op, err)
	}
	return list, nil
}

// AllUsage is documented at bridge.Catalog.
func (c bridged) AllUsage(ctx context.Context, rules *client.Rules) iter.Seq2[bridge.Usage, error] {
	return func(yield func(bridge.Usage, error) bool) {
		const op = "AllUsage"
		all, err := c.Invocable(ctx)
		if err != nil {
			yield(bridge.Usage{}, inOp(op, err))
			return
		}
		for entries := range slices.Chunk(slices.Collect(all.After("", false)), maxPageSize) {
			rows, err := c.usageOf(ctx, entries, rules)
			if err != nil {
				yield(bridge.Usage{}, c.methodError(op, err))
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// usageWait is the time that a call waits for the next read to complete.
const usageWait = 500 * time.Millisecond

// usageOf returns the usage of each entry.
func (c *Catalog) usageOf(ctx context.Context, entries []index.Invoked, rules *client.Rules) ([]bridge.Usage, error) {
	all := make([]bridge.Usage, len(entries))
	reads := make([]*late.Read[[]template.Parameter], len(entries))
	for i, e := range entries {
		all[i] = bridge.Usage{Name: e.Name, Description: c.completion(e).Description}
		from, _, usages := c.usageSource(e.Skill)
		key := usageKey{e, from.LayerOf(e.Entry).Rules}
		if rules != nil {
			key.rules = *rules
		}
		kept := usages.Get(e.File())
		if kept != nil && !from.Sealed(e.Entry) && kept.Value.settled && kept.Value.rules == key.rules && stamp.Of(kept.Info).Same(e.Stamp) {
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

// usageSource returns the index of the commands or of the skills, their texts and the cache of their usages.
func (c *Catalog) usageSource(skill bool) (*index.Index, *index.Texts[[]byte], *index.Cache[usage]) {
	if skill {
		return c.skills.Index, &c.caches.skills.Texts, &c.caches.skillUsages
	}
	return c.commands.Index, &c.caches.commands.Texts, &c.caches.usages
}

// A usage holds the arguments of a command or a skill by some rules. It is immutable.
type usage struct {
	rules     client.Rules
	arguments []template.Parameter
	head      uint64 // hash of the bytes read
	whole     bool   // head covers the whole file
	settled   bool   // a change of the file changes its metadata
}

var usageSeed = maphash.MakeSeed()

type usageKey struct {
	entry index.Invoked
	rules client.Rules
}

// readUsage reads the arguments of a command or a skill. If the text is the same as at the last
// read, readUsage returns the cached arguments.
func (c *Catalog) readUsage(of usageKey) []template.Parameter {
	if c.sharedClosed() {
		return nil // the waiting calls return ErrClosed
	}
	e, now := of.entry, time.Now()
	from, texts, usages := c.usageSource(e.Skill)
	head, info, err := c.readUsageHead(e.Entry, from, texts)
	if err != nil {
		return nil // the file was removed since the scan, or its permissions changed
	}
	u := usage{rules: of.rules, head: maphash.Bytes(usageSeed, head), whole: int64(len(head)) >= info.Size}
	u.settled = stamp.Of(info).Same(e.Stamp) && from.Settled(e.Layer(), info, now)
	if kept := usages.Get(e.File()); kept != nil && kept.Value.rules == of.rules && kept.Value.head == u.head && kept.Value.whole == u.whole {
		u.arguments = kept.Value.arguments
	} else {
		u.arguments = template.Renderer{Rules: of.rules}.Listed(e.Path, head, u.whole)
	}
	size := int64(0)
	for _, a := range u.arguments {
		size += int64(64 + len(a.Name) + len(a.Description) + len(a.Hint))
	}
	usages.Put(&index.Cached[usage]{File: e.File(), Info: info, Value: u, Size: size})
	return u.arguments
}

// readUsageHead returns the first bytes of the file of an entry.
func (c *Catalog) readUsageHead(e *index.Entry, from *index.Index, texts *index.Texts[[]byte]) ([]byte, confine.Info, error) {
	if from.Sealed(e) {
		raw, info, err := from.ReadFile(from.FSOf(c.lifetime, e), e.Path)
		return raw[:min(len(raw), template.MaxListedText)], info, cmp.Or(err, from.Verify(e, raw))
	}
	if text, info, ok := texts.Find(e); ok {
		return text, info, nil
	}
	f, err := from.FSOf(c.lifetime, e).OpenRegular(e.Path)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	head := make([]byte, min(f.Info().Size, template.MaxListedText))
	n, err := f.ReadHead(head)
	return head[:n], f.Info(), err
}
