package mcpadapter

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/publish"
)

// A Session is the connection of one client in the Model Context Protocol, for
// servers without an SDK. The transport reads each message, passes the method and
// the params to Handle, and sends the result to the client. Sessions are independent
// of each other and safe for concurrent use. Create a Session with NewSession; the
// zero value is not usable.
type Session struct {
	adapter *Adapter

	held   publish.Held // of skills, as the client received them
	tokens sync.Map     // progress tokens of running requests

	mu         sync.Mutex
	state      State
	subscribed map[string]bool // URIs of resources/subscribe
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
	}
	called, ok := methods[method]
	if !ok || called.legacy && modern || called.serves != nil && !called.serves(s.adapter) {
		return nil, methodNotFound(method)
	}
	return called.call(s, request{ctx: ctx, adapter: s.adapter, params: p, modern: modern})
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
	uri     string  // of the params
	cursor  *string // of the params
}

// A method serves a request if the state of the session allows the request.
type method struct {
	serves func(*Adapter) bool // whether the method exists; nil means always
	legacy bool                // the modern revision has no such method
	uri    bool                // the params have a URI
	cursor bool                // the params may have a cursor
	serve  func(s *Session, r request) (json.RawMessage, error)
}

var methods = map[string]method{
	"server/discover":          {serve: (*Session).discover},
	"tools/list":               {cursor: true, serve: (*Session).listTools},
	"tools/call":               {serve: (*Session).callTool},
	"prompts/list":             {serves: (*Adapter).ServesPrompts, cursor: true, serve: (*Session).listPrompts},
	"prompts/get":              {serves: (*Adapter).ServesPrompts, serve: (*Session).getPrompt},
	"completion/complete":      {serves: (*Adapter).ServesPrompts, serve: (*Session).complete},
	"skills/list":              {serves: (*Adapter).ServesSkills, cursor: true, serve: (*Session).listSkills},
	"skills/get":               {serves: (*Adapter).ServesSkills, uri: true, serve: (*Session).getSkill},
	"resources/list":           {serves: (*Adapter).ServesSkills, cursor: true, serve: (*Session).listResources},
	"resources/templates/list": {serves: (*Adapter).ServesSkills, cursor: true, serve: (*Session).listTemplates},
	"resources/read":           {serves: (*Adapter).ServesSkills, uri: true, serve: (*Session).readResource},
	"resources/directory/read": {serves: (*Adapter).ServesSkills, uri: true, cursor: true, serve: (*Session).readDirectory},
	"resources/subscribe":      {serves: (*Adapter).ServesSkills, legacy: true, uri: true, serve: (*Session).subscribe},
	"resources/unsubscribe":    {serves: (*Adapter).ServesSkills, legacy: true, uri: true, serve: (*Session).unsubscribe},
}

func (m method) call(s *Session, r request) (result json.RawMessage, err *RPCError) {
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
	if m.uri {
		if r.uri, err = r.params.text("uri"); err != nil {
			return nil, err
		}
	}
	if m.cursor {
		if r.cursor, err = r.params.cursor(); err != nil {
			return nil, err
		}
	}
	result, failed := m.serve(s, r)
	if failed != nil {
		return nil, asRPCError(failed)
	}
	return result, nil
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

func (s *Session) discover(request) (json.RawMessage, error) {
	c := s.adapter.config
	versions, _ := escape.Marshal(ProtocolVersions())
	b := append(c.modern(ttlTools), `,"supportedVersions":`...)
	return append(s.adapter.appendIntroduction(append(b, versions...), false), '}'), nil
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

func (s *Session) listTools(r request) (json.RawMessage, error) {
	pages := &s.adapter.pages
	n, err := pages.page(r.cursor)
	if err != nil {
		return nil, err
	}
	// The page is not copied: a copy of 90 KB would cost more than everything else.
	if r.modern {
		return pages.modern[n], nil
	}
	return pages.legacy[n], nil
}

func (s *Session) callTool(r request) (json.RawMessage, error) {
	name, rpcErr := r.params.text("name")
	if rpcErr != nil {
		return nil, rpcErr
	}
	ctx, end := s.withToken(r)
	defer end()
	result, err := s.adapter.Call(ctx, name, r.params["arguments"])
	if err != nil {
		return nil, err
	}
	return result.appendJSON(r.begin(len(result.Text)+len(result.Structured), uncacheable)), nil
}

// begin returns the beginning of a result with capacity for n more bytes. A client may cache the
// result as config.modern describes.
func (r request) begin(n, ttl int) []byte {
	b := make([]byte, 0, n+n/8+256)
	if !r.modern {
		return append(b, '{')
	}
	return append(append(b, r.adapter.config.modern(ttl)...), ',')
}

// list returns a result with one member and the cursor of the next page, or the error of a call.
func (r request) list(member string, value any, next string, ttl int, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	encoded, err := escape.Marshal(value)
	if err != nil {
		return nil, err
	}
	b := append(append(r.begin(len(encoded), ttl), `"`+member+`":`...), encoded...)
	if next != "" {
		b = escape.AppendJSON(append(b, `,"nextCursor":`...), next)
	}
	return append(b, '}'), nil
}

// A ProgressNotification is a report of a tool call that has not ended. Its JSON form is
// the params of notifications/progress. The params have no total, because a call does not
// know the number of entries before its end.
type ProgressNotification struct {
	// Token is the progress token of the request, unchanged: a JSON string or a JSON
	// integer. Token is nil if the call does not come from Session.Handle.
	Token json.RawMessage `json:"progressToken,omitempty"`

	// Progress is the number of entries and files so far, as toolshelf.Progress counts
	// them. Progress is at least 1, and increases with each notification of a call.
	Progress int `json:"progress"`

	// Message states the number of entries and, if the call reads files, the number of
	// files, as in "Entries seen: 1204, files read: 310".
	Message string `json:"message"`
}

// progressKey is the key of the function of ContextWithProgress.
type progressKey struct{}

// ContextWithProgress returns a context for Session.Handle, Adapter.Call and the other methods
// that call a tool. The calls of list_directory, directory_tree and the search tools report their
// progress to send, about six times a second, and never their end. Session.Handle makes reports
// only for a tools/call with a progress token that no running request of the session has. If send
// is nil, the calls make no reports.
//
// send runs on the goroutine that calls the tool, while the call continues its work. A slow send
// delays only the next report and the return of the call. No report comes after the call returns
// or after ctx ends. Concurrent calls with the same context call send concurrently. Calls that
// make reports cost some microseconds more.
func ContextWithProgress(ctx context.Context, send func(ProgressNotification)) context.Context {
	return context.WithValue(ctx, progressKey{}, send)
}

// progressOf returns the function of ContextWithProgress, or nil.
func progressOf(ctx context.Context) func(ProgressNotification) {
	send, _ := ctx.Value(progressKey{}).(func(ProgressNotification))
	return send
}

// reportOption returns the option for a call of the catalog that reports its progress, or
// nil if the context has no function for the reports.
func reportOption(ctx context.Context) toolshelf.WithProgress {
	send := progressOf(ctx)
	if send == nil {
		return nil
	}
	last := 0
	return func(p toolshelf.Progress) {
		n := p.Entries + p.Files
		if p.Done || n <= last || ctx.Err() != nil {
			return
		}
		last = n
		message := fmt.Sprintf("Entries seen: %d", p.Entries)
		if p.Files > 0 {
			message += fmt.Sprintf(", files read: %d", p.Files)
		}
		send(ProgressNotification{Progress: n, Message: message})
	}
}

// withToken returns the context of a request whose reports have the progress token of the
// request. The context makes no reports without a token, or if another running request has
// the token. end releases the token.
func (s *Session) withToken(r request) (ctx context.Context, end func()) {
	send := progressOf(r.ctx)
	if send == nil {
		return r.ctx, func() {}
	}
	token := r.params.progressToken()
	if token == nil {
		return ContextWithProgress(r.ctx, nil), func() {}
	}
	if _, taken := s.tokens.LoadOrStore(string(token), true); taken {
		return ContextWithProgress(r.ctx, nil), func() {}
	}
	return ContextWithProgress(r.ctx, func(p ProgressNotification) {
		p.Token = token
		send(p)
	}), func() { s.tokens.Delete(string(token)) }
}

// progressToken returns the progress token of a request, or nil if the token is missing or
// neither a string nor an integer.
func (p params) progressToken() json.RawMessage {
	var meta map[string]json.RawMessage
	if !p.has("_meta") || json.Unmarshal(p["_meta"], &meta) != nil {
		return nil
	}
	token := meta["progressToken"]
	if _, err := strconv.ParseInt(string(token), 10, 64); err == nil || len(token) > 0 && token[0] == '"' {
		return token
	}
	return nil
}
