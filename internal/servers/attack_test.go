package servers_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// The rules are those of code.claude.com/docs/en/managed-mcp, 2026-08-31, and the results of claude
// 2.1.332, mcp list, 2026-11-27.
func TestListsOfAllowedAndDeniedServers(t *testing.T) {
	files := map[string]string{
		"/repo/.mcp.json": `{"mcpServers": {
			"npx": {"command": "npx", "args": ["-y", "server"]},
			"flag": {"command": "npx", "args": ["-y", "server", "--flag"]},
			"default": {"command": "${NPX:-npx}", "args": ["-y", "server"]},
			"web": {"type": "http", "url": "https://mcp.Example.com./a"},
			"sub": {"type": "sse", "url": "https://a.example.com/b"}}}`,
		"/p/p/.claude-plugin/plugin.json": `{"name": "p"}`,
		"/p/p/.mcp.json":                  `{"s": {"command": "run"}}`,
	}
	all := []string{"npx", "flag", "default", "web", "sub", "p:s"}
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(names, name) })
	}
	const managed, user, project = "/etc/claude-code/managed-settings.json", "/home/ann/.claude/settings.json", "/repo/.claude/settings.json"
	for _, tt := range []struct {
		settings map[string]string
		want     []string // enabled
	}{
		{map[string]string{managed: `{}`}, all},
		{map[string]string{managed: `{"deniedMcpServers": []}`}, all},
		{map[string]string{managed: `{"allowedMcpServers": []}`}, nil},
		{map[string]string{managed: `{"deniedMcpServers": [{"serverName": "npx"}, {"serverName": "s"}]}`}, without("npx")},
		{map[string]string{managed: `{"deniedMcpServers": [{"serverName": "plugin:p:s"}]}`}, without("p:s")},
		{map[string]string{managed: `{"deniedMcpServers": [{"serverCommand": ["npx", "-y", "server"]}]}`}, without("npx", "default")},
		{map[string]string{managed: `{"deniedMcpServers": [{"serverCommand": ["npx"]}]}`}, all},
		{map[string]string{managed: `{"deniedMcpServers": [{"serverUrl": "https://MCP.example.com"}]}`}, without("web")},
		{map[string]string{managed: `{"deniedMcpServers": [{"serverUrl": "*://*.example.com/*"}]}`}, without("web", "sub")},
		{map[string]string{managed: `{"deniedMcpServers": [{"serverUrl": "https://a.example.com/B"}]}`}, all},
		{map[string]string{managed: `{"deniedMcpServers": [{"serverUrl": "http://*"}]}`}, all},
		{map[string]string{managed: `{"allowedMcpServers": [{"serverName": "npx"}, {"serverName": "web"}]}`}, []string{"npx", "web"}},
		// A command in the list makes commands necessary, and a URL makes URLs necessary.
		{map[string]string{managed: `{"allowedMcpServers": [{"serverName": "flag"}, {"serverName": "web"}, {"serverCommand": ["npx", "-y", "server"]}]}`},
			[]string{"npx", "default", "web"}},
		{map[string]string{managed: `{"allowedMcpServers": [{"serverName": "flag"}, {"serverName": "web"}, {"serverUrl": "https://a.example.com/*"}]}`},
			[]string{"flag", "sub"}},
		// The lists of all files count, and a denied server is not allowed.
		{map[string]string{managed: `{"allowedMcpServers": [{"serverName": "npx"}]}`, user: `{"allowedMcpServers": [{"serverName": "flag"}]}`},
			[]string{"npx", "flag"}},
		{map[string]string{managed: `{"allowedMcpServers": [{"serverName": "npx"}]}`, project: `{"deniedMcpServers": [{"serverName": "npx"}]}`}, nil},
		{map[string]string{managed: `{"allowManagedMcpServersOnly": true, "allowedMcpServers": [{"serverName": "npx"}]}`,
			user: `{"allowedMcpServers": [{"serverName": "flag"}]}`}, []string{"npx"}},
		{map[string]string{user: `{"allowManagedMcpServersOnly": true, "allowedMcpServers": [{"serverName": "flag"}]}`}, []string{"flag"}},
		// The program does not start with managed settings that are no JSON.
		{map[string]string{managed: `{"deniedMcpServers": [`}, nil},
		// A managed file excludes the plugins too.
		{map[string]string{"/etc/claude-code/managed-mcp.json": `{"mcpServers": {}}`}, nil},
	} {
		given := maps.Clone(files)
		maps.Copy(given, tt.settings)
		var got []string
		for _, s := range list(t, open(t, given, toolshelf.WithClient(client.Claude()), toolshelf.WithPlugins("/p"))) {
			if !s.Disabled {
				got = append(got, s.Name)
			}
		}
		must.Match(t, tt.settings, tt.want, got)
	}
}

// A project approves its own servers only if the user trusts the project, as in claude 2.1.332, mcp
// list, 2026-11-27.
func TestAProjectWithoutTrustApprovesNoServer(t *testing.T) {
	for _, approval := range []string{`"enableAllProjectMcpServers": true`, `"enabledMcpjsonServers": ["s"]`} {
		for file, want := range map[string]bool{
			"/repo/.claude/settings.json":               false,
			"/repo/.claude/settings.local.json":         false,
			"/home/ann/.claude/settings.json":           true,
			"/etc/claude-code/managed-settings.json":    true,
			"/repo/.claude/settings.json trusted":       true,
			"/repo/.claude/settings.local.json trusted": true,
		} {
			file, trusted := strings.CutSuffix(file, " trusted")
			all := list(t, open(t, map[string]string{file: "{" + approval + "}", "/repo/.mcp.json": `{"mcpServers": {"s": {"command": "x"}}}`,
				"/home/ann/.claude.json": fmt.Sprintf(`{"projects": {"/repo": {"hasTrustDialogAccepted": %t}}}`, trusted)}, toolshelf.WithClient(client.Claude())))
			if len(all) != 1 || all[0].Approved != want {
				t.Errorf("%s, trusted %t, %s: %q", file, trusted, approval, lines(all))
			}
		}
	}
	own := `{"projects": {"/repo": {"enabledMcpjsonServers": ["s"]}}}`
	all := list(t, open(t, map[string]string{"/repo/.mcp.json": `{"mcpServers": {"s": {"command": "x"}}}`, "/home/ann/.claude.json": own}, toolshelf.WithClient(client.Claude())))
	if len(all) != 1 || all[0].Approved {
		t.Errorf("without trust: %q", lines(all))
	}
}

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
	if found, err := open(t, files, toolshelf.WithClient(client.Claude())).Lint(t.Context()); err != nil || len(found) != 1 {
		t.Error(found, err)
	}
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

func TestADefaultThatLooksLikeASecretIsFound(t *testing.T) {
	for value, want := range map[string]int{"${T:-q9w8e7r6t5y4}": 1, "${T}": 0, "${T:-}": 0, "${T:-<your key>}": 0} {
		file := fmt.Sprintf(`{"mcpServers": {"s": {"command": "x", "env": {"API_TOKEN": %q}}}}`, value)
		found, err := open(t, map[string]string{"/repo/.mcp.json": file}, toolshelf.WithClient(client.Claude())).Lint(t.Context())
		if err != nil || len(found) != want {
			t.Errorf("%s: %v, %v", value, found, err)
		}
	}
}

// The results are those of claude 2.1.332, mcp list, 2026-11-27.
func TestPatternsOfDeniedURLs(t *testing.T) {
	file := `{"mcpServers": {"q": {"type": "http", "url": "http://127.0.0.1:9/a?x=1"}, "up": {"type": "http", "url": "http://LOCALHOST.:9/a"},
		"noport": {"type": "http", "url": "http://localhost/a/b"}, "ws": {"type": "ws", "url": "ws://localhost:9/a"}}}`
	for pattern, want := range map[string]string{
		"http://127.0.0.1:9/a":     "q",
		"http://127.0.0.1:9/a*":    "q",
		"http://127.0.0.1:9/a?x=1": "q",
		"http://localhost:9/a":     "up",
		"http://localhost:*/*":     "up noport",
		"http://localhost:80/*":    "noport",
		"http://localhost":         "noport",
		"http://localhost/a":       "",
		"*localhost*":              "",
		"ws://localhost:9/a":       "ws",
		"http://127.0.0.1:9/":      "",
		"http://127.0.0.1/*":       "",
		"http://*":                 "q up noport",
	} {
		settings := fmt.Sprintf(`{"deniedMcpServers": [{"serverUrl": %q}]}`, pattern)
		var got []string
		for _, s := range list(t, open(t, map[string]string{"/repo/.mcp.json": file, "/home/ann/.claude/settings.json": settings}, toolshelf.WithClient(client.Claude()))) {
			if s.Disabled {
				got = append(got, s.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
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

func TestTheDigestCoversEachFileThatTheCommandLineNames(t *testing.T) {
	for _, line := range []string{
		`"command": "./a/f"`,
		`"command": "node", "args": ["a/f"]`,
		`"command": "node", "args": ["--require=./a/f"]`,
		`"command": "node", "args": ["--x=y=a/f"]`,
		`"command": "node", "args": ["-r./a/f"]`,
		`"command": "java", "args": ["-cp", "lib.jar:a/f"]`,
		`"command": "curl", "args": ["@a/f"]`,
		`"command": "deno", "args": ["run", "file:///repo/a/f"]`,
		`"command": "node", "args": ["/repo/a/f"]`,
		`"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/a/f"]`,
		`"command": "node", "args": ["f"], "cwd": "a"`,
		`"command": "sh", "args": ["-c", "cd x && node 'a/f'"]`,
	} {
		files := map[string]string{"/repo/.mcp.json": `{"mcpServers": {"s": {` + line + `}}}`, "/repo/a/f": ""}
		before := pendingServer(t, files)
		if _, ok := before.New["a/f"]; !ok {
			t.Errorf("%s: Pending shows %q", line, before.New)
		}
		files["/repo/a/f"] = "changed"
		if after := pendingServer(t, files); after.Digest == before.Digest || before.Digest == "" {
			t.Errorf("%s: the digest does not cover the file", line)
		}
	}
}

// A name in PATH, and a part of a longer name, name no file.
func TestTheDigestCoversNoOtherFile(t *testing.T) {
	p := pendingServer(t, map[string]string{"/repo/x": "1", "/repo/f": "2", "/repo/d/f": "3",
		"/repo/.mcp.json": `{"mcpServers": {"s": {"command": "x", "args": ["xxf", "-f"], "cwd": "d"}}}`})
	if diff := cmp.Diff([]string{".mcp.json#s"}, slices.Sorted(maps.Keys(p.New))); diff != "" {
		t.Error(diff)
	}
}

func TestFindingsOfUncoveredFiles(t *testing.T) {
	for line, want := range map[string]string{
		`"command": "x", "args": ["../f"]`:                              `does not cover "../f", which is outside`,
		`"command": "x", "args": ["/etc/f"]`:                            `does not cover "/etc/f", which is outside`,
		`"command": "./a/../f"`:                                         `does not cover "./a/../f", which is outside`, // a can be a link
		`"command": "x", "args": ["--a=../f"]`:                          `does not cover "--a=../f", which is outside`,
		`"command": "x", "args": ["` + strings.Repeat("-D ", 70) + `"]`: `covers files of the first parts of "-D`,
		`"command": "x", "args": ["a"]`:                                 `covers no file of the directory "a"`,
		`"command": "x", "env": {"NODE_OPTIONS": "-r ./a/f"}`:           `the values of "NODE_OPTIONS" can load further files`,
		`"command": "x", "env": {"LD_PRELOAD": "a", "PATH": ""}`:        `the values of "LD_PRELOAD", "PATH" can load further files`,
		`"command": "x", "env": {"A": "1"}`:                             "",
	} {
		p := pendingServer(t, map[string]string{"/repo/.mcp.json": `{"mcpServers": {"s": {` + line + `}}}`, "/repo/a/f": ""})
		var got string
		for _, d := range p.Findings {
			if d.Code == agentmd.DiagUncoveredFiles {
				got += d.Message
			}
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
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
	if diff := cmp.Diff([]string{"p:c", "p:e"}, got); diff != "" {
		t.Error(diff)
	}
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

func TestPackagesWithoutAnExactVersion(t *testing.T) {
	for line, unpinned := range map[string]bool{
		"npx x": true, "npx -y x@1.2": true, "npx x@1.2.x": true, "npx x@^1.2.3": true, "npx x@1.2.3-next.0": false, "npx --yes --package=x@1.2.3 y": false,
		"npx --registry=http://h -p x y": true, "npx.cmd x": true, "cmd /c npx -y x": true, "cmd /c npx x@1.2.3": false, "bunx x": true, "bun x x": true,
		"npm exec -- x": true, "npm run x": false, "yarn dlx x": true, "pipx run x==1.0": false, "pipx run x": true, "uvx --from x==1.2.3rc1 y": false,
		"uvx --from git+https://h/r@0123456789012345678901234567890123456789 x": false, "uv tool run x": true, "uv run x": false, "npx ./x": false, "npx /x": false,
		"npx": false, "npx -y": false, "node x": false,
	} {
		words := strings.Fields(line)
		args := fmt.Sprintf("%q", words[1:])
		file := fmt.Sprintf(`{"mcpServers": {"s": {"command": %q, "args": %s}}}`, words[0], strings.ReplaceAll(args, `" "`, `", "`))
		found, err := open(t, map[string]string{"/repo/.mcp.json": file}, toolshelf.WithClient(client.Claude())).Lint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(found, func(d toolshelf.Diagnostic) bool { return d.Code == agentmd.DiagServerUnpinned }); got != unpinned {
			t.Errorf("%s: unpinned %t, want %t: %v", line, got, unpinned, found)
		}
	}
}

func TestTextsThatLookLikeSecretsAreMasked(t *testing.T) {
	const key = "q9w8e7r6t5y4u3i2o1p0"
	for text, want := range map[string]string{
		"--token=" + key:                         "--token=***",
		"API_KEY=" + key:                         "API_KEY=***",
		`{"password":"` + key + `"}`:             `{"password":"***`,
		"Authorization: Bearer " + key:           "Authorization: Bearer ***",
		"Authorization: " + key:                  "Authorization: ***",
		"Bearer " + key:                          "Bearer ***",
		"https://ann:" + key + "@h/":             "https://***@h/",
		"postgres://ann:a@b@h/db":                "postgres://***@h/db",
		"https://h/?a=1&access_token=" + key:     "https://h/?a=1&access_token=***",
		"https://h/ghp_" + key + key:             "https://h/***",
		"sk-" + key:                              "***",
		strings.Repeat("a", 28) + "1234":         "***",
		strings.Repeat("a", 29) + "123":          strings.Repeat("a", 29) + "123",
		strings.Repeat("a1b2", 10):               "***",
		"--token=${TOKEN}":                       "--token=${TOKEN}",
		"Authorization: Bearer ${TOKEN}":         "Authorization: Bearer ${TOKEN}",
		"@modelcontextprotocol/server-x@1.2.3":   "@modelcontextprotocol/server-x@1.2.3",
		"https://h.example/mcp?region=eu-west-1": "https://h.example/mcp?region=eu-west-1",
	} {
		s := toolshelf.MCPServer{Name: "s", Transport: "stdio", Command: "x", Args: []string{text}}
		got := strings.ReplaceAll(strings.Trim(strings.TrimPrefix(s.String(), "s (stdio): x "), `"`), `\"`, `"`)
		if got != want && got != strings.Trim(want, `"`) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
