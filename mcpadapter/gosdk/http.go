package gosdk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// HTTPOptions are the options of [NewHTTPHandler]. The zero value has safe defaults. A limit
// that is zero or negative has its default.
type HTTPOptions struct {
	// Hosts are the names of the server. A port has no meaning. A request with another name in its
	// Host header receives the status 403, because a website can point its own name at the
	// server (DNS rebinding). IP addresses and localhost are always allowed, because a
	// website cannot point them elsewhere.
	Hosts []string
	// Origins are the websites, such as https://app.example.com, whose pages may send requests
	// from a browser. A request of a page of another host receives the status 403.
	Origins []string

	// Verify verifies the bearer token of each request. Verify must check that the token is
	// for this server, and must set TokenInfo.Expiration unless Bearer.AllowMissingExpiration is
	// set. With nil, the handler requires no token.
	Verify auth.TokenVerifier
	// Bearer has the required scopes, and the rules for the expiration of tokens.
	Bearer auth.RequireBearerTokenOptions
	// Metadata tells clients where to request a token (RFC 9728). The handler serves the
	// metadata without a token, at the path /.well-known/oauth-protected-resource followed by
	// the path of Metadata.Resource.
	Metadata *oauthex.ProtectedResourceMetadata

	MaxCalls     int           // calls that run at the same time, and messages of a batch; further calls wait within their CallTimeout; default 100
	CallTimeout  time.Duration // duration of a call; default 50 s
	MaxRequests  int           // open requests, also of waiting calls and of subscriptions; default 1,000
	MaxBodyBytes int64         // size of the body of a request; default 1 MiB
	BodyTimeout  time.Duration // duration of the transfer of a body; default 10 s
	WriteTimeout time.Duration // duration of the write of a message to a client that does not read, and the time between comments to a subscriber; default 30 s

	// Logger receives refused requests and reached limits at the level warn, and each call at
	// the level debug, and panics of calls at the level error. No record contains a token, an
	// argument or a result. With nil, only panics are logged, by slog.Default.
	Logger *slog.Logger
}

// A LimitError is the error of a call that a limit of [HTTPOptions] ends. The client receives the
// text of the error in the result of tools/call, and otherwise in an error with the code -32603.
// The handler of the call finds the error with context.Cause, and middleware of the server with
// mcp.CallToolResult.GetError.
type LimitError struct {
	Option string // CallTimeout or MaxCalls
	text   string
}

func (e *LimitError) Error() string { return e.text }

// errShutdown ends the calls that outlast the context of Shutdown.
var errShutdown = errors.New("the server shuts down; repeat the call later (SHUTDOWN)")

// An HTTPHandler serves an MCP server over streamable HTTP. See [NewHTTPHandler].
type HTTPHandler struct {
	options  HTTPOptions
	guard    guard
	serve    http.Handler // requests that the guard lets pass
	requests chan struct{}
	calls    chan struct{}
	panics   *slog.Logger

	tooLong, tooMany *LimitError

	mu      sync.Mutex // guards closed, and the first Add of running before its Wait
	closed  bool
	running sync.WaitGroup

	closing, canceled context.Context // end at the begin of Shutdown, and at the end of its context
	beginClosing      context.CancelCauseFunc
	cancelCalls       context.CancelCauseFunc
}

// NewHTTPHandler returns a handler that serves s over streamable HTTP without sessions, in all
// revisions of the protocol. Add the tools and the middleware to s first, with [Register]
// too. The handler answers at each path, so a program usually selects a path with an
// http.ServeMux.
//
// The handler cancels a call whose client leaves, and limits calls, bodies and writes as
// [HTTPOptions] describes. The http.Server of the program limits headers (ReadHeaderTimeout) and
// idle connections (IdleTimeout). Do not set WriteTimeout, which would end subscriptions. A
// ResponseWriter that wraps another needs the method Unwrap (see http.ResponseController): without
// deadlines, BodyTimeout and WriteTimeout have no effect.
//
// NewHTTPHandler panics if s is nil, or if o has an invalid origin, or metadata without Verify or
// without an absolute URL as the resource.
func NewHTTPHandler(s *mcp.Server, o *HTTPOptions) *HTTPHandler {
	if s == nil {
		panic("gosdk: NewHTTPHandler: the server is nil")
	}
	h := &HTTPHandler{}
	if o != nil {
		h.options = *o
	}
	o = &h.options
	defaultTo(&o.MaxCalls, 100)
	defaultTo(&o.CallTimeout, 50*time.Second) // clients give up after 60 s: DEFAULT_REQUEST_TIMEOUT_MSEC of the TypeScript SDK
	defaultTo(&o.MaxRequests, 1000)
	defaultTo(&o.MaxBodyBytes, 1<<20)
	defaultTo(&o.BodyTimeout, 10*time.Second)
	defaultTo(&o.WriteTimeout, 30*time.Second)
	h.panics = cmp.Or(o.Logger, slog.Default())
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h.tooLong = &LimitError{"CallTimeout", fmt.Sprintf("the call ended after %v, the limit of a call; request less in one call, or repeat the call later (CALL_TIMEOUT)", o.CallTimeout)}
	h.tooMany = &LimitError{"MaxCalls", fmt.Sprintf("the server runs %d calls, the limit; repeat the call later (TOO_MANY_CALLS)", o.MaxCalls)}
	h.requests = make(chan struct{}, o.MaxRequests)
	h.calls = make(chan struct{}, o.MaxCalls)
	h.closing, h.beginClosing = context.WithCancelCause(context.Background())
	h.canceled, h.cancelCalls = context.WithCancelCause(context.Background())
	h.guard = newGuard(o)
	sdk := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		Stateless:                    true,
		Logger:                       o.Logger,
		MaxRequestBodyBytes:          o.MaxBodyBytes,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // the guard checks the hosts at each address
	})
	h.serve = h.guard.bearer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.readBody(w, r) {
			sdk.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), h, r.Context())))
		}
	}))
	s.AddReceivingMiddleware(h.limitCalls)
	return h
}

// defaultTo sets a limit that the program did not set.
func defaultTo[T int | int64 | time.Duration](limit *T, value T) {
	if *limit <= 0 {
		*limit = value
	}
}

// ServeHTTP answers one request. ServeHTTP returns after the end of the call.
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn := http.NewResponseController(w)
	// The deadline also ends the transfer of a body that no one reads. A writer of a test
	// may have no deadlines.
	_ = conn.SetReadDeadline(time.Now().Add(h.options.BodyTimeout))
	defer func() { _ = conn.SetWriteDeadline(time.Now().Add(h.options.WriteTimeout)) }() // for the last flush of net/http
	if !h.begin() {
		w.Header().Set("Connection", "close")
		h.guard.refuse(w, r, http.StatusServiceUnavailable, "the server shuts down")
		return
	}
	defer h.running.Done()
	select {
	case h.requests <- struct{}{}:
		defer func() { <-h.requests }()
	default:
		w.Header().Set("Retry-After", "1")
		h.guard.refuse(w, r, http.StatusServiceUnavailable, fmt.Sprintf("the server has %d open requests, its limit; repeat the request later", h.options.MaxRequests))
		return
	}
	if h.guard.admit(w, r) {
		timed := &timedWriter{ResponseWriter: w, conn: conn, timeout: h.options.WriteTimeout}
		defer timed.end()
		h.serve.ServeHTTP(timed, r)
		if h.closing.Err() != nil {
			_ = conn.Flush() // the program may end after Shutdown
		}
	}
}

// begin reports whether the handler accepts a request. The caller then calls running.Done.
func (h *HTTPHandler) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.running.Add(1)
	}
	return !h.closed
}

// readBody reads the body within its limits, and reports whether the body is one JSON value. At the
// end of a body, net/http removes the deadline of the connection, to notice that the client leaves.
func (h *HTTPHandler) readBody(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.options.MaxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil && r.Method == http.MethodPost && !json.Valid(body): // the SDK would ignore the bytes after the first value
		h.guard.refuse(w, r, http.StatusBadRequest, "the body is not exactly one JSON value")
	case err == nil:
		r.Body = io.NopCloser(bytes.NewReader(body))
		var batch []struct{} // of 2025-03-26; the elements need no memory
		_ = json.Unmarshal(body, &batch)
		if len(batch) <= h.options.MaxCalls {
			return true
		}
		h.guard.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("the batch has %d messages; send at most %d in a request", len(batch), h.options.MaxCalls))
	case errors.As(err, &tooLarge):
		h.guard.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes, the limit", tooLarge.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		h.guard.refuse(w, r, http.StatusRequestTimeout, fmt.Sprintf("the body did not arrive within %v, the limit", h.options.BodyTimeout))
	default:
		h.guard.refuse(w, r, http.StatusBadRequest, "the body is incomplete")
	}
	return false
}

// limitCalls is middleware of the server. A call of this handler ends with its request, with its
// time or with Shutdown. A subscription (subscriptions/listen) has no limit of time, and ends at
// the begin of Shutdown.
func (h *HTTPHandler) limitCalls(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		request, ok := ctx.Value(h).(context.Context)
		if !ok { // a request of another transport
			return next(ctx, method, req)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		endWith := func(end context.Context) (stop func() bool) {
			return context.AfterFunc(end, func() { cancel(context.Cause(end)) })
		}
		defer endWith(request)()
		if method == "subscriptions/listen" {
			defer endWith(h.closing)()
			return next(ctx, method, req)
		}
		defer endWith(h.canceled)()
		ctx, stop := context.WithTimeoutCause(ctx, h.options.CallTimeout, h.tooLong)
		defer stop()
		begun := time.Now()
		var result mcp.Result
		err := error(h.tooMany)
		select {
		case h.calls <- struct{}{}:
			result, err = h.run(ctx, next, method, req)
			err = h.limitOf(ctx, result, err)
		case <-ctx.Done():
			if cause := context.Cause(ctx); cause != error(h.tooLong) {
				err = cause
			}
		}
		h.log(ctx, request, method, req, begun, err)
		if limit := (*LimitError)(nil); errors.As(err, &limit) || errors.Is(err, errShutdown) {
			return ended(method, err)
		}
		return result, err
	}
}

// run returns the result of a call, and frees the place of the call. The SDK calls a tool on a
// goroutine of its own, where a panic would end the program; net/http recovers the panics of its
// handlers in the same way.
func (h *HTTPHandler) run(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (result mcp.Result, err error) {
	defer func() {
		<-h.calls
		if fault := recover(); fault != nil {
			h.panics.ErrorContext(ctx, "panic", slog.String("method", method), slog.Any("panic", fault), slog.String("stack", string(debug.Stack())))
			result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call failed, because the server has a defect"}
		}
	}()
	return next(ctx, method, req)
}

// limitOf returns the error of a call: the limit that ended the call, or err. A call that finished
// in spite of the limit has no error.
func (h *HTTPHandler) limitOf(ctx context.Context, result mcp.Result, err error) error {
	if r, ok := result.(*mcp.CallToolResult); ctx.Err() == nil || err == nil && !(ok && r != nil && r.IsError) {
		return err
	}
	if cause := context.Cause(ctx); cause == error(h.tooLong) || cause == errShutdown {
		return cause
	}
	return err
}

// ended returns the answer to a call that a limit or Shutdown ended.
func ended(method string, err error) (mcp.Result, error) {
	if method != callTool {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Error: " + err.Error()}}}
	r.SetError(err)
	return r, nil
}

// log records a call: a limit at the level warn, any other end at the level debug.
func (h *HTTPHandler) log(ctx, request context.Context, method string, req mcp.Request, begun time.Time, err error) {
	level := slog.LevelDebug
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		level = slog.LevelWarn
	}
	if !h.options.Logger.Enabled(ctx, level) {
		return
	}
	// A client may send a name that fills the body.
	attributes := []slog.Attr{slog.String("method", method), slog.Duration("duration", time.Since(begun))}
	if call, ok := req.(*mcp.CallToolRequest); ok {
		attributes = append(attributes, slog.String("tool", fmt.Sprintf("%.100s", call.Params.Name)))
	}
	if err != nil {
		attributes = append(attributes, slog.String("error", fmt.Sprintf("%.300s", err.Error())))
	}
	if request.Err() != nil {
		attributes = append(attributes, slog.Bool("client left", true))
	}
	h.options.Logger.LogAttrs(ctx, level, "call", attributes...)
}

// Shutdown refuses new requests with the status 503, ends the subscriptions, and waits for the
// running calls. When ctx ends, Shutdown cancels the calls, waits up to one second for their
// answers, and returns the error of ctx if a call still runs. Further calls of Shutdown wait in the
// same way.
//
// Shutdown does not close the listener. Call Shutdown of the http.Server afterwards, with a context
// that has not ended, which lets the server complete the last responses.
func (h *HTTPHandler) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		h.options.Logger.InfoContext(ctx, "shutdown", slog.Int("requests", len(h.requests)))
	}
	h.mu.Unlock()
	h.beginClosing(errShutdown)
	done := make(chan struct{})
	go func() {
		h.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	h.cancelCalls(errShutdown)
	answers := time.NewTimer(time.Second)
	defer answers.Stop()
	select {
	case <-done:
		return nil
	case <-answers.C:
		return fmt.Errorf("gosdk: Shutdown: %d requests still run: %w", len(h.requests), ctx.Err())
	}
}

// A timedWriter limits the time of each write and flush, because a subscription may last for days.
// On HTTP/2, a deadline ends a stream that writes nothing, so a timedWriter removes the deadline.
type timedWriter struct {
	http.ResponseWriter
	conn     *http.ResponseController
	timeout  time.Duration
	answered bool // the last message is the response to a call

	mu       sync.Mutex  // one write at a time
	comments *time.Timer // writes the next comment
	ended    bool        // ServeHTTP returns
}

func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *timedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.limit()()
	// The SDK writes the members of a message in a fixed order. A notification has no ID.
	w.answered = bytes.HasPrefix(p, []byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":"))
	return w.ResponseWriter.Write(p)
}

// FlushError does not flush a response, because ServeHTTP returns now: net/http then sends the
// response and its end in one write.
func (w *timedWriter) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answered {
		return nil
	}
	if w.comments == nil {
		w.comments = time.AfterFunc(w.timeout, w.comment)
	}
	defer w.limit()()
	return w.conn.Flush()
}

// comment writes a comment of server-sent events, which clients ignore. A write that fails ends the
// request. Without comments, net/http does not notice the end of an HTTP/1 connection with unread
// bytes.
func (w *timedWriter) comment() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	defer w.limit()()
	if _, err := io.WriteString(w.ResponseWriter, ":\n\n"); err == nil && w.conn.Flush() == nil {
		w.comments.Reset(w.timeout)
	}
}

// end ends the comments, because no one may write after ServeHTTP.
func (w *timedWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended = true; w.comments != nil {
		w.comments.Stop()
	}
}

func (w *timedWriter) limit() (end func()) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(w.timeout))
	return func() { _ = w.conn.SetWriteDeadline(time.Time{}) }
}
