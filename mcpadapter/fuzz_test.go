package mcpadapter_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

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
				if _, err := s.Handle(ctx, "ping", nil); err != nil {
					t.Errorf("after %q: %v", method, err)
				}
			}
		}
	})
}
