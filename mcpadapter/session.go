package mcpadapter

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Session is one client's conversation in the Model Context Protocol, for
// servers without an SDK: the transport reads messages, hands each one's
// method and params to Handle, and sends back what it returns. Sessions are
// independent of each other. A Session is safe for concurrent use; its zero
// value is of no use.
type Session struct {
	adapter *Adapter

	mu    sync.Mutex
	state State
}

// State is how far a session of the legacy protocol has come.
type State string

// The states, in their order.
const (
	Uninitialized State = "uninitialized" // nothing was said; initialize is expected
	Initializing  State = "initializing"  // initialize was answered; notifications/initialized is expected
	Ready         State = "ready"         // requests are served
	ShuttingDown  State = "shutting_down" // after Close; nothing is served
)

// NewSession begins a conversation. It costs next to nothing: make one for each
// client, or, where the transport knows no clients, for each request of the
// modern protocol.
func (a *Adapter) NewSession() *Session { return &Session{adapter: a, state: Uninitialized} }

// State returns the state that the session is in. Modern requests do not
// change it.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Close ends the session: later requests are refused. Requests that are being
// served are not waited for; ending their context ends them.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = ShuttingDown
}

// Handle serves one request: initialize, ping, server/discover, tools/list,
// tools/call, prompts/list, prompts/get, completion/complete. It returns the
// response's "result", which the caller must not change, or an *RPCError, its
// "error". Params may be nil.
//
// Methods that begin with "notifications/" have no response: the result is
// nil, and an error is for the transport's log. notifications/initialized
// makes the session ready; others are ignored.
//
// A request whose params._meta names a modern revision of the protocol
// (2026-07-28) is served in any state but ShuttingDown, and its result says how
// long it may be kept: five minutes for tools, since another version of the
// program may have others, and not at all for prompts. Others are of the
// legacy protocol: before the session is Ready, all but initialize and ping
// are CodeInvalidRequest, with the state in the error's Data. See RPCError for
// the codes.
func (s *Session) Handle(ctx context.Context, method string, raw json.RawMessage) (json.RawMessage, error) {
	result, err := s.handle(ctx, method, raw)
	if err != nil {
		return nil, err // not a nil *RPCError in an interface
	}
	return result, nil
}

func (s *Session) handle(ctx context.Context, method string, raw json.RawMessage) (json.RawMessage, *RPCError) {
	p, err := parseParams(raw)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(method, "notifications/") {
		if method == "notifications/initialized" {
			return nil, s.initialized()
		}
		return nil, nil
	}
	modern, err := p.modern()
	if err != nil {
		return nil, err
	}
	r := request{ctx: ctx, adapter: s.adapter, params: p, modern: modern}
	switch method {
	case "initialize":
		if !modern {
			return s.initialize(p)
		}
	case "ping":
		if !modern {
			return json.RawMessage(`{}`), s.unless(ShuttingDown)
		}
	case "server/discover":
		if !modern {
			return nil, invalidParams("server/discover needs %q and %q in _meta", metaVersion, metaCapabilities)
		}
		return s.serve(r, request.discover)
	case "tools/list":
		return s.serve(r, request.listTools)
	case "tools/call":
		return s.serve(r, request.callTool)
	case "prompts/list":
		return s.serve(r, request.listPrompts)
	case "prompts/get":
		return s.serve(r, request.getPrompt)
	case "completion/complete":
		return s.serve(r, request.complete)
	}
	return nil, &RPCError{Code: CodeMethodNotFound, Message: "Method not found: " + quote(method)}
}

// A request is one that may be served.
type request struct {
	ctx     context.Context
	adapter *Adapter
	params  params
	modern  bool
}

// serve serves a request if the session's state allows it.
func (s *Session) serve(r request, method func(request) (json.RawMessage, *RPCError)) (json.RawMessage, *RPCError) {
	refuse := []State{ShuttingDown}
	if !r.modern {
		refuse = []State{ShuttingDown, Uninitialized, Initializing}
	}
	if err := s.unless(refuse...); err != nil {
		return nil, err
	}
	if err := r.ctx.Err(); err != nil {
		return nil, internalError(err)
	}
	return method(r)
}

// unless returns an error in any of these states.
func (s *Session) unless(states ...State) *RPCError {
	state := s.State()
	if !slices.Contains(states, state) {
		return nil
	}
	return stateError(state)
}

func stateError(state State) *RPCError {
	message := map[State]string{
		Uninitialized: "Server not initialized; send initialize first",
		Initializing:  "Server not ready; send notifications/initialized first",
		Ready:         "Server already initialized",
		ShuttingDown:  "Server is shutting down",
	}[state]
	return &RPCError{Code: CodeInvalidRequest, Message: message, Data: json.RawMessage(`{"state":"` + string(state) + `"}`)}
}

func (s *Session) initialize(p params) (json.RawMessage, *RPCError) {
	version, err := p.text("protocolVersion")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != Uninitialized {
		return nil, stateError(s.state)
	}
	s.state = Initializing
	if !slices.Contains(legacyVersions, version) {
		version = legacyVersions[0]
	}
	c := s.adapter.config
	b := escape.AppendJSON([]byte(`{"protocolVersion":`), version)
	b = append(append(b, `,"serverInfo":`...), c.serverInfo()...)
	return append(c.appendIntroduction(b, c.listChanged), '}'), nil
}

func (s *Session) initialized() *RPCError {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case Initializing:
		s.state = Ready
	case Ready: // said again
	default:
		return stateError(s.state)
	}
	return nil
}

func (r request) discover() (json.RawMessage, *RPCError) {
	c := r.adapter.config
	versions, _ := encode(ProtocolVersions())
	b := append(c.modern(ttlTools, "public"), `,"supportedVersions":`...)
	return append(c.appendIntroduction(append(b, versions...), false), '}'), nil
}

// appendIntroduction adds what initialize and server/discover have in common.
func (c config) appendIntroduction(b []byte, listChanged bool) []byte {
	prompts := `{}`
	if listChanged {
		prompts = `{"listChanged":true}`
	}
	b = append(b, `,"capabilities":{"tools":{},"prompts":`+prompts+`,"completions":{}}`...)
	if c.instructions != "" {
		b = escape.AppendJSON(append(b, `,"instructions":`...), c.instructions)
	}
	return b
}

func (r request) listTools() (json.RawMessage, *RPCError) {
	cursor, rpcErr := r.params.cursor()
	if rpcErr != nil {
		return nil, rpcErr
	}
	pages := &r.adapter.pages
	n, err := pages.page(cursor)
	if err != nil {
		return nil, err
	}
	// A copy of 90 KB would cost more than all the rest.
	if r.modern {
		return pages.modern[n], nil
	}
	return pages.legacy[n], nil
}

func (r request) callTool() (json.RawMessage, *RPCError) {
	name, rpcErr := r.params.text("name")
	if rpcErr != nil {
		return nil, rpcErr
	}
	result, err := r.adapter.Call(r.ctx, name, r.params["arguments"])
	if err != nil {
		return nil, asRPCError(err)
	}
	return result.appendJSON(r.begin(len(result.Text) + len(result.Structured))), nil
}

// begin begins a result that may not be kept, with room for n bytes.
func (r request) begin(n int) []byte {
	b := make([]byte, 0, n+n/8+256)
	if !r.modern {
		return append(b, '{')
	}
	return append(append(b, r.adapter.config.modern(0, "")...), ',')
}
