package servers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A hostile project costs a bounded time, and loses its approval instead of a part of the digest.
func TestTooManyFilesHaveNoDigest(t *testing.T) {
	files := map[string]string{"/repo/big": strings.Repeat("x", 10<<20)}
	var many, big, args []string
	for i := range 70 {
		files[fmt.Sprintf("/repo/f%d", i)] = "x"
		many = append(many, fmt.Sprintf(`"f%d"`, i))
	}
	for range 2000 {
		args = append(args, `"a"`)
	}
	for i := range 200 { // reads the file once
		big = append(big, fmt.Sprintf(`"b%d": {"command": "x", "args": ["big"]}`, i))
	}
	files["/repo/.mcp.json"] = `{"mcpServers": {"many": {"command": "x", "args": [` + strings.Join(many, ",") + `]},
		"args": {"command": "x", "args": [` + strings.Join(args, ",") + `]}, ` + strings.Join(big, ",") + `}}`
	gate := toolshelf.WithGate(gateFunc(func(toolshelf.Item) bool { return true }))
	var names []string
	for _, s := range list(t, open(t, files, toolshelf.WithClient(client.Claude()), gate)) {
		names = append(names, s.Name)
	}
	if len(names) != 200 || slices.Contains(names, "many") || slices.Contains(names, "args") {
		t.Errorf("%d: %q", len(names), names)
	}
	files["/repo/.mcp.json"] = `{"mcpServers": {"a": {"command": "` + strings.Repeat("x", 1<<20) + `"}}}`
	must.Equal(t, "open", 1,
		len(must.Get(open(t, files, toolshelf.WithClient(client.Claude())).Lint(t.Context()))(t)))
}

// The time is bounded by the number of the entries, of the items of lists, and of the parts of a text.
func TestHostileListsAndTextsCostABoundedTime(t *testing.T) {
	many := func(n int, f func(i int) string) string {
		var all []string
		for i := range n {
			all = append(all, f(i))
		}
		return strings.Join(all, ",")
	}
	server := func(i int) string { return fmt.Sprintf(`"s%d": {"type": "http", "url": "https://h%d.example/"}`, i, i) }
	denied := func(i int) string { return fmt.Sprintf(`{"serverUrl": "*://*.other%d.example/*"}`, i) }
	files := map[string]string{
		"/repo/.mcp.json":             `{"mcpServers": {` + many(1000, server) + `}}`,
		"/repo/.claude/settings.json": `{"deniedMcpServers": [` + many(1000, denied) + `]}`,
	}
	gate := toolshelf.WithGate(gateFunc(func(toolshelf.Item) bool { return true }))
	begin := time.Now()
	all := list(t, open(t, files, toolshelf.WithClient(client.Claude()), gate))
	if len(all) != 1000 || all[0].Disabled {
		t.Errorf("%d: %.3q", len(all), lines(all))
	}
	files["/repo/.claude/settings.json"] = `{"deniedMcpServers": [` + many(20_000, denied) + `]}`
	tooMany := open(t, files, toolshelf.WithClient(client.Claude()), gate)
	if all := list(t, tooMany); !all[0].Disabled || !slices.Contains(codesOf(t, tooMany), agentmd.DiagFileRead) {
		t.Error("a list with too many items disables no server, or is not reported")
	}
	text := func(i int) string {
		return fmt.Sprintf(`"t%d": {"command": "x", "args": ["%s"]}`, i, strings.Repeat("a=", 30_000))
	}
	files["/repo/.mcp.json"] = `{"mcpServers": {` + many(15, text) + `}}`
	list(t, open(t, files, toolshelf.WithClient(client.Claude()), gate))
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the calls took %s", took)
	}
}

// pendingServer returns what a gate has to decide about a server of /repo.
func pendingServer(t testing.TB, files map[string]string) toolshelf.Pending {
	t.Helper()
	gate := toolshelf.WithGate(gateFunc(func(toolshelf.Item) bool { return false }))
	all, err := open(t, files, toolshelf.WithClient(client.Claude()), gate).Pending(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0]
}

func TestPendingShowsNoValueOfAnEnvironmentFile(t *testing.T) {
	p := pendingServer(t, map[string]string{"/repo/.env.local": "A=" + secret,
		"/repo/.mcp.json": `{"mcpServers": {"s": {"command": "docker", "args": ["run", "--env-file", ".env.local"]}}}`})
	if text := fmt.Sprint(p); strings.Contains(text, "hunter2") || p.New[".env.local"] == "" {
		t.Error(text)
	}
}

// A link before ".." leads elsewhere than the text says.
func TestAPathWithALinkBeforeItsParentIsRefused(t *testing.T) {
	dir := catalogtest.Disk(t, map[string]string{"repo/p/.claude-plugin/plugin.json": `{"name": "p"}`, "repo/p/run": "", "elsewhere/sub/x": "",
		"elsewhere/run": "", "repo/p/.mcp.json": `{"a": {"command": "./link/../run"}, "b": {"command": "${CLAUDE_PLUGIN_ROOT}/link/../run"},
			"c": {"command": "${X}"}, "d": {"command": "x", "cwd": "link/.."}, "e": {"command": "./run"}}`})
	if err := os.Symlink("../../elsewhere/sub", filepath.Join(dir, "repo", "p", "link")); err != nil {
		t.Skip(err)
	}
	root := filepath.Join(dir, "repo")
	all := list(t, catalogtest.Open(t, toolshelf.WithRoot(root), toolshelf.WithPlugins("p")))
	var got []string
	for _, s := range all {
		for _, x := range []string{"./link/../run", filepath.Join(root, "p") + "/link/../run", "../x"} {
			if _, err := s.Resolve(func(string) (string, bool) { return x, true }); (err != nil) != (s.Name == "p:c") {
				t.Errorf("%s with %s: %v", s.Name, x, err)
			}
		}
		got = append(got, s.Name)
	}
	must.Match(t, "got", []string{"p:c", "p:e"}, got)
}

func TestALinkInTheProject(t *testing.T) {
	dir := catalogtest.Disk(t, map[string]string{"outside/run": "", "repo/real": "1", "repo/.mcp.json": `{"mcpServers": {"s": {"command": "./in", "args": ["./out"]}}}`})
	for link, target := range map[string]string{"in": "real", "out": "../outside/run"} {
		if err := os.Symlink(target, filepath.Join(dir, "repo", link)); err != nil {
			t.Skip(err)
		}
	}
	pending := func() toolshelf.Pending {
		c := catalogtest.Open(t, toolshelf.WithRoot(filepath.Join(dir, "repo")), toolshelf.WithHome(""), toolshelf.WithClient(client.Claude()),
			toolshelf.WithGate(gateFunc(func(toolshelf.Item) bool { return false })))
		all, err := c.Pending(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0]
	}
	before := pending()
	outside := func(d toolshelf.Diagnostic) bool {
		return strings.Contains(d.Message, `does not cover "./out", which is outside`)
	}
	if before.New["in"] != "1" || !slices.ContainsFunc(before.Findings, outside) {
		t.Errorf("%q %v", before.New, before.Findings)
	}
	catalogtest.Write(t, "2", dir, "repo", "real")
	if after := pending(); after.Digest == before.Digest {
		t.Error("the digest does not cover the target of the link")
	}
}

func TestASecondResolveChangesNothing(t *testing.T) {
	file := `{"mcpServers": {"s": {"command": "x", "args": ["${A}"], "env": {"B": "${A}"}}}}`
	s := list(t, open(t, map[string]string{"/repo/.mcp.json": file}, toolshelf.WithClient(client.Claude())))[0]
	for range 2 {
		resolved, err := s.Resolve(func(string) (string, bool) { return "${A}${B}", true })
		if err != nil || resolved.Args[0] != "${A}${B}" || resolved.Env["B"] != "${A}${B}" {
			t.Errorf("%q %q, %v", resolved.Args, resolved.Env, err)
		}
		s = resolved
	}
}
