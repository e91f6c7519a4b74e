package mcpadapter_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// modern returns params of the revision 2026-07-28 with the members.
func modern(members string) json.RawMessage {
	if members != "" {
		members += ","
	}
	return json.RawMessage(`{` + members + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`)
}

const hello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`

// skillsExtension is the member of the capabilities of a server with skills.
const skillsExtension = `"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}`

// ready returns a session in the state Ready.
func ready(t testing.TB, a *mcpadapter.Adapter) *mcpadapter.Session {
	t.Helper()
	s := a.NewSession()
	for _, step := range [][2]string{{"initialize", hello}, {"notifications/initialized", `{}`}} {
		must.Get(s.Handle(ctx, step[0], json.RawMessage(step[1])))(t)
	}
	return s
}

//go:embed testdata/sessions.txt
var sessions string

// TestSessions asks the questions of testdata/sessions.txt, which describes the questions.
func TestSessions(t *testing.T) {
	a := adapter(t)
	initialized := ready(t, a)
	failure := func(t *testing.T, err error) string {
		e := rpcError(t, err)
		return strings.TrimSpace(fmt.Sprint(e.Code, " ", string(e.Data)))
	}
	must.Answer(t, sessions, map[string]func(t *testing.T, args ...string) string{
		"session": func(t *testing.T, methods ...string) string {
			s := a.NewSession()
			var err error
			for _, method := range methods {
				if method == "close" {
					s.Close()
					continue
				}
				must.Do(t, err)
				params := map[string]json.RawMessage{"initialize": json.RawMessage(hello)}[method]
				var result json.RawMessage
				result, err = s.Handle(ctx, method, params)
				if err == nil {
					must.Equal(t, method, strings.HasPrefix(method, "notifications/"), result == nil)
				}
			}
			if err != nil {
				return string(s.State()) + " " + failure(t, err)
			}
			return string(s.State())
		},
		"new": func(t *testing.T, args ...string) string {
			params := json.RawMessage(args[1])
			if args[1] == "modern" {
				params = modern(strings.Trim(args[2], "{}"))
			}
			_, err := a.NewSession().Handle(ctx, args[0], params)
			return failure(t, err)
		},
		"ready": func(t *testing.T, args ...string) string {
			_, err := initialized.Handle(ctx, args[0], json.RawMessage(args[1]))
			must.Equal(t, args[0], 0, len(rpcError(t, err).Data))
			return failure(t, err)
		},
	})
}

func TestSessionsAreIndependent(t *testing.T) {
	a := adapter(t)
	first, second := ready(t, a), a.NewSession()
	if _, err := second.Handle(ctx, "tools/list", nil); rpcError(t, err).Code != mcpadapter.CodeInvalidRequest {
		t.Errorf("the second session is ready because the first one is")
	}
	must.Get(second.Handle(ctx, "initialize", json.RawMessage(hello)))(t)
	first.Close()
	must.Get(second.Handle(ctx, "notifications/initialized", nil))(t)
	must.Get(second.Handle(ctx, "tools/list", nil))(t)
}

func TestInitializeNegotiatesTheVersion(t *testing.T) {
	tests := []struct{ asked, answered string }{
		{"2025-11-25", "2025-11-25"},
		{"2025-06-18", "2025-06-18"},
		{"2025-03-26", "2025-03-26"},
		{"2024-11-05", "2024-11-05"},
		{"2026-07-28", "2025-11-25"}, // the modern revision has no initialize
		{"1999-01-01", "2025-11-25"},
		{"", "2025-11-25"},
	}
	for _, tt := range tests {
		got := must.Get(adapter(t, mcpadapter.WithServerInfo("shelf", "1.2.3"), mcpadapter.WithInstructions("Ask first.")).
			NewSession().Handle(ctx, "initialize", json.RawMessage(`{"protocolVersion":"`+tt.asked+`","capabilities":{}}`)))(t)
		sameJSON(t, got, `{"protocolVersion":"`+tt.answered+`","serverInfo":{"name":"shelf","version":"1.2.3"},`+
			`"capabilities":{"tools":{},"prompts":{},"completions":{},"resources":{},`+skillsExtension+`},"instructions":"Ask first."}`)
	}
	for _, params := range []string{``, `{}`, `{"protocolVersion":1}`, `{"protocolVersion":null}`} {
		s := adapter(t).NewSession()
		if _, err := s.Handle(ctx, "initialize", json.RawMessage(params)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
			t.Errorf("initialize(%s): got %v", params, err)
		}
		must.Equal(t, params, mcpadapter.Uninitialized, s.State())
	}
}

func TestModernRequestsNeedNoHandshake(t *testing.T) {
	s := adapter(t, mcpadapter.WithServerInfo("shelf", "1.2.3")).NewSession()
	for _, r := range [][2]string{
		{"server/discover", ``},
		{"tools/list", ``},
		{"tools/call", `"name":"list_skills"`},
		{"prompts/list", ``},
		{"prompts/get", `"name":"commit"`},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"get_command"},"argument":{"name":"command_name","value":""}`},
	} {
		got := must.Get(s.Handle(ctx, r[0], modern(r[1])))(t)
		var result struct {
			ResultType string
			TTL        *int                                      `json:"ttlMs"`
			Scope      *string                                   `json:"cacheScope"`
			Meta       map[string]struct{ Name, Version string } `json:"_meta"`
		}
		must.Is(t, r[0], nil, json.Unmarshal(got, &result))
		must.Equal(t, r[0], "complete", result.ResultType)
		must.Equal(t, r[0], "1.2.3", result.Meta["io.modelcontextprotocol/serverInfo"].Version)
		kept := strings.HasSuffix(r[0], "/list") || r[0] == "server/discover"
		must.Equal(t, r[0], kept,
			result.TTL != nil && *result.TTL >= 0 && result.Scope != nil && *result.Scope == "private")
	}
	must.Equal(t, "modern requests changed the state", mcpadapter.Uninitialized, s.State())
}

func TestLegacyResultsHaveNoModernMembers(t *testing.T) {
	s := ready(t, adapter(t))
	for method, params := range map[string]string{"tools/list": `{}`, "prompts/list": ``, "tools/call": `{"name":"list_skills","arguments":{}}`} {
		got := must.Get(s.Handle(ctx, method, json.RawMessage(params)))(t)
		must.NotContain(t, method, string(got), `"resultType"`, `"ttlMs"`, `"cacheScope"`, `"_meta"`,
			`"nextCursor"`)
	}
}

func TestWithListChangedDeclaresNotifications(t *testing.T) {
	session := adapter(t, mcpadapter.WithListChanged()).NewSession()
	got, err := session.Handle(ctx, "initialize", json.RawMessage(hello))
	if err != nil || !strings.Contains(string(got), `"capabilities":{"tools":{},"prompts":{"listChanged":true},"completions":{},"resources":{"subscribe":true,"listChanged":true},`+skillsExtension+`}`) {
		t.Errorf("initialize: %s, %v", got, err)
	}
	// Modern clients need a subscription, which a Session does not serve.
	got = must.Get(session.Handle(ctx, "server/discover", modern("")))(t)
	must.NotContain(t, "server/discover", string(got), "listChanged")
}

func TestDiscoverDescribesTheServer(t *testing.T) {
	got := must.Get(adapter(t, mcpadapter.WithServerInfo("shelf", "1.2.3")).NewSession().Handle(ctx, "server/discover", modern("")))(t)
	sameJSON(t, got, `{"resultType":"complete","ttlMs":300000,"cacheScope":"private",`+
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shelf","version":"1.2.3"}},`+
		`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],`+
		`"capabilities":{"tools":{},"prompts":{},"completions":{},"resources":{},`+skillsExtension+`}}`)
}

func TestInvalidArgumentsAreResults(t *testing.T) {
	s := ready(t, adapter(t))
	for _, params := range []string{
		`{"name":"list_commands","arguments":{"page":0}}`,
		`{"name":"list_commands","arguments":[1]}`,
		`{"name":"get_command"}`,
		`{"name":"get_command","arguments":"commit"}`,
	} {
		got, err := s.Handle(ctx, "tools/call", json.RawMessage(params))
		var result struct{ IsError bool }
		if err != nil || json.Unmarshal(got, &result) != nil || !result.IsError {
			t.Errorf("%s: got %s, %v; want a result with isError", params, got, err)
		}
	}
}

func TestHandleReturnsTheErrorOfItsContext(t *testing.T) {
	s := ready(t, adapter(t))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := s.Handle(ended, "tools/call", json.RawMessage(`{"name":"list_commands"}`))
	must.Equal(t, "Code", mcpadapter.CodeInternalError, rpcError(t, err).Code)
	must.Is(t, "rpcError", context.Canceled, err)
}

// manyTools returns an adapter with n tools with the names tool_000, tool_001 and so on.
func manyTools(t testing.TB, n int, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	tools := make([]mcpadapter.Tool, n)
	for i := range tools {
		tools[i] = mcpadapter.Tool{
			Name:        fmt.Sprintf("tool_%03d", i),
			Description: "Tells its number.",
			Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
				return mcpadapter.Result{Text: fmt.Sprint(i)}, nil
			},
		}
	}
	return adapter(t, append([]mcpadapter.Option{mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools...)}, opts...)...)
}

// A page is a page of tools/list. Next is nil without a nextCursor.
type page struct {
	Tools []struct{ Name string }
	Next  *string `json:"nextCursor"`
}

func list(t testing.TB, s *mcpadapter.Session, params json.RawMessage) page {
	t.Helper()
	raw := must.Get(s.Handle(ctx, "tools/list", params))(t)
	var p page
	must.Do(t, json.Unmarshal(raw, &p))
	if p.Tools == nil {
		t.Fatalf("no array of tools in %s", raw)
	}
	return p
}

var counts = []int{0, 1, 49, 50, 51, 99, 100, 101, 150}

func TestToolsListHasTheExactNumberOfPages(t *testing.T) {
	for _, n := range counts {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(fmt.Sprint(n, " tools, ", era), func(t *testing.T) {
				a := manyTools(t, n)
				s := ready(t, a)
				var got, want []string
				for _, tool := range a.Tools() {
					want = append(want, tool.Name)
				}
				pages, cursor := 0, ""
				for {
					member := ""
					if cursor != "" {
						member = `"cursor":"` + cursor + `"`
					}
					params := json.RawMessage(`{` + member + `}`)
					if era == "modern" {
						params = modern(member)
					}
					p := list(t, s, params)
					pages++
					for _, tool := range p.Tools {
						got = append(got, tool.Name)
					}
					if p.Next == nil {
						break
					}
					if len(p.Tools) != 50 || *p.Next == cursor {
						t.Fatalf("page %d has %d tools and goes on", pages, len(p.Tools))
					}
					cursor = *p.Next
				}
				must.Equal(t, "pages", pages, max(1, (n+49)/50))
				must.Match(t, "result", want, got)
			})
		}
	}
}

func TestInvalidCursorsAreRejected(t *testing.T) {
	a := manyTools(t, 120)
	s := ready(t, a)
	foreign := list(t, ready(t, manyTools(t, 121)), nil).Next
	stale := list(t, ready(t, manyTools(t, 120, mcpadapter.WithPageSize(60))), nil).Next
	own := *list(t, s, nil).Next
	for _, cursor := range []string{`0`, `50`, `"0"`, `"50"`, `"YWJj"`, `"5"`, `""`, `[1]`, `{}`, `true`,
		`"` + *foreign + `"`, `"` + *stale + `"`, `"` + own + `="`, `"` + own + ` "`, `"` + own[1:] + `"`} {
		for _, params := range []json.RawMessage{json.RawMessage(`{"cursor":` + cursor + `}`), modern(`"cursor":` + cursor)} {
			_, err := s.Handle(ctx, "tools/list", params)
			must.Equal(t, cursor, mcpadapter.CodeInvalidParams, rpcError(t, err).Code)
		}
	}
	list(t, s, json.RawMessage(`{"cursor":null}`))
	list(t, s, json.RawMessage(`{"cursor":"`+own+`"}`))
}

func TestCursorsAreValidInAnotherProcess(t *testing.T) {
	cursor := list(t, ready(t, manyTools(t, 120)), nil).Next
	must.Equal(t, "Name", "tool_050",
		list(t, ready(t, manyTools(t, 120)), json.RawMessage(`{"cursor":"`+*cursor+`"}`)).Tools[0].Name)
}

func TestCursorsBecomeInvalidIfADescriptionChanges(t *testing.T) {
	old := *list(t, ready(t, manyTools(t, 120)), nil).Next
	tools := manyTools(t, 120).Tools()
	tools[0].Description = "Tells another number."
	s := ready(t, adapter(t, mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools...)))
	if _, err := s.Handle(ctx, "tools/list", json.RawMessage(`{"cursor":"`+old+`"}`)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
		t.Errorf("got %v", err)
	}
}

func TestPromptsListPagesThroughTheCommands(t *testing.T) {
	files := map[string]string{}
	for i := range 1001 {
		files[fmt.Sprintf("commands/c%04d.md", i)] = fmt.Sprintf("---\ndescription: Number %d\n---\n", i)
	}
	s := ready(t, adapterOf(t, catalog(t, memory(t, files))))
	var names []string
	params := json.RawMessage(nil)
	for pages := 1; ; pages++ {
		raw := must.Get(s.Handle(ctx, "prompts/list", params))(t)
		var p struct {
			Prompts []struct{ Name string }
			Next    *string `json:"nextCursor"`
		}
		must.Do(t, json.Unmarshal(raw, &p))
		for _, prompt := range p.Prompts {
			names = append(names, prompt.Name)
		}
		if p.Next == nil {
			if pages != 2 || len(names) != 1001 || names[1000] != "c1000" {
				t.Errorf("%d prompts in %d pages", len(names), pages)
			}
			break
		}
		params, _ = json.Marshal(map[string]string{"cursor": *p.Next})
	}
	empty := ready(t, adapterOf(t, catalog(t, memory(t, map[string]string{"x": ""}))))
	if _, err := empty.Handle(ctx, "prompts/list", json.RawMessage(`{"cursor":"YWJj"}`)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
		t.Errorf("no directory: got %v", err)
	}
	for _, cursor := range []string{`0`, `""`, `"YWJj"`, `[1]`} {
		if _, err := s.Handle(ctx, "prompts/list", json.RawMessage(`{"cursor":`+cursor+`}`)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
			t.Errorf("cursor %s: got %v", cursor, err)
		}
	}
}

// For every input, the session returns a JSON object or a protocol error, and then serves
// the next request.
func FuzzHandle(f *testing.F) {
	for _, seed := range [][2]string{
		{"initialize", hello},
		{"notifications/initialized", `{}`},
		{"ping", ``},
		{"server/discover", string(modern(""))},
		{"tools/list", `{"cursor":null}`},
		{"tools/list", string(modern(`"cursor":"AAAA"`))},
		{"tools/call", `{"name":"list_commands","arguments":{"page":"1","page_size":1e1}}`},
		{"tools/call", `{"name":"get_command","arguments":{"command_name":"../x"}}`},
		{"tools/call", `{"name":"list_directory","arguments":{"path":"a/../../b\u0000"}}`},
		{"tools/call", `{"name":"search_files","arguments":{"pattern":"{a,b}[","exclude_patterns":["**"]}}`},
		{"tools/call", `{"name":"search_text","arguments":{"pattern":"a|\\bx*","files":["*.md"],"context_lines":1,"whole_words":true}}`},
		{"tools/call", `{"name":"read_file","arguments":{"path":"src/agent.lisp","start_line":-1,"start_column":1,"max_bytes":1}}`},
		{"prompts/list", `{"cursor":"x"}`},
		{"prompts/get", `{"name":"analyze_log","arguments":{"file":"$1 $ARGUMENTS"}}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"get_command"},"argument":{"name":"command_name","value":"a"}}`},
		{"skills/list", `{"cursor":"skills.AQ"}`},
		{"skills/get", string(modern(`"uri":"skill://weather/SKILL.md"`))},
		{"resources/read", `{"uri":"skill://calculator/references/..%2Ftable.md"}`},
		{"resources/directory/read", `{"uri":"skill://calculator/references","cursor":null}`},
		{"", `null`},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	a := adapter(f)
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		for _, s := range []*mcpadapter.Session{a.NewSession(), ready(t, a)} {
			result, err := s.Handle(ctx, method, params)
			var e *mcpadapter.RPCError
			switch {
			case err == nil && strings.HasPrefix(method, "notifications/"):
				if result != nil {
					t.Errorf("a notification has the result %s", result)
				}
			case err == nil:
				var object map[string]json.RawMessage
				if json.Unmarshal(result, &object) != nil || object == nil {
					t.Errorf("the result is no JSON object: %q", result)
				}
			case !errors.As(err, &e):
				t.Errorf("the error is no *RPCError: %v", err)
			default:
				if e.Code >= 0 || e.Message == "" || strings.ContainsAny(e.Message, "\n\x00") || e.Data != nil && !json.Valid(e.Data) {
					t.Errorf("bad error: %+v", e)
				}
			}
			if s.State() != mcpadapter.Uninitialized {
				must.Get(s.Handle(ctx, "ping", nil))(t)
			}
		}
	})
}
