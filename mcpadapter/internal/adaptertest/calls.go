package adaptertest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// calls are calls of tools: the project, the tool, the arguments and the expected error code, ""
// for a success.
var calls = []struct{ project, tool, arguments, code string }{
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

	{"project", "list_agents", `{}`, ""},
	{"empty", "list_agents", `{}`, "-"},
	{"denied", "list_agents", `{}`, "-"},
	{"project", "list_agents", `{"page":1}`, "-"},
	{"project", "get_agent", `{"agent_name":"planner"}`, ""},
	{"project", "get_agent", `{"agent_name":"nothing"}`, "AGENT_NOT_FOUND"},
	{"project", "get_agent", `{"agent_name":"../src"}`, "INVALID_AGENT_NAME"},

	{"project", "get_instructions", `{"path":"src/agent.lisp"}`, ""},
	{"empty", "get_instructions", `{"path":"."}`, ""},
	{"project", "get_instructions", `{"path":"../x"}`, "OUTSIDE_ROOT"},
	{"project", "get_instructions", `{"path":"src","max_characters":10}`, "INVALID_OPTION"},
	{"denied", "get_instructions", `{"path":"src"}`, "PERMISSION_DENIED"},

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
	{"project", "list_directory", `{"path":".","cursor":"x"}`, "INVALID_CURSOR"},
	{"project", "list_directory", `{"path":".","limit":0}`, "INVALID_OPTION"},
	{"denied", "list_directory", `{"path":"src"}`, "PERMISSION_DENIED"},

	{"project", "directory_tree", `{"path":"src","exclude_patterns":["*.md"]}`, ""},
	{"project", "directory_tree", `{"max_depth":0}`, "INVALID_OPTION"},
	{"project", "directory_tree", `{"path":"src","exclude_patterns":["[a"]}`, "INVALID_PATTERN"},

	{"project", "get_file_info", `{"path":"src/agent.lisp"}`, ""},
	{"project", "get_file_info", `{"path":"nothing"}`, "NOT_FOUND"},

	{"project", "search_files", `{"pattern":"**/*.lisp"}`, ""},
	{"project", "search_files", `{"pattern":"[a"}`, "INVALID_PATTERN"},

	{"project", "search_text", `{"pattern":"agent","path":"src","context_lines":1}`, ""},
	{"project", "search_text", `{"pattern":"(","path":"src"}`, "INVALID_PATTERN"},
	{"project", "search_text", `{"pattern":"x","path":"nothing"}`, "NOT_FOUND"},
	{"denied", "search_text", `{"pattern":"x","path":"src"}`, "PERMISSION_DENIED"},

	{"project", "read_file", `{"path":"src/agent.lisp","start_line":-1,"max_bytes":100}`, ""},
	{"project", "read_file", `{"path":"src/agent.lisp","start_line":2,"end_line":1}`, "INVALID_OPTION"},
	{"project", "read_file", `{"path":"src"}`, "FILE_READ_ERROR"},
	{"project", "read_file", `{"path":"nothing"}`, "NOT_FOUND"},

	{"project", "report_feedback", `{"command_name":"commit","report_content":"Fine.","user_wants_upload":true}`, ""},
	{"project", "report_feedback", `{"command_name":"commit","report_content":"","user_wants_upload":true}`, "EMPTY_CONTENT"},
	{"project", "report_feedback", `{"command_name":"commit","report_content":"x","user_wants_upload":true,"report_name":"a/b"}`, "INVALID_REPORT_NAME"},
	{"project", "report_feedback", `{"command_name":"commit","report_content":"x","user_wants_upload":false}`, "DIRECTORY_PREPARATION_FAILED"},
	{"project", "report_feedback", `{"command_name":"commit","report_content":"x"}`, "INVALID_ARGUMENTS"},

	{"panic", "text", `{}`, "-32603"},
	{"panic", "error", `{}`, "-32603"},
	{"panic", "index", `{}`, "-32603"},
	{"panic", "lines", `{}`, "-32603"},
	{"panic", "function", `{}`, "-32603"},
	{"panic", "list_directory", `{"path":"src"}`, "-32603"}, // the filesystem panics
	{"panic", "list_skills", `{}`, ""},                      // the server continues

	{"project", "no_tool", `{}`, "-32602"},
	{"project", "", `{}`, "-32602"},
}

// TestCalls compares tools/call with [mcpadapter.Adapter.Call].
func TestCalls(t *testing.T, connect Connect) {
	direct, reached := adapters(t), map[string][]way{}
	for project, a := range direct {
		reached[project] = ways(t, a, connect)
	}
	called := map[string]bool{}
	for _, tt := range calls {
		t.Run(fmt.Sprintf("%s %s in %s", tt.tool, tt.arguments, tt.project), func(t *testing.T) {
			called[tt.tool] = true
			result, err := direct[tt.project].Call(t.Context(), tt.tool, json.RawMessage(tt.arguments))
			wantCode := codeOf(t, err)
			var want any
			if err == nil {
				want = comparable(t, must.Get(result.MarshalJSON())(t))
			}
			if got := notation(t, result, wantCode); got != tt.code {
				t.Fatalf("Call has the code %q, want %q: %+v", got, tt.code, result)
			}
			for _, way := range reached[tt.project] {
				got, code := way.request(t, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tt.tool, tt.arguments))
				if code != wantCode {
					t.Errorf("%s: code %d, want %d", way.name, code, wantCode)
				}
				if diff := cmp.Diff(want, comparable(t, got)); diff != "" {
					t.Errorf("%s (-Call +got):\n%s", way.name, diff)
				}
			}
		})
	}
	for _, tool := range direct["project"].Tools() {
		if !called[tool.Name] {
			t.Errorf("%s is never called", tool.Name)
		}
	}
}

// notation returns the error code of a result in the notation of calls.
func notation(t testing.TB, r mcpadapter.Result, rpc int) string {
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
