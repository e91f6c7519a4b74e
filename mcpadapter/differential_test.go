package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgomcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

// A way is a path from a client to an adapter: a call, a session or a binding. request returns a
// result or the code of an error.
type way struct {
	name    string
	request func(t testing.TB, method, members string) (result json.RawMessage, code int)
}

// ways returns all ways to one adapter. The tests compare the others with the first.
func ways(t testing.TB, a *mcpadapter.Adapter) []way {
	t.Helper()
	legacy := func(members string) json.RawMessage { return json.RawMessage("{" + members + "}") }
	session := ready(t, a)
	handle := func(params func(string) json.RawMessage) func(testing.TB, string, string) (json.RawMessage, int) {
		return func(t testing.TB, method, members string) (json.RawMessage, int) {
			result, err := session.Handle(ctx, method, params(members))
			if err != nil {
				return nil, rpcError(t, err).Code
			}
			return result, 0
		}
	}
	all := []way{{"Session", handle(legacy)}, {"Session, modern", handle(modern)}}
	for era, params := range map[string]func(string) json.RawMessage{"": legacy, ", modern": modern} {
		sdk, mark3labs := overSDK(t, a, era == ""), overMcpGo(t, a, era == "")
		all = append(all,
			way{"go-sdk" + era, func(t testing.TB, method, members string) (json.RawMessage, int) {
				return sdk(t, method, params(members))
			}},
			way{"mcp-go" + era, func(t testing.TB, method, members string) (json.RawMessage, int) {
				return mark3labs(t, method, params(members))
			}})
	}
	return all
}

// checkEra checks that modern results have the result type "complete" and that legacy results have
// no result type.
func (w way) checkEra(t testing.TB, raw json.RawMessage) {
	t.Helper()
	if raw == nil {
		return
	}
	var result struct{ ResultType string }
	if err := json.Unmarshal(raw, &result); err != nil {
		t.Fatal(err)
	}
	if modern := strings.HasSuffix(w.name, "modern"); (result.ResultType == "complete") != modern {
		t.Errorf("%s: resultType %q", w.name, result.ResultType)
	}
}

// overSDK connects a client to a server of the go-sdk. The client sends params unchanged.
func overSDK(t testing.TB, a *mcpadapter.Adapter, handshake bool) func(testing.TB, string, json.RawMessage) (json.RawMessage, int) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	if err := gosdk.Register(s, a); err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	session, err := s.Connect(ctx, far, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := near.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); session.Wait() })
	number := 0
	request := func(t testing.TB, method string, params json.RawMessage) (json.RawMessage, int) {
		t.Helper()
		number++
		id, err := jsonrpc.MakeID(float64(number))
		if err == nil {
			err = conn.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: params})
		}
		for err == nil {
			var message jsonrpc.Message
			if message, err = conn.Read(ctx); err != nil {
				break
			}
			if r, ok := message.(*jsonrpc.Response); ok {
				if failed, ok := r.Error.(*jsonrpc.Error); ok {
					return nil, int(failed.Code)
				}
				return r.Result, 0
			}
		}
		t.Fatal(err)
		return nil, 0
	}
	if !handshake {
		return request
	}
	request(t, "initialize", json.RawMessage(hello))
	if err := conn.Write(ctx, &jsonrpc.Request{Method: "notifications/initialized", Params: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	return request
}

// overMcpGo connects a client to a server of mcp-go. The client sends params unchanged.
func overMcpGo(t testing.TB, a *mcpadapter.Adapter, handshake bool) func(testing.TB, string, json.RawMessage) (json.RawMessage, int) {
	t.Helper()
	s := server.NewMCPServer("test", "1")
	if err := mcpgo.Register(s, a); err != nil {
		t.Fatal(err)
	}
	c := transport.NewInProcessTransport(s)
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	request := func(t testing.TB, method string, params json.RawMessage) (json.RawMessage, int) {
		t.Helper()
		r, err := c.SendRequest(ctx, transport.JSONRPCRequest{JSONRPC: "2.0", ID: mcpgomcp.NewRequestId(int64(1)), Method: method, Params: params})
		if err != nil {
			t.Fatal(err)
		}
		if r.Error != nil {
			return nil, r.Error.Code
		}
		return r.Result, 0
	}
	if handshake {
		request(t, "initialize", json.RawMessage(hello))
	}
	return request
}

// comparable removes from a result the members of one protocol revision or SDK and the values that
// differ between calls. It normalizes forms that the specification treats as equal.
func comparable(t testing.TB, raw json.RawMessage) any {
	t.Helper()
	if raw == nil {
		return nil
	}
	result, ok := decoded(t, raw).(map[string]any)
	if !ok {
		t.Fatalf("a result is no object: %s", raw)
	}
	for _, own := range []string{"_meta", "resultType", "ttlMs", "cacheScope"} {
		delete(result, own)
	}
	for _, list := range []string{"tools", "prompts"} { // mcp-go sorts the lists
		if items, ok := result[list].([]any); ok {
			slices.SortFunc(items, func(x, y any) int {
				return strings.Compare(x.(map[string]any)["name"].(string), y.(map[string]any)["name"].(string))
			})
			for _, item := range items { // mcp-go encodes missing annotations as {}
				if tool := item.(map[string]any); cmp.Equal(tool["annotations"], map[string]any{}) {
					delete(tool, "annotations")
				}
			}
		}
	}
	withoutVolatile(result["structuredContent"])
	if content, ok := result["content"].([]any); ok {
		block := content[0].(map[string]any)
		if text := block["text"].(string); strings.HasPrefix(text, "{") {
			block["text"] = decoded(t, []byte(text))
			withoutVolatile(block["text"])
		}
	}
	return result
}

func withoutVolatile(content any) {
	object, _ := content.(map[string]any)
	delete(object, "search_time_ms")
	if object["action_taken"] != nil {
		for _, name := range []string{"report_path", "report_name", "version", "message"} {
			delete(object, name)
		}
	}
}

// differential is the project of the tests that compare ways.
var differential = func() map[string]string {
	files := maps.Clone(project)
	files["commands/fix.md"] = "---\ndescription: Fix an issue\narguments: [issue, branch]\n---\nFix #$issue on $branch.\n"
	files["commands/release.md"] = "---\nargument-hint: \"[major|minor|patch]\"\n---\nMake a <$1> release & tell \"all\".\n"
	return files
}()

// differentialCatalogs returns the catalogs of the calls by name.
func differentialCatalogs(t testing.TB) map[string]*toolshelf.Catalog {
	reports := toolshelf.WithReports("reports", "")
	closed := catalog(t, memory(t, differential))
	closed.Close()
	return map[string]*toolshelf.Catalog{
		"project":   catalog(t, memory(t, differential), reports),
		"empty":     catalog(t, memory(t, map[string]string{"a.txt": ""})),
		"denied":    catalog(t, deny{memory(t, differential), []string{"commands", "skills", "src"}}),
		"file":      catalog(t, deny{memory(t, differential), []string{"commands/commit.md"}}),
		"too large": catalog(t, memory(t, map[string]string{"commands/commit.md": strings.Repeat("x", 100)}), toolshelf.WithMaxFileSize(10)),
		"closed":    closed,
	}
}

// differentialCalls are calls of tools: the catalog, the tool, the arguments and the expected error code, ""
// for a success.
var differentialCalls = []struct{ catalog, tool, arguments, code string }{
	{"project", "list_commands", `{}`, ""},
	{"project", "list_commands", `null`, ""},
	{"project", "list_commands", `{"page":"1","page_size":1.0}`, ""},
	{"project", "list_commands", `{"page":99}`, ""},
	{"project", "list_commands", `{"page":0}`, "INVALID_PAGE"},
	{"project", "list_commands", `{"page":1.5}`, "INVALID_PAGE"},
	{"project", "list_commands", `{"page_size":0}`, "INVALID_PAGE_SIZE"},
	{"project", "list_commands", `{"page_size":101}`, "INVALID_PAGE_SIZE"},
	{"project", "list_commands", `{"colour":"red"}`, "INVALID_ARGUMENTS"},
	{"empty", "list_commands", `{}`, "DIRECTORY_NOT_FOUND"},
	{"denied", "list_commands", `{}`, "PERMISSION_DENIED"},
	{"closed", "list_commands", `{}`, "CLOSED"},

	{"project", "get_command", `{"command_name":"commit"}`, ""},
	{"project", "get_command", `{"command_name":"release.md"}`, ""},
	{"project", "get_command", `{"command_name":"../secrets"}`, "INVALID_COMMAND_NAME"},
	{"project", "get_command", `{"command_name":7}`, "INVALID_COMMAND_NAME"},
	{"project", "get_command", `{}`, "INVALID_COMMAND_NAME"},
	{"project", "get_command", `[1]`, "INVALID_ARGUMENTS"},
	{"project", "get_command", `"commit"`, "INVALID_ARGUMENTS"},
	{"project", "get_command", `{"command_name":"nothing"}`, "COMMAND_NOT_FOUND"},
	{"empty", "get_command", `{"command_name":"commit"}`, "COMMAND_NOT_FOUND"},
	{"file", "get_command", `{"command_name":"commit"}`, "FILE_READ_ERROR"},
	{"too large", "get_command", `{"command_name":"commit"}`, "FILE_TOO_LARGE"},

	{"project", "search_commands", `{"query":"commit"}`, ""},
	{"project", "search_commands", `{"query":"nothing has this"}`, ""},
	{"project", "search_commands", `{"query":""}`, "INVALID_QUERY"},
	{"empty", "search_commands", `{"query":"commit"}`, ""},

	{"project", "list_skills", `{}`, ""},
	{"empty", "list_skills", `{}`, "-"}, // the tool contract has no code
	{"denied", "list_skills", `{}`, "-"},
	{"project", "list_skills", `{"page":1}`, "-"},

	{"project", "search_skills", `{"query":"weather"}`, ""},
	{"project", "search_skills", `{"query":"weather","max_results":0}`, "INVALID_QUERY"},

	{"project", "get_skill", `{"skill_name":"calculator"}`, ""},
	{"project", "get_skill", `{"skill_name":"nothing"}`, "SKILL_NOT_FOUND"},
	{"project", "get_skill", `{"skill_name":"../src"}`, "INVALID_SKILL_NAME"},

	{"project", "read_skill_file", `{"skill_name":"calculator","path":"SKILL.md"}`, ""},
	{"project", "read_skill_file", `{"skill_name":"calculator","path":"nothing.md"}`, "NOT_FOUND"},
	{"project", "read_skill_file", `{"skill_name":"calculator","path":"../weather/SKILL.md"}`, "OUTSIDE_ROOT"},

	{"project", "list_directory", `{"path":"src"}`, ""},
	{"project", "list_directory", `{"path":".","show_hidden":true,"sort_by":"size"}`, ""},
	{"project", "list_directory", `{"path":"/etc/passwd"}`, "OUTSIDE_ROOT"},
	{"project", "list_directory", `{"path":"../.."}`, "OUTSIDE_ROOT"},
	{"project", "list_directory", `{"path":"src/agent.lisp"}`, "NOT_A_DIRECTORY"},
	{"project", "list_directory", `{"path":"src/nonexistent/"}`, "DIRECTORY_NOT_FOUND"},
	{"project", "list_directory", `{"path":".","sort_by":"colour"}`, "INVALID_SORT"},
	{"denied", "list_directory", `{"path":"src"}`, "PERMISSION_DENIED"},

	{"project", "directory_tree", `{"path":"src","exclude_patterns":["*.md"]}`, ""},
	{"project", "directory_tree", `{"max_depth":0}`, "INVALID_OPTION"},
	{"project", "directory_tree", `{"path":"src","exclude_patterns":["[a"]}`, "INVALID_PATTERN"},

	{"project", "get_file_info", `{"path":"src/agent.lisp"}`, ""},
	{"project", "get_file_info", `{"path":"nothing"}`, "NOT_FOUND"},

	{"project", "search_files", `{"pattern":"**/*.lisp"}`, ""},
	{"project", "search_files", `{"pattern":"[a"}`, "INVALID_PATTERN"},

	{"project", "report_feedback", `{"command_name":"commit","report_content":"Fine.","user_wants_upload":true}`, ""},
	{"project", "report_feedback", `{"command_name":"commit","report_content":"","user_wants_upload":true}`, "EMPTY_CONTENT"},
	{"project", "report_feedback", `{"command_name":"commit","report_content":"x","user_wants_upload":true,"report_name":"a/b"}`, "INVALID_REPORT_NAME"},
	{"project", "report_feedback", `{"command_name":"commit","report_content":"x","user_wants_upload":false}`, "DIRECTORY_PREPARATION_FAILED"},
	{"project", "report_feedback", `{"command_name":"commit","report_content":"x"}`, "INVALID_ARGUMENTS"},

	{"project", "no_tool", `{}`, "-32602"},
	{"project", "", `{}`, "-32602"},
}

func TestAllWaysReturnTheSameResults(t *testing.T) {
	catalogs := differentialCatalogs(t)
	adapters, reached := map[string]*mcpadapter.Adapter{}, map[string][]way{}
	for name, c := range catalogs {
		adapters[name] = adapterOf(t, c)
		reached[name] = ways(t, adapters[name])
	}
	called := map[string]bool{}
	for _, tt := range differentialCalls {
		t.Run(fmt.Sprintf("%s %s in %s", tt.tool, tt.arguments, tt.catalog), func(t *testing.T) {
			called[tt.tool] = true
			// All ways return the result of Adapter.Call.
			direct, err := adapters[tt.catalog].Call(ctx, tt.tool, json.RawMessage(tt.arguments))
			var want any
			wantCode := 0
			if err != nil {
				wantCode = rpcError(t, err).Code
			} else {
				raw, err := direct.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				want = comparable(t, raw)
			}
			if got := codeOf(t, direct, wantCode); got != tt.code {
				t.Fatalf("Call has the code %q, want %q: %+v", got, tt.code, direct)
			}
			for _, way := range reached[tt.catalog] {
				got, code := way.request(t, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tt.tool, tt.arguments))
				if code != wantCode {
					t.Errorf("%s: code %d, want %d", way.name, code, wantCode)
				}
				way.checkEra(t, got)
				if diff := cmp.Diff(want, comparable(t, got)); diff != "" {
					t.Errorf("%s (-Call +got):\n%s", way.name, diff)
				}
			}
		})
	}
	for _, tool := range adapters["project"].Tools() {
		if !called[tool.Name] {
			t.Errorf("%s is never called", tool.Name)
		}
	}
}

// codeOf returns the error code of a result in the notation of the table.
func codeOf(t testing.TB, r mcpadapter.Result, rpc int) string {
	t.Helper()
	var body struct{ Error json.RawMessage }
	var failure struct{ Code string }
	switch {
	case rpc != 0:
		return fmt.Sprint(rpc)
	case !r.IsError:
		return ""
	case json.Unmarshal(r.Structured, &body) != nil:
		t.Fatalf("a failure without structured content: %+v", r)
	case json.Unmarshal(body.Error, &failure) != nil:
		return "-"
	}
	return failure.Code
}

func TestAllWaysReturnTheSameListsPromptsAndCompletions(t *testing.T) {
	tests := []struct {
		catalog, method, members string
		code                     int
		mcpGo                    int // the code of mcp-go, which has only one
	}{
		{"project", "tools/list", ``, 0, 0},
		{"empty", "tools/list", ``, 0, 0},
		{"project", "tools/list", `"cursor":"5"`, -32602, -32602},
		{"project", "prompts/list", ``, 0, 0},
		{"empty", "prompts/list", ``, 0, 0},
		{"file", "prompts/list", ``, 0, 0},
		{"project", "prompts/list", `"cursor":"5"`, -32602, -32602},
		{"project", "prompts/get", `"name":"commit"`, 0, 0},
		{"project", "prompts/get", `"name":"fix","arguments":{"issue":"7","branch":"main"}`, 0, 0},
		{"project", "prompts/get", `"name":"fix","arguments":{"issue":"7"}`, 0, 0},
		{"project", "prompts/get", `"name":"release"`, 0, 0},
		{"project", "prompts/get", `"name":"fix","arguments":{"colour":"red"}`, -32602, -32603},
		{"project", "prompts/get", `"name":"none"`, -32602, -32602},
		{"project", "prompts/get", `"name":"../secrets"`, -32602, -32602},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"get_command"},"argument":{"name":"command_name","value":"co"}`, 0, 0},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"get_command"},"argument":{"name":"command_name","value":"zzz"}`, 0, 0},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"list_directory"},"argument":{"name":"sort_by","value":""}`, 0, 0},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"a","value":""}`, -32602, -32603},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"commit"},"argument":{"name":"none","value":""}`, -32602, -32603},
	}
	reached := map[string][]way{}
	for name, c := range differentialCatalogs(t) {
		reached[name] = ways(t, adapterOf(t, c))
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %s in %s", tt.method, tt.members, tt.catalog), func(t *testing.T) {
			var want any
			for i, way := range reached[tt.catalog] {
				wantCode := tt.code
				if strings.HasPrefix(way.name, "mcp-go") {
					wantCode = tt.mcpGo
				}
				got, code := way.request(t, tt.method, tt.members)
				if code != wantCode {
					t.Errorf("%s: code %d, want %d", way.name, code, wantCode)
				}
				way.checkEra(t, got)
				if i == 0 {
					want = comparable(t, got)
				} else if diff := cmp.Diff(want, comparable(t, got)); diff != "" {
					t.Errorf("%s (-Session +got):\n%s", way.name, diff)
				}
			}
		})
	}
}
