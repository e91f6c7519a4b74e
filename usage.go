package toolshelf

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/cursor"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// Invocable is documented at bridge.Catalog.
func (c bridged) Invocable(ctx context.Context) (v index.Invocable, err error) {
	const op = "Invocable"
	if err = c.begin(ctx, op); err != nil {
		return v, err
	}
	var missing error
	if _, v.Commands, err = c.commands.list(ctx, op); CodeOf(err) == CodeDirectoryNotFound {
		missing, err = err, nil
	}
	if err == nil {
		_, v.Skills, err = c.skills.list(ctx, op)
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

// usageOf returns the usage of each entry.
func (c *Catalog) usageOf(ctx context.Context, entries []index.Invoked, rules *client.Rules) ([]bridge.Usage, error) {
	all := make([]bridge.Usage, len(entries))
	for i, e := range entries {
		all[i] = bridge.Usage{Name: e.Name, Description: c.completion(e).Description}
	}
	err := c.usages.Each(ctx, entries, rules, func(i int, arguments []template.Parameter) { all[i].Arguments = slices.Clone(arguments) })
	if err != nil {
		return nil, c.closedCause(err)
	}
	return all, nil
}
