package bench

import (
	"context"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// allow is a gate that allows every item.
type allow struct{}

func (allow) Allowed(context.Context, toolshelf.Item) bool { return true }

// versioned is a gate whose answers a catalog keeps.
type versioned struct{ allow }

func (versioned) Version() uint64 { return 1 }

// A gated list without a change costs the metadata of all files of the skills, and an ungated list
// the metadata of SKILL.md.
func BenchmarkListGated(b *testing.B) {
	commands := catalogtest.PublicCommands(b, 10_000, catalogtest.PublicCommandHeaders, catalogtest.PublicCommandSizes)
	skills := catalogtest.PublicSkills(b, 5000, catalogtest.PublicSkillHeaders, catalogtest.PublicSkillSizes)
	for _, of := range []struct {
		name, root string
		list       func(*toolshelf.Catalog) (int, error)
	}{
		{"commands", commands.Root, func(c *toolshelf.Catalog) (int, error) {
			l, err := c.List(b.Context(), toolshelf.Page{})
			return l.Pagination.Total, err
		}},
		{"skills of one file", skills.Root, listSkills(b)},
		{"skills of three files", manySkills(b, 5000), listSkills(b)},
	} {
		list := func(c *toolshelf.Catalog) {
			if n, err := of.list(c); err != nil || n == 0 {
				b.Fatal(n, err)
			}
		}
		open := func(opts ...toolshelf.Option) *toolshelf.Catalog {
			return catalogtest.Open(b, append(opts, toolshelf.WithRoot(of.root))...)
		}
		gates := map[string][]toolshelf.Option{"gated": {toolshelf.WithGate(versioned{})}, "unversioned": {toolshelf.WithGate(allow{})}, "open": nil}
		b.Run(of.name+"/warm", func(b *testing.B) {
			run := map[string]func(){}
			for name, opts := range gates {
				c := open(opts...)
				list(c)
				run[name] = func() { list(c) }
			}
			b.Run("versioned", func(b *testing.B) { catalogtest.Compare(b, []string{"gated", "open"}, run) })
			b.Run("unversioned", func(b *testing.B) { catalogtest.Compare(b, []string{"unversioned", "open"}, run) })
		})
		b.Run(of.name+"/cold", func(b *testing.B) {
			run := map[string]func(){}
			for name, opts := range gates {
				run[name] = func() {
					c := open(opts...)
					list(c)
					c.Close()
				}
			}
			catalogtest.Compare(b, []string{"gated", "open"}, run)
		})
	}
}

func listSkills(b *testing.B) func(*toolshelf.Catalog) (int, error) {
	return func(c *toolshelf.Catalog) (int, error) {
		skills, err := c.ListSkills(b.Context())
		return len(skills), err
	}
}
