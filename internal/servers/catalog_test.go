package servers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// open returns a catalog over files in memory. The root is /repo and the home directory /home/ann.
func open(t testing.TB, files map[string]string, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	return catalogtest.Open(t, slices.Concat([]toolshelf.Option{toolshelf.WithFs(catalogtest.Memory(t, files)), toolshelf.WithRoot("/repo"), toolshelf.WithHome("/home/ann")}, opts)...)
}

func list(t testing.TB, c *toolshelf.Catalog) []toolshelf.MCPServer {
	t.Helper()
	return must.Get(c.MCPServers(t.Context()))(t)
}

// lines returns the servers as lines, with the flags of a client.
func lines(all []toolshelf.MCPServer) (text []string) {
	for _, s := range all {
		line := s.Path + " " + s.String()
		if s.Disabled {
			line += " (disabled)"
		}
		if s.Approved {
			line += " (approved)"
		}
		text = append(text, line)
	}
	return text
}

// The other rows follow the documentation and the sources of the clients.
func TestEachRowReadsItsFiles(t *testing.T) {
	for name, entry := range map[string]string{"cursor": `{"url": "https://h/"}`, "vscode": `{"type": "http", "url": "https://h/"}`, "crush": `{"type": "http", "url": "https://h/"}`, "kiro": `{"url": "https://h/"}`,
		"roo": `{"type": "streamable-http", "url": "https://h/"}`, "zed": `{"url": "https://h/"}`} {
		row := must.Get(client.Lookup(name))(t)
		files := map[string]string{}
		for i, f := range row.Servers.Files {
			dir := map[client.Base]string{client.Project: "/repo", client.Home: "/home/ann", client.Config: "/home/ann/.config"}[f.Base]
			files[dir+"/"+f.Path] = fmt.Sprintf(`{"%s": {"s%d": %s}}`, f.Table, i, entry)
		}
		all := list(t, open(t, files, toolshelf.WithClient(row)))
		if len(all) != len(files) || all[0].Transport != "http" || all[0].Client != name {
			t.Errorf("%s: %v", name, lines(all))
		}
	}
}

func TestALinkOutOfAPluginIsRefused(t *testing.T) {
	dir := catalogtest.Disk(t, map[string]string{"p/.claude-plugin/plugin.json": `{"name": "p"}`, "p/.mcp.json": `{"in": {"command": "./run"}, "out": {"command": "./link"}, "cwd": {"command": "x", "cwd": "./dir"}}`, "p/run": "", "outside/run": ""})
	for link, target := range map[string]string{"link": "../outside/run", "dir": "../outside"} {
		if err := os.Symlink(target, filepath.Join(dir, "p", link)); err != nil {
			t.Skip(err)
		}
	}
	all := list(t, catalogtest.Open(t, toolshelf.WithRoot(dir), toolshelf.WithPlugins("p")))
	if len(all) != 1 || all[0].Name != "p:in" {
		t.Errorf("%v", lines(all))
	}
}

// resolved returns the texts of a server of a client whose only entry has the given arguments.
func resolved(t testing.TB, row client.Client, text string, values map[string]string) ([]string, error) {
	t.Helper()
	quoted, _ := json.Marshal(text)
	f := row.Servers.Files[0]
	file, entry := "/repo/"+f.Path, fmt.Sprintf(`{"type": "stdio", "command": "rec", "args": ["x", %s]}`, quoted)
	if row.Name == "opencode" {
		entry = fmt.Sprintf(`{"type": "local", "command": ["rec", "x", %s]}`, quoted)
	}
	all := list(t, open(t, map[string]string{file: fmt.Sprintf(`{"%s": {"s": %s}}`, f.Table, entry)}, toolshelf.WithClient(row)))
	if len(all) != 1 {
		if len(text) > 10_000 {
			t.Skip("the entry is too long")
		}
		t.Fatal("the entry is not listed")
	}
	r, err := all[0].Resolve(func(name string) (string, bool) { v, ok := values[name]; return v, ok })
	return r.Args, err
}

func FuzzResolve(f *testing.F) {
	for _, text := range []string{"${A}", "$A${A:-x}", "{env:A}", "${env:A}${input:A}", "${A", "$", "${}", "${:-}", "$(A)", "\u2028${A}"} {
		f.Add(text, "${A}$A{env:A}${env:A}", uint8(0))
	}
	f.Fuzz(func(t *testing.T, text, value string, n uint8) {
		rows := []client.Client{client.Copilot(), client.Gemini(), client.OpenCode(), client.VSCode(), client.Crush(), client.Kiro()}
		row := rows[int(n)%len(rows)]
		const mark = "\x00value\x00"
		a, errA := resolved(t, row, text, map[string]string{"A": mark})
		b, errB := resolved(t, row, text, map[string]string{"A": value})
		again, _ := resolved(t, row, text, map[string]string{"A": value})
		if (errA == nil) != (errB == nil) && !(row.Name == "crush" && value == "") || !slices.Equal(b, again) {
			t.Fatalf("%q: %v, %v", text, errA, errB)
		}
		// The value is copied, and not searched for variables.
		if errA == nil && errB == nil && value != "" && strings.ReplaceAll(a[1], mark, value) != b[1] {
			t.Fatalf("%s %q: %q, then %q", row.Name, text, a[1], b[1])
		}
	})
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "x", "args": ["b"],},}, /* c */}`), false)
	f.Add([]byte("[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nA = \"1\""), true)
	f.Add([]byte(strings.Repeat("[", 20000)), false)
	f.Fuzz(func(t *testing.T, data []byte, toml bool) {
		row, file := client.Cursor(), "/repo/.cursor/mcp.json"
		if toml {
			row, file = client.Codex(), "/repo/.codex/config.toml"
		}
		c := open(t, map[string]string{file: string(data)}, toolshelf.WithClient(row))
		all := list(t, c)
		if diff := cmp.Diff(lines(all), lines(list(t, c))); diff != "" {
			t.Fatal(diff)
		}
		for _, s := range all {
			if (s.Transport == "stdio") != (s.Command != "") || (s.Transport == "stdio") != (s.URL == "") {
				t.Fatalf("%s: %q %q", s.Transport, s.Command, s.URL)
			}
		}
		must.Get(c.Lint(t.Context()))(t)
	})
}

const secret = "hunter2-very-secret-value-0123456789"

func TestNoVerbPrintsAValue(t *testing.T) {
	c := open(t, map[string]string{"/repo/.mcp.json": `{"mcpServers": {"s": {"command": "rec", "args": ["--token", "` + secret + `", "--api-key=` + secret + `", "${T}", "ghp_` + strings.Repeat("a1", 18) + `"],
		"env": {"PLAIN": "` + secret + `", "T": "${T}"}}, "h": {"type": "http", "url": "https://user:` + secret + `@h/?key=1&token=` + secret + `", "headers": {"Authorization": "Bearer ` + secret + `"}}}}`}, toolshelf.WithClient(client.Claude()))
	for _, s := range list(t, c) {
		r := must.Get(s.Resolve(func(string) (string, bool) { return secret, true }))(t)
		if s.Name == "s" && (s.Env["PLAIN"] != secret || r.Args[3] != secret || r.Env["T"] != secret) {
			t.Errorf("the fields of %s lost their values", s.Name)
		}
		var out bytes.Buffer
		for _, x := range []toolshelf.MCPServer{s, r} {
			for _, verb := range "vsqxXdtbcoOUeEfFgG" {
				for _, flag := range []string{"", "+", "#", " ", "0", "-30"} {
					fmt.Fprintf(&out, "%"+flag+string(verb), x)
					fmt.Fprintf(&out, "%"+flag+string(verb), &x)
					fmt.Fprintf(&out, "%"+flag+string(verb), []toolshelf.MCPServer{x})
				}
			}
			fmt.Fprintln(&out, x, x.String(), map[string]toolshelf.MCPServer{"a": x})
			slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "server", x)
			slog.New(slog.NewTextHandler(&out, nil)).Info("m", "server", x)
			must.Do(t, json.NewEncoder(&out).Encode([]any{x, &x}))
		}
		if strings.Contains(out.String(), "hunter2") || strings.Contains(out.String(), "a1a1a1") {
			t.Errorf("%s is printed: %.2000s", s.Name, out.String())
		}
		if !strings.Contains(out.String(), "PLAIN") && s.Name == "s" {
			t.Error("the name of a variable is missing")
		}
	}
}

// gateFunc is a gate.
type gateFunc func(toolshelf.Item) bool

func (g gateFunc) Allowed(_ context.Context, i toolshelf.Item) bool { return g(i) }

func TestTheGateDecidesByTheEntryAndTheFilesOfTheCommandLine(t *testing.T) {
	files := map[string]string{
		"/repo/.mcp.json":        `{"mcpServers": {"s": {"command": "node", "args": ["server.js", "--config=./conf/c.json", "${T}"], "env": {"A": "` + secret + `"}}, "w": {"type": "http", "url": "http://h.example/mcp"}}}`,
		"/repo/server.js":        "1",
		"/repo/conf/c.json":      "{}",
		"/home/ann/.claude.json": `{"mcpServers": {"user": {"command": "rec"}}}`,
	}
	approved := map[string]bool{}
	var events []toolshelf.Event
	opts := []toolshelf.Option{toolshelf.WithClient(client.Claude()), toolshelf.WithGate(gateFunc(func(i toolshelf.Item) bool { return approved[i.Digest] })),
		toolshelf.WithObserver(func(_ context.Context, e toolshelf.Event) { events = append(events, e) })}
	pending := func(files map[string]string) map[string]toolshelf.Pending {
		all := must.Get(open(t, files, opts...).Pending(t.Context()))(t)
		found := map[string]toolshelf.Pending{}
		for _, p := range all {
			found[p.Name] = p
		}
		return found
	}
	if got := lines(list(t, open(t, files, opts...))); !slices.Equal(got, []string{"/home/ann/.claude.json user (stdio): rec"}) {
		t.Errorf("%q", got)
	}
	first := pending(files)
	s, w := first["s"], first["w"]
	if s.Kind != toolshelf.KindMCPServer || s.Layer != "/repo" || s.File != ".mcp.json" || s.Rules != "claude" || !strings.HasPrefix(s.Digest, "server-sha256:") {
		t.Errorf("%+v", s.Item)
	}
	wantNew := map[string]string{"server.js": "1", "conf/c.json": "{}", ".mcp.json#s": "transport: stdio\ncommand: node server.js --config=./conf/c.json ${T}\nenvironment: A\nvariables: T\n"}
	must.Match(t, "result", wantNew, s.New)
	codes := map[toolshelf.DiagnosticCode]bool{}
	for _, d := range slices.Concat(s.Findings, w.Findings) {
		codes[d.Code] = true
	}
	for _, code := range []toolshelf.DiagnosticCode{agentmd.DiagRunsCommand, agentmd.DiagUncoveredFiles, agentmd.DiagServerVariable, agentmd.DiagURL, agentmd.DiagServerInsecure, agentmd.DiagServerSecret} {
		if !codes[code] {
			t.Errorf("no %s in %v %v", code, s.Findings, w.Findings)
		}
	}
	must.Equal(t, w.New, "transport: http\nurl: http://h.example/mcp\nhost: h.example\n", w.New[".mcp.json#w"])
	approved[s.Digest] = true
	if got := list(t, open(t, files, opts...)); len(got) != 2 || got[0].Name != "s" {
		t.Errorf("%v", lines(got))
	}
	for path, text := range map[string]string{"/repo/server.js": "2", "/repo/conf/c.json": "[]", "/repo/.mcp.json": strings.Replace(files["/repo/.mcp.json"], secret, "x", 1)} {
		changed := maps.Clone(files)
		changed[path] = text
		if now := pending(changed)["s"]; now.Digest == s.Digest || now.Digest == "" {
			t.Errorf("%s changes no digest", path)
		}
	}
	spaced := maps.Clone(files)
	spaced["/repo/.mcp.json"] = strings.ReplaceAll(files["/repo/.mcp.json"], `", "`, `" ,  "`)
	if _, ok := pending(spaced)["s"]; ok {
		t.Error("blanks change the digest")
	}
	if text := fmt.Sprintf("%+v %+v %+v", events, s, w); strings.Contains(text, "hunter2") {
		t.Error("an event or a Pending has a value")
	}
	refused := slices.ContainsFunc(events, func(e toolshelf.Event) bool {
		return e.Action == toolshelf.EventRefused && e.Reason == "gate" && e.Kind == toolshelf.KindMCPServer && e.Name == "s" && e.Digest == s.Digest
	})
	if !refused {
		t.Errorf("no event of the refused server in %v", events)
	}
}

func TestLintForReadsByTheRulesOfTheClient(t *testing.T) {
	c := open(t, map[string]string{"/repo/.mcp.json": `{"mcpServers": {"u": {"url": "https://h/"}}}`}, toolshelf.WithClient(client.Copilot()))
	must.Equal(t, "c.Lint(t.Context())", 0, len(must.Get(c.Lint(t.Context()))(t)))
	if found, err := c.Lint(t.Context(), toolshelf.LintFor(client.Claude())); err != nil || len(found) != 1 || found[0].Code != agentmd.DiagServerInvalid {
		t.Error(found, err)
	}
}

func TestFiltersAndViews(t *testing.T) {
	c := open(t, map[string]string{"/repo/.mcp.json": `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}`}, toolshelf.WithClient(client.Claude()))
	view := must.Get(c.View(toolshelf.WithMCPServerFilter(func(s toolshelf.MCPServer) bool { return s.Name == "b" })))(t)
	if all, shown := list(t, c), list(t, view); len(all) != 2 || len(shown) != 1 || shown[0].Name != "b" {
		t.Errorf("%v %v", lines(all), lines(shown))
	}
	must.Fail(c.View(toolshelf.WithMCPServerFilter(nil)))(t, "View", toolshelf.ErrInvalidOption)
}

func TestOnChangeReportsServersAfterACall(t *testing.T) {
	files := catalogtest.Memory(t, map[string]string{"/repo/.mcp.json": `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}`, "/repo/commands/c.md": "c"})
	c := catalogtest.Open(t, toolshelf.WithFs(files), toolshelf.WithRoot("/repo"), toolshelf.WithClient(client.Claude()))
	var mu sync.Mutex
	var got toolshelf.Names
	defer c.OnChange(func(change toolshelf.Change) {
		mu.Lock()
		defer mu.Unlock()
		got = change.MCPServers
	})()
	list(t, c)
	catalogtest.Eventually(t, func() string {
		f, err := files.Create("/repo/.mcp.json")
		if err == nil {
			_, err = f.WriteString(`{"mcpServers": {"b": {"command": "y"}, "c": {"command": "x"}}}`)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return err.Error()
		}
		list(t, c)
		mu.Lock()
		defer mu.Unlock()
		return cmp.Diff(toolshelf.Names{Added: []string{"c"}, Removed: []string{"a"}, Changed: []string{"b"}}, got)
	})
}

// The changes of a subscription begin with the servers of the last list, also if the file has changed
// between the list and the subscription.
func TestASubscriptionBeginsWithTheLastServers(t *testing.T) {
	files := catalogtest.Memory(t, map[string]string{"/repo/.mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`})
	c := catalogtest.Open(t, toolshelf.WithFs(files), toolshelf.WithRoot("/repo"),
		toolshelf.WithClient(client.Claude()))
	list(t, c)
	must.Do(t, afero.WriteFile(files, "/repo/.mcp.json", []byte(`{"mcpServers": {"b": {"command": "x"}}}`), 0o644))
	changes := make(chan toolshelf.Names, 1)
	defer c.OnChange(func(change toolshelf.Change) { changes <- change.MCPServers })()
	list(t, c)
	select {
	case got := <-changes:
		must.Match(t, "changes", toolshelf.Names{Added: []string{"b"}, Removed: []string{"a"}}, got)
	case <-time.After(20 * time.Second):
		t.Error("no change is reported")
	}
}

func TestABadFileLosesOnlyItself(t *testing.T) {
	deep := `{"mcpServers": {"deep": {"command": "x", "env": ` + strings.Repeat(`{"a":`, 20) + `1` + strings.Repeat(`}`, 20) + `}, "ok": {"command": "x"}, "": {"command": "x"}, "big": {"command": "` + strings.Repeat("x", 70<<10) + `"}, "n": 1}}`
	c := open(t, map[string]string{"/repo/.cursor/mcp.json": deep, "/repo/.mcp.json": `{"mcpServers": [`, "/repo/.codex/config.toml": "a = ["}, toolshelf.WithClient(client.Claude(), client.Cursor(), client.Codex()))
	must.Match(t, "lines(list(t, c))", []string{"/repo/.cursor/mcp.json ok (stdio): x"},
		lines(list(t, c)))
	found, err := c.Lint(t.Context())
	if err != nil || len(found) != 6 {
		t.Errorf("%d: %v, %v", len(found), found, err)
	}
}

// A failingFs is a filesystem in which one file cannot be described or opened.
type failingFs struct {
	afero.Fs
	file string
}

func (f failingFs) fault(name string) error {
	if filepath.ToSlash(name) == f.file {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.EIO}
	}
	return nil
}

func (f failingFs) Open(name string) (afero.File, error) {
	if err := f.fault(name); err != nil {
		return nil, err
	}
	return f.Fs.Open(name)
}

func (f failingFs) Stat(name string) (fs.FileInfo, error) {
	if err := f.fault(name); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

func TestAFaultHidesNoFileFromADigestAndNoListOfDisabledServers(t *testing.T) {
	files := map[string]string{
		"/repo/.mcp.json":                   `{"mcpServers": {"s": {"command": "node", "args": ["server.js"]}}}`,
		"/repo/server.js":                   "1",
		"/repo/.claude/settings.local.json": `{"disabledMcpjsonServers": ["s"]}`,
	}
	for _, tt := range []struct {
		file     string
		servers  int // listed
		disabled bool
		complete bool // the digest
	}{
		{"", 1, true, true},
		{"/repo/server.js", 0, false, false},
		{"/repo/.claude/settings.local.json", 1, true, true},
	} {
		t.Run(tt.file, func(t *testing.T) {
			faulty := toolshelf.WithFs(failingFs{catalogtest.Memory(t, files), tt.file})
			allowing := toolshelf.WithGate(gateFunc(func(toolshelf.Item) bool { return true }))
			all := list(t, open(t, files, faulty, allowing, toolshelf.WithClient(client.Claude())))
			if len(all) != tt.servers || tt.servers == 1 && all[0].Disabled != tt.disabled {
				t.Errorf("listed: %q", lines(all))
			}
			refusing := toolshelf.WithGate(gateFunc(func(toolshelf.Item) bool { return false }))
			pending := must.Get(open(t, files, faulty, refusing, toolshelf.WithClient(client.Claude())).Pending(t.Context()))(t)
			i := slices.IndexFunc(pending, func(p toolshelf.Pending) bool { return p.Kind == toolshelf.KindMCPServer })
			if i < 0 || (pending[i].Digest != "") != tt.complete {
				t.Errorf("pending: %v", pending)
			}
		})
	}
}
