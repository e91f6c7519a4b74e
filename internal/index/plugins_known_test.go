package index

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// TestKnownInPlugins asks for files of plugins after one change. Known must be nil if the change
// can give the name to another file, and must find the entry without a scan after a change
// elsewhere.
func TestKnownInPlugins(t *testing.T) {
	files := tree{
		"shop/.claude-plugin/marketplace.json": `{"name": "shop", "plugins": [{"name": "a", "source": "./a"}, {"name": "b", "source": "./b"}, {"name": "c", "source": "./c"}]}`,
		"shop/a/.claude-plugin/plugin.json":    `{"name": "a"}`,
		"shop/a/commands/go.md":                "Go.", "shop/a/commands/deep/x.md": "X.", "shop/a/skills/one/SKILL.md": "---\nname: first\n---\n", "shop/a/skills/two/SKILL.md": "Text.\n",
		"shop/a/agents/sub/guard.md": "---\nname: guard\n---\n",
		"shop/b/commands/go.md":      "Go.", "shop/b/skills/one/SKILL.md": "---\nname: first\n---\n", "shop/b/agents/guard.md": "---\nname: guard\n---\n", "shop/b/notes.md": "Notes.",
		"shop/c/commands/go.md": "Go.", "shop/c/skills/one/SKILL.md": "Text.\n", "shop/c/agents/guard.md": "Text.",
	}
	header := func(name string) string { return "---\nname: " + name + "\n---\n" }
	wanted := map[client.Files]string{client.Commands: "b:go", client.Skills: "b:first", client.Agents: "b:guard"}
	all := []client.Files{client.Commands, client.Skills, client.Agents}
	for _, tt := range []struct {
		what, file, text string // an empty text removes the file
		affects          []client.Files
	}{
		{what: "nothing"},
		{"another command of the plugin", "shop/b/commands/new.md", "New.", []client.Files{client.Commands}},
		{"a nested command of the plugin", "shop/b/commands/deep/new.md", "New.", []client.Files{client.Commands}},
		{"another skill of the plugin", "shop/b/skills/new/SKILL.md", header("first"), []client.Files{client.Skills}},
		{"the name of the skill", "shop/b/skills/one/SKILL.md", header("other"), []client.Files{client.Skills}},
		{"another agent of the plugin", "shop/b/agents/deep/new.md", header("guard"), []client.Files{client.Agents}},
		{"the name of the agent", "shop/b/agents/guard.md", header("other"), []client.Files{client.Agents}},
		{"the removed agent", "shop/b/agents/guard.md", "", []client.Files{client.Agents}},
		{"a file of an earlier plugin", "shop/a/commands/new.md", "New.", nil},
		{"a skill of an earlier plugin", "shop/a/skills/two/SKILL.md", header("first"), nil},
		{"a file of a later plugin", "shop/c/agents/guard.md", header("guard"), nil},
		{"a file beside the components", "shop/b/notes.md", "Changed.", nil},
		{"a new manifest of an earlier plugin", "shop/a/.codex-plugin/plugin.json", `{"name": "b"}`, all},
		{"the name of an earlier plugin", "shop/a/.claude-plugin/plugin.json", `{"name": "b"}`, all},
		{"a manifest of the plugin", "shop/b/.claude-plugin/plugin.json", `{"name": "other"}`, all},
		{"the marketplace", "shop/.claude-plugin/marketplace.json", `{"name": "shop", "plugins": []}`, all},
	} {
		t.Run(tt.what, func(t *testing.T) {
			root := files.onDisk(t)
			fsys := confined(t)(confine.New(root))
			shared := &Plugins{}
			indexes := map[client.Files]*Index{}
			for _, kind := range all {
				indexes[kind] = open(t, kind, Config{Layers: []Layer{{Name: "shop", FS: fsys, Dir: "shop", Plugins: shared}}, Broken: true, Valid: names.Plain}, nil, nil)
			}
			known := func(kind client.Files) bool {
				x := indexes[kind]
				e := x.Known(t.Context(), x.Last(), wanted[kind])
				if e != nil && e != x.Last().Lookup(wanted[kind]) {
					t.Errorf("%s: %v", wanted[kind], e)
				}
				return e != nil
			}
			untilKnown(t, fsys, func() bool {
				found := true
				for _, kind := range all {
					snapshotOf(t, indexes[kind])
				}
				for _, kind := range all {
					found = found && known(kind)
				}
				return found
			})
			if tt.file != "" {
				full := filepath.Join(root, filepath.FromSlash(tt.file))
				var err error
				if tt.text == "" {
					err = os.Remove(full)
				} else if err = os.MkdirAll(filepath.Dir(full), 0o777); err == nil {
					err = os.WriteFile(full, []byte(tt.text), 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			affected := map[client.Files]bool{}
			for _, kind := range tt.affects {
				affected[kind] = true
			}
			for _, kind := range all {
				if known(kind) == affected[kind] {
					t.Errorf("%s: known = %t", wanted[kind], affected[kind])
				}
			}
		})
	}
}

// TestKnownByBareName asks for a name without the name of the plugin after one change. In a layer
// with many plugins, a change of another plugin has effect after checkInterval.
func TestKnownByBareName(t *testing.T) {
	files := tree{"own/x/SKILL.md": "Text.\n", "own/y.md": "Text."}
	for i := range largeLayer {
		files[fmt.Sprintf("shop/p%d/.claude-plugin/plugin.json", i)] = fmt.Sprintf(`{"name": "p%d"}`, i)
		files[fmt.Sprintf("shop/p%d/commands/go%d.md", i, i)] = "Go."
		files[fmt.Sprintf("shop/p%d/skills/do%d/SKILL.md", i, i)] = "Do.\n"
	}
	few := tree{}
	for file, text := range files {
		if strings.HasPrefix(file, "own") || strings.HasPrefix(file, "shop/p0") || strings.HasPrefix(file, "shop/p7") {
			few[file] = text
		}
	}
	commands, skills := []client.Files{client.Commands}, []client.Files{client.Skills}
	both := slices.Concat(commands, skills)
	for _, tt := range []struct {
		what, file, text string
		now, afterwards  []client.Files // the affected kinds, at first only if the plugins are many
	}{
		{what: "nothing"},
		{"a command of another plugin", "shop/p0/commands/go7.md", "Go.", nil, commands},
		{"a skill of another plugin", "shop/p0/skills/do7/SKILL.md", "Do.\n", nil, skills},
		{"the manifest of another plugin", "shop/p0/.claude-plugin/plugin.json", `{"name": "other"}`, nil, both},
		{"a command of the plugin", "shop/p7/commands/new.md", "Go.", commands, commands},
		{"the manifest of the plugin", "shop/p7/.claude-plugin/plugin.json", `{"name": "other"}`, both, both},
		{"a new plugin", "shop/new/commands/go.md", "Go.", both, both},
		{"a command of another layer", "own/go7.md", "Go.", commands, commands},
		{"a skill of another layer", "own/do7/SKILL.md", "Do.\n", skills, skills},
		{"a directory of skills without a SKILL.md", "own/do7/notes.txt", "Do.\n", skills, skills},
	} {
		for size, tr := range map[string]tree{"few": few, "many": files} {
			if size == "many" && strings.HasPrefix(tt.file, "own") {
				continue
			}
			t.Run(tt.what+", "+size, func(t *testing.T) {
				root, clock, shared := tr.onDisk(t), time.Now(), &Plugins{}
				fsys := confined(t)(confine.New(root))
				layers := append(layersOf(fsys, "own"), Layer{Name: "shop", FS: fsys, Dir: "shop", Plugins: shared})
				check := func(x *Index, name string, affected bool) {
					e := x.Known(t.Context(), x.Last(), name)
					if e != nil && e.Bare() != name || (e == nil) != affected {
						t.Errorf("%s: %v, want affected = %t", name, e, affected)
					}
				}
				indexes := map[client.Files]*Index{}
				wanted := map[client.Files]string{client.Commands: "go7", client.Skills: "do7"}
				for _, kind := range both {
					config := Config{Layers: layers, Broken: true, Valid: names.Plain, Now: func() time.Time { return clock }}
					indexes[kind] = open(t, kind, config, nil, nil)
				}
				untilKnown(t, fsys, func() bool {
					known := true
					for kind, x := range indexes {
						known = known && x.Known(t.Context(), snapshotOf(t, x), wanted[kind]) != nil
					}
					return known
				})
				if tt.file != "" {
					must.Do(t, create(filepath.Join(root, filepath.FromSlash(tt.file)), "", tt.text))
					for info, err := fsys.Info("shop"); err == nil && !stamp.Settled(info, time.Now()); runtime.Gosched() {
						// a second call must see the change too
					}
				}
				for kind, x := range indexes {
					affected := tt.afterwards
					if size == "many" {
						affected = tt.now
					}
					check(x, wanted[kind], slices.Contains(affected, kind))
				}
				clock = clock.Add(checkInterval)
				for kind, x := range indexes {
					check(x, wanted[kind], slices.Contains(tt.afterwards, kind))
				}
			})
		}
	}
}
