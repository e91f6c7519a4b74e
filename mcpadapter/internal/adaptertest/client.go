// Package adaptertest has the common tests and benchmarks of every way from an MCP client
// to an adapter: a session, and the bindings to the SDKs. The tests compare a way with
// [mcpadapter.Adapter.Call] and with a session, so all ways return the same results. A
// [ScanFs], [Subscriptions] and [Collect] measure the cost of requests and servers.
package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A Client sends a request with unchanged params. Client returns a result or the code of
// an error.
type Client func(t testing.TB, method string, params json.RawMessage) (result json.RawMessage, code int)

// Connect returns a client of a new server with an adapter. Connect initializes the
// session with the params hello, or sends nothing if hello is nil. The end of the test
// closes the client.
type Connect func(t testing.TB, a *mcpadapter.Adapter, hello json.RawMessage) Client

// hello are params of initialize for a legacy session.
var hello = json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)

// Session connects a client to a session, without a binding.
func Session(t testing.TB, a *mcpadapter.Adapter, hello json.RawMessage) Client {
	t.Helper()
	s := a.NewSession()
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
	client Client
}

type eras []way

// ways connects a client of each era.
func ways(t testing.TB, a *mcpadapter.Adapter, connect Connect) eras {
	t.Helper()
	return eras{
		{"legacy", false, connect(t, a, hello)},
		{"modern", true, connect(t, a, nil)},
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
