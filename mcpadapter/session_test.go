package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
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

// Each row is a new session: its requests in order, the error code of the last request (0 for no
// error), and the state afterwards.
func TestSessionStates(t *testing.T) {
	tests := []struct {
		name     string
		requests []string
		code     int
		data     string // of the error
		state    mcpadapter.State
	}{
		{"new", nil, 0, "", mcpadapter.Uninitialized},
		{"a request at once", []string{"tools/list"}, -32600, `{"state":"uninitialized"}`, mcpadapter.Uninitialized},
		{"a call at once", []string{"tools/call"}, -32600, `{"state":"uninitialized"}`, mcpadapter.Uninitialized},
		{"prompts at once", []string{"prompts/list"}, -32600, `{"state":"uninitialized"}`, mcpadapter.Uninitialized},
		{"ping at once", []string{"ping"}, 0, "", mcpadapter.Uninitialized},
		{"initialized at once", []string{"notifications/initialized"}, -32600, `{"state":"uninitialized"}`, mcpadapter.Uninitialized},
		{"initialize", []string{"initialize"}, 0, "", mcpadapter.Initializing},
		{"a request before initialized", []string{"initialize", "tools/list"}, -32600, `{"state":"initializing"}`, mcpadapter.Initializing},
		{"ping before initialized", []string{"initialize", "ping"}, 0, "", mcpadapter.Initializing},
		{"initialize twice", []string{"initialize", "initialize"}, -32600, `{"state":"initializing"}`, mcpadapter.Initializing},
		{"initialized", []string{"initialize", "notifications/initialized"}, 0, "", mcpadapter.Ready},
		{"initialized twice", []string{"initialize", "notifications/initialized", "notifications/initialized"}, 0, "", mcpadapter.Ready},
		{"a request", []string{"initialize", "notifications/initialized", "tools/list"}, 0, "", mcpadapter.Ready},
		{"initialize again", []string{"initialize", "notifications/initialized", "initialize"}, -32600, `{"state":"ready"}`, mcpadapter.Ready},
		{"another notification", []string{"notifications/cancelled"}, 0, "", mcpadapter.Uninitialized},
		{"an unknown method", []string{"tools/burn"}, -32601, "", mcpadapter.Uninitialized},
		{"no method", []string{""}, -32601, "", mcpadapter.Uninitialized},
		{"closed", []string{"initialize", "notifications/initialized", "close", "tools/list"}, -32600, `{"state":"shutting_down"}`, mcpadapter.ShuttingDown},
		{"ping after close", []string{"close", "ping"}, -32600, `{"state":"shutting_down"}`, mcpadapter.ShuttingDown},
		{"initialize after close", []string{"close", "initialize"}, -32600, `{"state":"shutting_down"}`, mcpadapter.ShuttingDown},
		{"closed twice", []string{"close", "close"}, 0, "", mcpadapter.ShuttingDown},
	}
	a := adapter(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := a.NewSession()
			var err error
			for i, method := range tt.requests {
				if method == "close" {
					s.Close()
					continue
				}
				var result json.RawMessage
				result, err = s.Handle(ctx, method, map[string]json.RawMessage{"initialize": json.RawMessage(hello)}[method])
				if err != nil && i < len(tt.requests)-1 {
					t.Fatalf("%s: %v", method, err)
				}
				if notification := strings.HasPrefix(method, "notifications/"); err == nil && (result == nil) != notification {
					t.Errorf("%s: the result is %s", method, result)
				}
			}
			if tt.code == 0 && err != nil {
				t.Errorf("got %v; want no error", err)
			}
			if tt.code != 0 {
				e := rpcError(t, err)
				must.Equal(t, "Code", tt.code, e.Code)
				must.Equal(t, "Data", tt.data, string(e.Data))
			}
			must.Equal(t, "state", tt.state, s.State())
		})
	}
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

func TestModernRequestsRequireAllFields(t *testing.T) {
	const version, capabilities = `"io.modelcontextprotocol/protocolVersion":`, `"io.modelcontextprotocol/clientCapabilities":`
	tests := []struct {
		name, method, params string
		code                 int
		data                 string
	}{
		{"an unknown version", "tools/list", `{"_meta":{` + version + `"1900-01-01",` + capabilities + `{}}}`, -32022,
			`{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1900-01-01"}`},
		{"an unknown version and nothing else", "server/discover", `{"_meta":{` + version + `"2030-01-01"}}`, -32022,
			`{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2030-01-01"}`},
		{"no capabilities", "tools/list", `{"_meta":{` + version + `"2026-07-28"}}`, -32602, ``},
		{"null for capabilities", "tools/list", `{"_meta":{` + version + `"2026-07-28",` + capabilities + `null}}`, -32602, ``},
		{"a version that is no text", "tools/list", `{"_meta":{` + version + `20260728,` + capabilities + `{}}}`, -32602, ``},
		{"null for a version", "tools/list", `{"_meta":{` + version + `null,` + capabilities + `{}}}`, -32602, ``},
		{"a _meta that is no object", "tools/list", `{"_meta":7}`, -32602, ``},
		{"discovery in no version", "server/discover", `{}`, -32602, ``},
		{"initialize, which is gone", "initialize", string(modern(`"protocolVersion":"2025-11-25"`)), -32601, ``},
		{"ping, which is gone", "ping", string(modern("")), -32601, ``},
		{"a legacy version, for which there is the handshake", "tools/list", `{"_meta":{` + version + `"2025-11-25"}}`, -32600, `{"state":"uninitialized"}`},
		{"another _meta", "tools/list", `{"_meta":{"progressToken":1}}`, -32600, `{"state":"uninitialized"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := adapter(t).NewSession().Handle(ctx, tt.method, json.RawMessage(tt.params))
			e := rpcError(t, err)
			must.Equal(t, e, tt.code, e.Code)
			must.Equal(t, e, tt.data, string(e.Data))
		})
	}
}

func TestInvalidRequestsAreProtocolErrors(t *testing.T) {
	tests := []struct {
		name, method, params string
		code                 int
	}{
		{"broken params", "tools/list", `{"cursor":`, -32700},
		{"params that are no object", "tools/list", `[1]`, -32602},
		{"a call without a name", "tools/call", `{}`, -32602},
		{"a call of a number", "tools/call", `{"name":1}`, -32602},
		{"a call of an unknown tool", "tools/call", `{"name":"burn"}`, -32602},
		{"a prompt without a name", "prompts/get", `{}`, -32602},
		{"an unknown prompt", "prompts/get", `{"name":"burn"}`, -32602},
		{"a prompt that is a part of others", "prompts/get", `{"name":"hidden"}`, -32602},
		{"a name that no prompt has", "prompts/get", `{"name":"../x"}`, -32602},
		{"arguments that are no texts", "prompts/get", `{"name":"commit","arguments":{"a":1}}`, -32602},
		{"an argument that the prompt has not", "prompts/get", `{"name":"commit","arguments":{"a":"b"}}`, -32602},
		{"completion of nothing", "completion/complete", `{}`, -32602},
		{"completion of a resource", "completion/complete", `{"ref":{"type":"ref/resource","uri":"file:///x"},"argument":{"name":"a","value":""}}`, -32602},
		{"completion for no argument", "completion/complete", `{"ref":{"type":"ref/prompt","name":"commit"}}`, -32602},
		{"completion for an unknown argument", "completion/complete", `{"ref":{"type":"ref/prompt","name":"commit"},"argument":{"name":"a","value":""}}`, -32602},
		{"completion for an unknown prompt", "completion/complete", `{"ref":{"type":"ref/prompt","name":"burn"},"argument":{"name":"a","value":""}}`, -32602},
	}
	s := ready(t, adapter(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Handle(ctx, tt.method, json.RawMessage(tt.params))
			must.Equal(t, "Code", tt.code, rpcError(t, err).Code)
		})
	}
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

func TestSessionServesWhatTheToolsPermit(t *testing.T) {
	adaptertest.TestWithTools(t, adaptertest.Session, true)
}

func TestSessionReturnsTheResultsOfCall(t *testing.T) { adaptertest.TestCalls(t, adaptertest.Session) }

func TestSessionReturnsTheSameListsPromptsAndCompletionsInEachEra(t *testing.T) {
	adaptertest.TestLists(t, adaptertest.Session, mcpadapter.CodeInvalidParams)
}

func BenchmarkCallGetCommandInASession(b *testing.B) {
	adaptertest.BenchmarkGetCommand(b, adaptertest.Session)
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
