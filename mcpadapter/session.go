package mcpadapter

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Session is the connection of one client in the Model Context Protocol, for
// servers without an SDK. The transport reads each message, passes the method and
// the params to Handle, and sends the result to the client. Sessions are independent
// of each other and safe for concurrent use. Create a Session with NewSession; the
// zero value is not usable.
type Session struct {
	adapter *Adapter

	held heldEntries // of skills, as the client received them

	mu         sync.Mutex
	state      State
	subscribed map[string]bool // URIs of resources/subscribe
	tokens     map[string]bool // progress tokens of running requests
}

// State is the state of a session in the lifecycle of the legacy protocol.
type State string

// The states, in order.
const (
	Uninitialized State = "uninitialized" // the session expects initialize
	Initializing  State = "initializing"  // the session has answered initialize and expects notifications/initialized
	Ready         State = "ready"         // the session serves all requests
	ShuttingDown  State = "shutting_down" // after Close; the session rejects all requests
)

// NewSession returns a new Session. A Session costs one small allocation. Create a
// session for each client. A transport without connections creates a session for each
// request of the modern protocol.
func (a *Adapter) NewSession() *Session { return &Session{adapter: a, state: Uninitialized} }

// State returns the current state. Requests of the modern protocol do not change the
// state.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Close ends the session. The session rejects later requests. Close does not wait for
// running requests; cancel their context to end them.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = ShuttingDown
}

// Handle serves one request: initialize, ping, server/discover, and the methods of tools and, if
// the adapter serves them, of prompts, completion, skills and resources. Handle returns the member
// "result" of the response, or an *RPCError for the member "error". The caller must not change the
// result. params may be nil.
//
// A method that begins with "notifications/" has no response: the result is nil, and the transport
// may log the error. notifications/initialized changes the state to Ready. When a client sends
// notifications/cancelled, the transport cancels the context of the request. With a context of
// ContextWithProgress, a tools/call with a progress token reports its progress.
//
// Handle serves modern requests, with the revision "2026-07-28" in params._meta, in every state
// except ShuttingDown. All other requests are legacy requests: before the state is Ready, Handle
// rejects them, except initialize and ping, with CodeInvalidRequest. The constants of RPCError
// list the other codes.
func (s *Session) Handle(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	result, err := s.handle(ctx, method, params)
	if err != nil {
		return nil, err // avoids an error interface with a nil *RPCError
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
			return nil, invalidParams("server/discover requires %q and %q in _meta", metaVersion, metaCapabilities)
		}
		return s.serve(r, request.discover)
	case "tools/list":
		return s.serve(r, request.listTools)
	case "tools/call":
		return s.serve(r, s.callTool)
	}
	if serve, ok := promptMethods[method]; ok && s.adapter.ServesPrompts() {
		return s.serve(r, serve)
	}
	if m, ok := skillMethods[method]; ok && !(m.legacy && modern) && s.adapter.ServesSkills() {
		return s.serve(r, func(r request) (json.RawMessage, *RPCError) { return m.serve(s, r) })
	}
	return nil, methodNotFound(method)
}

func methodNotFound(method string) *RPCError {
	return &RPCError{Code: CodeMethodNotFound, Message: "Method not found: " + escape.Quote(method)}
}

// A request is a request of a known method.
type request struct {
	ctx     context.Context
	adapter *Adapter
	params  params
	modern  bool
}

// serve calls the method if the state of the session allows the request.
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

// unless returns an error if the session is in one of the states.
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
	return append(s.adapter.appendIntroduction(b, c.listChanged), '}'), nil
}

func (s *Session) initialized() *RPCError {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case Initializing:
		s.state = Ready
	case Ready: // a repeated notification
	default:
		return stateError(s.state)
	}
	return nil
}

func (r request) discover() (json.RawMessage, *RPCError) {
	c := r.adapter.config
	versions, _ := escape.Marshal(ProtocolVersions())
	b := append(c.modern(ttlTools), `,"supportedVersions":`...)
	return append(r.adapter.appendIntroduction(append(b, versions...), false), '}'), nil
}

// appendIntroduction appends the members that initialize and server/discover share.
func (a *Adapter) appendIntroduction(b []byte, listChanged bool) []byte {
	c := a.config
	prompts, resources := `{}`, `{}`
	if listChanged {
		prompts, resources = `{"listChanged":true}`, `{"subscribe":true,"listChanged":true}`
	}
	b = append(b, `,"capabilities":{"tools":{}`...)
	if a.ServesPrompts() {
		b = append(b, `,"prompts":`+prompts+`,"completions":{}`...)
	}
	if a.ServesSkills() {
		b = append(b, `,"resources":`+resources+`,"extensions":{"`+SkillsExtension+`":{"directoryRead":true}}`...)
	}
	b = append(b, '}')
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
	// The page is not copied: a copy of 90 KB would cost more than everything else.
	if r.modern {
		return pages.modern[n], nil
	}
	return pages.legacy[n], nil
}

func (s *Session) callTool(r request) (json.RawMessage, *RPCError) {
	name, rpcErr := r.params.text("name")
	if rpcErr != nil {
		return nil, rpcErr
	}
	ctx, end := s.withToken(r)
	defer end()
	result, err := r.adapter.Call(ctx, name, r.params["arguments"])
	if err != nil {
		return nil, asRPCError(err)
	}
	return result.appendJSON(r.begin(len(result.Text) + len(result.Structured))), nil
}

// begin returns the beginning of a result that clients may not cache, with capacity for
// n more bytes.
func (r request) begin(n int) []byte {
	b := make([]byte, 0, n+n/8+256)
	if !r.modern {
		return append(b, '{')
	}
	return append(append(b, r.adapter.config.modern(uncacheable)...), ',')
}
