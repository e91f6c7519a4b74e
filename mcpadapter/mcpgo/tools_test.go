package mcpgo_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

// call calls a tool and returns the text of the result.
func call(t testing.TB, s *server.MCPServer, name string) string {
	t.Helper()
	var result struct{ Content []struct{ Text string } }
	request(t, s, "tools/call", fmt.Sprintf(`{"name":%q}`, name)).into(t, &result)
	return result.Content[0].Text
}

var painter = map[string]string{"skills/paint/SKILL.md": "Paints.\n"}

func TestCallsAcceptSeveralSpellings(t *testing.T) {
	hooks := &server.Hooks{}
	heard := 0
	hooks.AddBeforeCallTool(func(context.Context, any, *mcp.CallToolRequest) { heard++ })
	for name, opts := range map[string][]server.ServerOption{"no hooks": nil, "hooks": {server.WithHooks(hooks)}} {
		t.Run(name, func(t *testing.T) {
			s := serverOf(t, adapterOf(t, catalogtest.Memory(t, painter), mcpadapter.WithNamespace("docs")), opts...)
			for _, name := range []string{"docs.list_skills", "docs_list_skills"} {
				must.Equal(t, name, `{"skills":["paint"]}`, call(t, s, name))
			}
			must.Equal(t, "another spelling", -32602,
				request(t, s, "tools/call", `{"name":"docs-list_skills"}`).Error.Code)
			if got, _ := names(t, s, "tools/list", `{}`); slices.Contains(got, "docs_list_skills") {
				t.Errorf("the other spelling is listed in %v", got)
			}
		})
	}
	must.Equal(t, "the server's own hook heard", 3, heard)
}

func TestOwnToolsTakePrecedenceForTheirExactName(t *testing.T) {
	s := serverOf(t, adapterOf(t, catalogtest.Memory(t, painter), mcpadapter.WithNamespace("docs")))
	s.AddTool(own("docs_list_skills"))
	must.Equal(t, "result", "the server's docs_list_skills", call(t, s, "docs_list_skills"))
}

// A session is a session of the SDK with tools of its own.
type session struct {
	*server.InProcessSession
	tools map[string]server.ServerTool
}

func (s session) GetSessionTools() map[string]server.ServerTool { return s.tools }
func (s session) SetSessionTools(map[string]server.ServerTool)  {}

func TestSessionToolsTakePrecedenceForTheirExactName(t *testing.T) {
	s := serverOf(t, adapterOf(t, catalogtest.Memory(t, painter), mcpadapter.WithNamespace("docs")))
	tool, handler := own("docs_list_skills")
	with := s.WithContext(ctx, session{server.NewInProcessSession("one", nil), map[string]server.ServerTool{tool.Name: {Tool: tool, Handler: handler}}})
	raw, err := json.Marshal(s.HandleMessage(with, json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"docs_list_skills"}}`)))
	if err != nil || !strings.Contains(string(raw), "the server's docs_list_skills") {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestSharedHooksApplyOnlyToTheirServer(t *testing.T) {
	hooks := &server.Hooks{}
	serverOf(t, adapterOf(t, catalogtest.Memory(t, painter), mcpadapter.WithNamespace("docs")), server.WithHooks(hooks))
	other := server.NewMCPServer("other", "1", server.WithHooks(hooks))
	other.AddTool(own("docs.list_skills"))
	must.Equal(t, "Code", -32602,
		request(t, other, "tools/call", `{"name":"docs_list_skills"}`).Error.Code)
}

func TestToolsHaveOnePageWithoutALimit(t *testing.T) {
	tools := make([]mcpadapter.Tool, 120)
	for i := range tools {
		tools[i] = mcpadapter.Tool{Name: fmt.Sprintf("tool_%03d", i), Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
			return mcpadapter.Result{}, nil
		}}
	}
	a := adapterOf(t, afero.NewMemMapFs(), mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools...))
	if got, next := names(t, serverOf(t, a), "tools/list", `{}`); len(got) != 120 || next != "" {
		t.Errorf("got %d tools and cursor %q", len(got), next)
	}
	s := serverOf(t, a, server.WithPaginationLimit(50))
	var all []string
	for cursor := ""; ; {
		page, next := names(t, s, "tools/list", fmt.Sprintf(`{"cursor":%q}`, cursor))
		all = append(all, page...)
		if next == "" {
			break
		}
		cursor = next
	}
	if len(all) != 120 || !slices.IsSorted(all) {
		t.Errorf("got %v", all)
	}
	must.Equal(t, "cursor 5", -32602, request(t, s, "tools/list", `{"cursor":"5"}`).Error.Code)
}

func TestServerDeclaresCapabilities(t *testing.T) {
	s := serverOf(t, adapterOf(t, afero.NewMemMapFs(), mcpadapter.WithTools(), mcpadapter.WithPrompts()))
	var result struct{ Capabilities json.RawMessage }
	request(t, s, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}`).into(t, &result)
	if got, want := string(result.Capabilities), `{"prompts":{"listChanged":true},"tools":{"listChanged":true},"completions":{}}`; got != want {
		var a, b any
		if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !cmp.Equal(a, b) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got, _ := names(t, s, "tools/list", `{}`); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestSessionsAreIndependent(t *testing.T) {
	s := serverOf(t, adapterOf(t, catalogtest.Memory(t, painter)))
	later := func() *client.Client { // the SDK names a session after the time, and the clock of Windows has long ticks
		for start := time.Now().UnixNano(); time.Now().UnixNano() == start; {
			runtime.Gosched()
		}
		return connect(t, s)
	}
	var group sync.WaitGroup
	for range 8 {
		c := later()
		group.Go(func() {
			for range 5 {
				list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
				if err != nil || len(list.Tools) == 0 {
					t.Errorf("got %v, %v", list, err)
				}
				if _, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	first, second := later(), later()
	first.Close()
	must.Get(second.ListTools(ctx, mcp.ListToolsRequest{}))(t)
}

func TestRegisterReturnsErrorsOfTheSDK(t *testing.T) {
	a := adapterOf(t, afero.NewMemMapFs(), mcpadapter.WithExtraTools(mcpadapter.Tool{
		Name:        "bad",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`),
		Call:        func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return mcpadapter.Result{}, nil },
	}))
	s := server.NewMCPServer("test", "1")
	if err := mcpgo.Register(s, a); err == nil || !strings.HasPrefix(err.Error(), "mcpgo: Register: ") || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("got %v; want an error that names the tool", err)
	}
	must.Equal(t, "the tools of the server", 0, len(s.ListTools()))
	if mcpgo.Register(nil, a) == nil || mcpgo.Register(s, nil) == nil {
		t.Error("nil is accepted")
	}
}

func TestProgramsMayCallToolsDirectly(t *testing.T) {
	s := serverOf(t, adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/commit.md": "Commit.\n"})))
	var req mcp.CallToolRequest
	req.Params.Arguments = map[string]any{"command_name": "commit"}
	must.Equal(t, "IsError", false, must.Get(s.GetTool("get_command").Handler(ctx, req))(t).IsError)
}

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n# " + name + "\n"
}

func TestSkillsAreResources(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"skills/a/SKILL.md": skillText("a"), "skills/a/sub/x y.bin": "\x00\xff", "skills/a/empty": "", "skills/b/SKILL.md": skillText("b")})
	s := serverOf(t, adapterOf(t, fsys), server.WithResourceCapabilities(true, true))
	list := func() (uris []string) {
		var page struct {
			Resources []struct{ URI, Name, Description, MIMEType string }
		}
		request(t, s, "resources/list", `{}`).into(t, &page)
		for _, r := range page.Resources {
			must.Equal(t, r, "Does "+r.Name+".", r.Description)
			must.Equal(t, r, "text/markdown", r.MIMEType)
			uris = append(uris, r.URI)
		}
		return uris
	}
	must.Match(t, "result", []string{"skill://a/SKILL.md", "skill://b/SKILL.md"}, list())
	for uri, want := range map[string]string{"skill://a/SKILL.md": skillText("a"), "skill://a/sub/x%20y.bin": "\x00\xff", "skill://a/empty": ""} {
		var result struct {
			Contents []struct {
				Text *string
				Blob string
			}
		}
		request(t, s, "resources/read", `{"uri":"`+uri+`"}`).into(t, &result)
		must.Len(t, uri, 1, result.Contents)
		got := ""
		if c := result.Contents[0]; c.Text != nil {
			got = *c.Text
		} else if raw, err := base64.StdEncoding.DecodeString(c.Blob); err == nil {
			got = string(raw)
		}
		must.Equal(t, uri, want, got)
	}
	for _, uri := range []string{"skill://a/../b/SKILL.md", "skill://a/none", "SKILL://a/SKILL.md", "skill://a/sub/x y.bin"} {
		if got := request(t, s, "resources/read", `{"uri":"`+uri+`"}`); got.Error.Code == 0 {
			t.Errorf("%s: got %+v", uri, got)
		}
	}
	must.Do(t, fsys.RemoveAll("skills/a"))
	must.Do(t, afero.WriteFile(fsys, "skills/c/SKILL.md", []byte(skillText("c")), 0o644))
	must.Match(t, "after a change", []string{"skill://b/SKILL.md", "skill://c/SKILL.md"}, list())
	for _, method := range []string{"skills/list", "skills/get", "resources/directory/read"} { // as documented
		must.Equal(t, method, -32601, request(t, s, method, `{"uri":"skill://b"}`).Error.Code)
	}
}
