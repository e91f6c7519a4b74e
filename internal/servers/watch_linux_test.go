package servers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// After a call of MCPServers, the watch reports the changes of the files of servers without a
// further call: of a file in the project, of a file in a new directory, of a plugin, and of a new
// entry of the user.
func TestAWatchReportsServersWithoutACall(t *testing.T) {
	dir, err := filepath.EvalSymlinks(catalogtest.Disk(t, map[string]string{
		"repo/.mcp.json":                            `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}`,
		"repo/plugins/p/.mcp.json":                  `{"mcpServers": {"s": {"command": "x"}}}`,
		"repo/plugins/p/.claude-plugin/plugin.json": `{"name": "p"}`,
		"home/.claude.json":                         `{}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	root, home := filepath.Join(dir, "repo"), filepath.Join(dir, "home")
	c := catalogtest.Open(t, toolshelf.WithRoot(root), toolshelf.WithHome(home), toolshelf.WithClient(client.Claude(), client.Cursor()),
		toolshelf.WithPlugins("plugins"), toolshelf.WithWatch())
	list(t, c)
	changes := make(chan toolshelf.Names, 10)
	defer c.OnChange(func(change toolshelf.Change) { changes <- change.MCPServers })()
	for _, step := range []struct {
		file, text string
		want       toolshelf.Names
	}{
		{"repo/.mcp.json", `{"mcpServers": {"a": {"command": "y"}, "c": {"command": "x"}}}`,
			toolshelf.Names{Added: []string{"c"}, Removed: []string{"b"}, Changed: []string{"a"}}},
		{"repo/.cursor/mcp.json", `{"mcpServers": {"n": {"command": "x"}}}`, toolshelf.Names{Added: []string{"n"}}},
		{"repo/plugins/p/.mcp.json", `{"mcpServers": {"s": {"command": "y"}}}`, toolshelf.Names{Changed: []string{"p:s"}}},
		{"home/.claude.json", `{"mcpServers": {"u": {"command": "x"}}}`, toolshelf.Names{Added: []string{"u"}}},
	} {
		file := filepath.Join(dir, filepath.FromSlash(step.file))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, catalogtest.Replace(file, step.text))
		must.Match(t, step.file, step.want, <-changes)
	}
}
