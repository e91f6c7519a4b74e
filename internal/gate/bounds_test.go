package gate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// refusing is a gate that allows only one kind.
type refusing struct{ except toolshelf.Kind }

func (r refusing) Allowed(_ context.Context, i toolshelf.Item) bool { return i.Kind == r.except }

// The entries of a marketplace can share a file.
func TestPendingReadsAndReviewsEachFileOnce(t *testing.T) {
	const size = 200_000
	text := strings.Repeat("See https://a.example and !`b`.\n", size/32)
	costOf := func(entries int, call func(c *toolshelf.Catalog) int) catalogtest.Cost {
		var list strings.Builder
		for i := range entries {
			fmt.Fprintf(&list, `,{"name":"p%d","source":"./","strict":false,"commands":["./commands/x.md"],"skills":["./skills/s"]}`, i)
		}
		files := map[string]string{
			"/repo/tool/.claude-plugin/marketplace.json": `{"name":"m","owner":{"name":"o"},"plugins":[` + list.String()[1:] + `]}`,
			"/repo/tool/commands/x.md":                   "---\ndescription: d\n---\n" + text,
			"/repo/tool/skills/s/SKILL.md":               "---\nname: s\ndescription: d\n---\n",
			"/repo/tool/skills/s/more.md":                text,
		}
		reads := &catalogtest.Reads{Fs: catalogtest.Memory(t, files)}
		c := catalogtest.Open(t, toolshelf.WithFs(reads), toolshelf.WithRoot("/repo"), toolshelf.WithHome(""), toolshelf.WithPlugins("tool"), toolshelf.WithGate(refusing{toolshelf.KindPlugin}))
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		must.Get(c.ListSkills(t.Context()))(t)
		reads.Take()
		n := 0
		cost := catalogtest.CostOf(func() { n = call(c) })
		if n <= entries {
			t.Fatalf("%d entries", n)
		}
		for file, n := range reads.Take() {
			// The scans of three kinds, or a scan and a check. Each can look at the first 4 KB before.
			if most := 3 * (len(files[file]) + 4<<10); n > most {
				t.Errorf("%d entries: %d bytes are read from %s with %d bytes", entries, n, file, len(files[file]))
			}
		}
		return cost
	}
	pending := func(c *toolshelf.Catalog) int {
		all := must.Get(c.Pending(t.Context()))(t)
		for _, p := range all {
			if len(p.Findings) == 0 || len(p.New) == 0 {
				t.Fatalf("%+v", p)
			}
		}
		return len(all)
	}
	costOf(100, pending).Linear(t, costOf(400, pending))
	lint := func(c *toolshelf.Catalog) int {
		must.Get(c.Lint(t.Context()))(t)
		return 401
	}
	if cost := costOf(400, lint); cost.Bytes > 100*size {
		t.Errorf("Lint allocates %d bytes", cost.Bytes)
	}
}

// The plugins of a marketplace can share a manifest.
func TestPendingReviewsEachManifestOnce(t *testing.T) {
	const size = 1 << 20
	costOf := func(entries int) catalogtest.Cost {
		var list strings.Builder
		for i := range entries {
			fmt.Fprintf(&list, `,{"name":"p%d","source":"./p","strict":false}`, i)
		}
		c := catalogtest.Open(t, toolshelf.WithFs(catalogtest.Memory(t, map[string]string{
			"/repo/tool/.claude-plugin/marketplace.json": `{"name":"m","owner":{"name":"o"},"plugins":[` + list.String()[1:] + `]}`,
			"/repo/tool/p/.claude-plugin/plugin.json":    `{"description":"` + strings.Repeat("https://a.example ", size/18) + `"}`,
		})), toolshelf.WithRoot("/repo"), toolshelf.WithHome(""), toolshelf.WithPlugins("tool"), toolshelf.WithGate(refusing{}))
		return catalogtest.CostOf(func() {
			if all, err := c.Pending(t.Context()); err != nil || len(all) != entries {
				t.Fatal(len(all), err)
			}
		})
	}
	costOf(1)
	if one, many := costOf(1), costOf(100); many.Bytes > 2*one.Bytes+16<<20 {
		t.Errorf("%d bytes with one entry, and %d with 100", one.Bytes, many.Bytes)
	}
}

// Packages template, markdown and lint count their steps for such texts; the memory of the whole
// path has the same bound.
func TestHostileTextsCostTheirSize(t *testing.T) {
	for _, part := range []string{"![", "![\n", "[", "[](", "[a](b.md) ", "[a]: b\n", "(", "<", "<!--", "<p>\n", "`", "` `` ", "```\n", "{{", "{{args", "!{", "!{a", "@{", "@", "@../x ", "$", "$$", "$A", "${", "${1:-",
		"${input:", "!`", "!`a", "\n```!", "://", "http://a ", "*", "> ", "- ", "1. ", "\t", "#", "|", "\\", "\n", "/a-b ", "\u200b", "\U0001F3F4", "\xff", "&", "---\n", "a: b\n", "a: 'b\n", "'", "\"", "{", "<example>"} {
		for _, before := range []string{"---\nname: a\ndescription: d\n---\n", "---\nname: a\ndescription: "} {
			costOf := func(size int) catalogtest.Cost {
				files := make(map[string]string)
				for _, file := range []string{"commands/a.md", "agents/a.md", "skills/a/SKILL.md", "skills/a/more.md", "AGENTS.md"} {
					files["/repo/"+file] = before + strings.Repeat(part, size/len(part)) + "\n---\n"
				}
				c := catalogtest.Open(t, toolshelf.WithFs(catalogtest.Memory(t, files)), toolshelf.WithRoot("/repo"), toolshelf.WithHome(""), toolshelf.WithCommandsDir("commands"),
					toolshelf.WithSkillsDir("skills"), toolshelf.WithAgentsDir("agents"), toolshelf.WithGate(refusing{}))
				return catalogtest.CostOf(func() {
					_, lintErr := c.Lint(t.Context())
					if all, err := c.Pending(t.Context()); lintErr != nil || err != nil || len(all) == 0 {
						t.Error(lintErr, err, len(all))
					}
				})
			}
			t.Run(fmt.Sprintf("%q %q", before[:20], part), func(t *testing.T) { costOf(8<<10).Linear(t, costOf(32<<10)) })
		}
	}
}

// Pending has each rule with a text, and each rule that cannot be read. A rule without a text tells a
// model nothing.
func TestPendingHasTheRulesWithATextOrADefect(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"/repo/.cursor/rules/empty.mdc": "", "/repo/.cursor/rules/short.mdc": "x",
		"/repo/.cursor/rules/large.mdc": strings.Repeat("x", 100)})
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithMaxFileSize(50),
		toolshelf.WithInstructions(client.Cursor()), toolshelf.WithGate(refusing{}))
	var names []string
	for _, p := range must.Get(c.Pending(t.Context()))(t) {
		names = append(names, p.Name)
	}
	must.Match(t, "the pending rules", []string{".cursor/rules/large.mdc", ".cursor/rules/short.mdc"}, names)
}
