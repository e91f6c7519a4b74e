package adaptertest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// TestLists compares the lists, prompts and completions with the responses of a session.
// handlerError is the code that the server gives to an invalid argument of a prompt or of
// a completion, because mcp-go gives one code to the errors of all handlers.
func TestLists(t *testing.T, connect Connect, handlerError int) {
	compare(t, connect, []request{
		{"project", "tools/list", ``, 0},
		{"empty", "tools/list", ``, 0},
		{"project", "tools/list", `"cursor":"5"`, mcpadapter.CodeInvalidParams},
		{"project", "prompts/list", ``, 0},
		{"empty", "prompts/list", ``, 0},
		{"file", "prompts/list", ``, 0},
		{"project", "prompts/list", `"cursor":"5"`, mcpadapter.CodeInvalidParams},
		{"project", "prompts/get", `"name":"commit"`, 0},
		{"project", "prompts/get", `"name":"fix","arguments":{"issue":"7","branch":"main"}`, 0},
		{"project", "prompts/get", `"name":"fix","arguments":{"issue":"7"}`, 0},
		{"project", "prompts/get", `"name":"release"`, 0},
		{"project", "prompts/get", `"name":"fix","arguments":{"colour":"red"}`, handlerError},
		{"project", "prompts/get", `"name":"none"`, mcpadapter.CodeInvalidParams},
		{"project", "prompts/get", `"name":"../secrets"`, mcpadapter.CodeInvalidParams},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"get_command"},"argument":{"name":"command_name","value":"co"}`, 0},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"get_command"},"argument":{"name":"command_name","value":"zzz"}`, 0},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"list_directory"},"argument":{"name":"sort_by","value":""}`, 0},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"a","value":""}`, handlerError},
		{"project", "completion/complete", `"ref":{"type":"ref/prompt","name":"commit"},"argument":{"name":"none","value":""}`, handlerError},
	})
}

// A request is a request to a server of a project, with the code of the expected error, or 0.
type request struct {
	project, method, members string
	code                     int
}

// compare compares the responses of the servers of connect with the responses of a session.
func compare(t *testing.T, connect Connect, requests []request) {
	t.Helper()
	sessions, reached := map[string]way{}, map[string][]way{}
	for project, a := range adapters(t) {
		sessions[project] = ways(t, a, Session)[0]
		reached[project] = ways(t, a, connect)
	}
	for _, tt := range requests {
		t.Run(fmt.Sprintf("%s %s in %s", tt.method, tt.members, tt.project), func(t *testing.T) {
			raw, _ := sessions[tt.project].request(t, tt.method, tt.members)
			want := comparable(t, raw)
			for _, way := range reached[tt.project] {
				got, code := way.request(t, tt.method, tt.members)
				if code != tt.code {
					t.Errorf("%s: code %d, want %d", way.name, code, tt.code)
				}
				if diff := cmp.Diff(want, comparable(t, got)); diff != "" {
					t.Errorf("%s (-Session +got):\n%s", way.name, diff)
				}
			}
		})
	}
}
