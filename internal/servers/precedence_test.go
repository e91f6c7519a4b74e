package servers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// codesOf returns the codes of Lint.
func codesOf(t testing.TB, c *toolshelf.Catalog) (codes []toolshelf.DiagnosticCode) {
	t.Helper()
	found, err := c.Lint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		codes = append(codes, d.Code)
	}
	return codes
}

func TestAnEntryOfTheLimitIsListed(t *testing.T) {
	for size, want := range map[int]int{64 << 10: 1, 64<<10 + 1: 0} {
		entry := `{"command": "x", "args": [""]}`
		entry = strings.Replace(entry, `""`, `"`+strings.Repeat("a", size-len(entry))+`"`, 1)
		c := open(t, map[string]string{"/repo/.mcp.json": `{"mcpServers": {"s": ` + entry + `}}`}, toolshelf.WithClient(client.Claude()))
		must.Equal(t, fmt.Sprintf("%d bytes", size), want, len(list(t, c)))
	}
}

func TestAFileOfTheUserCanBeLong(t *testing.T) {
	text := `{"mcpServers": {"s": {"command": "x"}}, "history": "` + strings.Repeat("a", 2<<20) + `"}`
	for file, want := range map[string]int{"/home/ann/.claude.json": 1, "/repo/.mcp.json": 0} {
		if got := len(list(t, open(t, map[string]string{file: text, "/repo/x": ""}, toolshelf.WithClient(client.Claude())))); got != want {
			t.Errorf("%s: %d servers", file, got)
		}
	}
}

// A plugin on the disk has a file of its own directory, a file below, a file that is longer than
// the files that are read at once, and an empty file.
func TestEachFileOfAPluginIsRead(t *testing.T) {
	entry := func(name, text string) string {
		return fmt.Sprintf(`{"mcpServers": {%q: {"command": "x", "args": [%q]}}}`, name, text)
	}
	dir := catalogtest.Disk(t, map[string]string{
		"plugins/p/.claude-plugin/plugin.json": `{"name": "p", "mcpServers": ["./conf/mcp.json", "./long.json", "./mcp.json", "./empty.json"]}`,
		"plugins/p/mcp.json":                   entry("own", "a"),
		"plugins/p/conf/mcp.json":              entry("below", "b"),
		"plugins/p/long.json":                  entry("long", strings.Repeat("c", 4<<10)),
		"plugins/p/empty.json":                 "",
		"plugins/q/.mcp.json":                  entry("s", "d"),
		"plugins/q/.claude-plugin/plugin.json": `{"name": "q"}`,
	})
	c := catalogtest.Open(t, toolshelf.WithRoot(dir), toolshelf.WithPlugins("plugins"))
	got := map[string]string{}
	for _, s := range list(t, c) {
		got[s.Name] = s.Args[0][:1]
	}
	want := map[string]string{"p:below": "b", "p:long": "c", "p:own": "a", "q:s": "d"}
	must.Match(t, "got", want, got)
	if codes := codesOf(t, c); !slices.Contains(codes, agentmd.DiagServerInvalid) {
		t.Error("Lint does not report the empty file:", codes)
	}
}

// A filesystem that is not of the system has a name in place of a path.
func TestServersOfAPluginInAStore(t *testing.T) {
	files := fstest.MapFS{"p/.claude-plugin/plugin.json": {Data: []byte(`{"name": "p"}`)},
		"p/.mcp.json": {Data: []byte(`{"s": {"command": "./run", "args": ["${CLAUDE_PLUGIN_ROOT}/f"]}}`)}, "p/run": {}, "p/f": {}}
	var asked []toolshelf.Item
	gate := gateFunc(func(i toolshelf.Item) bool {
		asked = append(asked, i)
		return true
	})
	c := catalogtest.Open(t, toolshelf.WithRoot(t.TempDir()), toolshelf.WithPluginsFS("store", files), toolshelf.WithGate(gate, "store"))
	if got := list(t, c); len(got) != 1 || got[0].Name != "p:s" || got[0].Layer != "store" {
		t.Fatalf("%+v", lines(got))
	}
	if i := asked[len(asked)-1]; i.Kind != toolshelf.KindMCPServer || i.Layer != "store" || i.Digest == "" {
		t.Errorf("%+v", i)
	}
}

func TestJSON(t *testing.T) {
	s := toolshelf.MCPServer{Name: "s", Layer: ".", Path: "/p", Client: "claude", Transport: "stdio", Command: "x", Env: map[string]string{"B": "1", "A": "2"}}
	for want, s := range map[string]toolshelf.MCPServer{
		`{"client":"claude","env":["A","B"],"layer":".","line":"x","name":"s","path":"/p","transport":"stdio"}`: s,
		`{"disabled":true,"headers":["H"],"line":"http://h/","plugin":"p","transport":"http"}`: {Plugin: "p", Transport: "http", URL: "http://h/",
			Headers: map[string]string{"H": ""}, Disabled: true},
	} {
		must.Equal(t, "json.Marshal(s)", want, string(must.Get(json.Marshal(s))(t)))
	}
}
