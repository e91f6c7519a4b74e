// Package servertest tests every way from an MCP client to an adapter: a session, and the bindings
// to the SDKs. The tests compare a way with [mcpadapter.Adapter.Call] and with a session, so all
// ways return the same results.
package servertest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A caller sends a request with unchanged params. A caller returns a result or the code of an error.
type caller func(t testing.TB, method string, params json.RawMessage) (result json.RawMessage, code int)

// A connect returns a client of a new server with adapters. A connect initializes the session with
// the params hello, or sends nothing if hello is nil. The end of the test closes the client.
type connect func(t testing.TB, hello json.RawMessage, adapters ...*mcpadapter.Adapter) caller

// A binding is a way to an adapter.
type binding struct {
	name    string
	connect connect
	start   start                                   // nil for a session
	addOwn  func(server any)                        // adds a prompt "own" to a server of start
	handler func(newServer func() any) http.Handler // with a server for each request
	reports map[string]connectReports               // by revision
	invalid int                                     // the code of an invalid argument of a prompt or of a completion
	methods bool                                    // of the skills extension
}

var bindings = []binding{
	{name: "session", connect: session, invalid: mcpadapter.CodeInvalidParams, methods: true},
	{name: "gosdk", connect: withGoSDK, start: startGoSDK, addOwn: ownOfGoSDK,
		handler: goSDKHandler, reports: goSDKReports,
		invalid: mcpadapter.CodeInvalidParams, methods: true},
	// mcp-go gives one code to the errors of all handlers.
	{name: "mcpgo", connect: withMCPGo, start: startMCPGo, addOwn: ownOfMCPGo,
		handler: mcpGoHandler, reports: mcpGoReports,
		invalid: mcpadapter.CodeInternalError},
}

// each runs a test for each binding.
func each(t *testing.T, test func(t *testing.T, b binding)) {
	for _, b := range bindings {
		t.Run(b.name, func(t *testing.T) { test(t, b) })
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hello are params of initialize for a legacy session.
var hello = json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)

// session connects a client to a session of the only adapter, without a binding.
func session(t testing.TB, hello json.RawMessage, adapters ...*mcpadapter.Adapter) caller {
	t.Helper()
	s := adapters[0].NewSession()
	handle := func(t testing.TB, method string, params json.RawMessage) (json.RawMessage, int) {
		t.Helper()
		result, err := s.Handle(context.Background(), method, params)
		return result, codeOf(t, err)
	}
	if hello != nil {
		handle(t, "initialize", hello)
		handle(t, "notifications/initialized", json.RawMessage(`{}`))
	}
	return handle
}

// codeOf returns the code of a protocol error, 0 for nil, and fails the test for any other error.
func codeOf(t testing.TB, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var failed *mcpadapter.RPCError
	if !errors.As(err, &failed) {
		t.Fatalf("got error %v; want an *RPCError", err)
	}
	return failed.Code
}

// A way is a client of one era of the protocol: legacy or modern.
type way struct {
	name   string
	modern bool
	client caller
}

type eras []way

// ways connects a client of each era.
func ways(t testing.TB, connect connect, adapters ...*mcpadapter.Adapter) eras {
	t.Helper()
	return eras{
		{"legacy", false, connect(t, hello, adapters...)},
		{"modern", true, connect(t, nil, adapters...)},
	}
}

// request sends a request with the members of an object as params. request checks that
// modern results have the result type "complete" and that legacy results have no result type.
func (w way) request(t testing.TB, method, members string) (json.RawMessage, int) {
	t.Helper()
	params := json.RawMessage("{" + members + "}")
	if w.modern {
		params = modern(members)
	}
	raw, code := w.client(t, method, params)
	if raw == nil {
		return nil, code
	}
	var result struct{ ResultType string }
	must.Do(t, json.Unmarshal(raw, &result))
	if (result.ResultType == "complete") != w.modern {
		t.Errorf("%s: resultType %q", w.name, result.ResultType)
	}
	return raw, code
}

// modern returns params of the revision 2026-07-28 with the members.
func modern(members string) json.RawMessage {
	return json.RawMessage("{" + strings.TrimPrefix(members+",", ",") + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`)
}
