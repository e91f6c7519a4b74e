package toolshelf

import (
	"cmp"
	"context"
	"slices"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/cursor"
	"github.com/toolshelf-go/toolshelf/internal/template"
	"github.com/toolshelf-go/toolshelf/internal/usage"
)

// Prompting is documented at bridge.Catalog.
func (c bridged) Prompting(commands, skills bool) bridge.Catalog[SkillInfo, SkillFile] {
	return bridged{c.Catalog, selection{commands: commands, skills: skills}}
}

// Invocable is documented at bridge.Catalog.
func (c bridged) Invocable(ctx context.Context) (v usage.Invocable, err error) {
	const op = "Invocable"
	if err = c.begin(ctx, op); err != nil {
		return v, err
	}
	if c.prompts.commands {
		_, v.Commands, err = c.commands.list(ctx, op)
	}
	if c.prompts.skills && (err == nil || CodeOf(err) == CodeDirectoryNotFound) {
		var failed error
		if _, v.Skills, failed = c.skills.list(ctx, op); CodeOf(failed) != CodeDirectoryNotFound || !c.prompts.commands {
			err = failed
		}
		v.Off = c.isOff
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
	var page []usage.Invoked
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

// usageOf returns the usage of each entry. At most 1,000 entries wait for a read at the same time.
func (c *Catalog) usageOf(ctx context.Context, entries []usage.Invoked, rules *client.Rules) (all []bridge.Usage, err error) {
	for part := range slices.Chunk(entries, 1000) {
		first := len(all)
		for _, e := range part {
			all = append(all, bridge.Usage{Name: e.Name, Description: c.completion(e).Description})
		}
		if err := c.usages.Each(ctx, part, rules, func(i int, arguments []template.Parameter) { all[first+i].Arguments = slices.Clone(arguments) }); err != nil {
			return nil, c.lifetime.Cause(err)
		}
	}
	return all, nil
}
