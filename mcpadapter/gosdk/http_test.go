package gosdk_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

// A gate is a server with the tool "wait". Each call of the tool sends its context to calls, and
// ends with its context or when the test closes open.
type gate struct {
	*mcp.Server
	calls chan context.Context
	open  chan struct{}
}

func newGate(t testing.TB) gate {
	t.Helper()
	g := gate{serverOf(t, nil, manyTools(t, 3)), make(chan context.Context, 100), make(chan struct{})}
	g.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			g.calls <- ctx
			select {
			case <-g.open:
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "waited"}}}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
	g.AddPrompt(&mcp.Prompt{Name: "wait"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return g
}

// overHTTP serves a handler on a socket. The end of the test closes all connections.
func overHTTP(t testing.TB, s *mcp.Server, o *gosdk.HTTPOptions) (*gosdk.HTTPHandler, string) {
	t.Helper()
	h := gosdk.NewHTTPHandler(s, o)
	web := httptest.NewServer(h)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return h, web.URL
}

// post returns a request with one message of a revision.
func post(t testing.TB, url, revision, method, params string) *http.Request {
	t.Helper()
	if revision == revisions[1] {
		params = strings.Replace(params, "{", fmt.Sprintf(`{"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
			`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`, revision), 1)
		params = strings.Replace(params, ",}", "}", 1)
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", revision)
	r.Header.Set("Mcp-Method", method)
	var named struct{ Name string }
	must.Do(t, json.Unmarshal([]byte(params), &named))
	if named.Name != "" {
		r.Header.Set("Mcp-Name", named.Name)
	}
	return r
}

const waitCall = `{"name":"wait"}`

// do sends a request on a connection of its own and returns the status and the body.
func do(t testing.TB, r *http.Request) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	return res.StatusCode, string(must.Get(io.ReadAll(res.Body))(t))
}

// raw opens a connection and writes the head of a request with a body of 100 bytes, and a part of
// the body.
func raw(t testing.TB, url, part string) net.Conn {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn := must.Get(net.Dial("tcp", host))(t)
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n%s", host, part)
	return conn
}

// until waits for a condition.
func until(t testing.TB, event string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not %s", event)
		}
	}
}

// descriptors counts the open files and sockets of the process, or returns 0 on systems other than
// Linux.
func descriptors() int {
	if runtime.GOOS != "linux" { // wine has the /proc of its host
		return 0
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}

func TestHTTPHandlerServesClientsOfEachRevision(t *testing.T) {
	_, url := overHTTP(t, serverOf(t, nil, manyTools(t, 3)), nil)
	for _, revision := range revisions {
		client := must.Get(mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).
			Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: revision}))(t)
		defer client.Close()
		if got := pages(t, client); len(got) != 1 || len(got[0]) != 3 {
			t.Errorf("%s: got %q", revision, got)
		}
		r, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "tool_001"})
		if err != nil || r.Content[0].(*mcp.TextContent).Text != "tool_001" {
			t.Errorf("%s: got %+v, %v", revision, r, err)
		}
	}
}

func TestACallEndsWhenItsClientLeaves(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			g := newGate(t)
			h, url := overHTTP(t, g.Server, nil)
			before := descriptors()
			const clients = 20
			var leave []context.CancelFunc
			var gone sync.WaitGroup
			for range clients {
				ctx, cancel := context.WithCancel(t.Context())
				leave = append(leave, cancel)
				gone.Go(func() {
					client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
					if res, err := client.Do(post(t, url, revision, "tools/call", waitCall).WithContext(ctx)); err == nil {
						io.Copy(io.Discard, res.Body)
						res.Body.Close()
					}
				})
			}
			var calls []context.Context
			for range clients {
				calls = append(calls, <-g.calls)
			}
			for _, cancel := range leave {
				cancel()
			}
			gone.Wait()
			for _, call := range calls {
				<-call.Done()
			}
			must.Do(t, h.Shutdown(t.Context()))
			until(t, "closed: all descriptors of the clients", func() bool { return descriptors() <= before })
		})
	}
}

func TestACallEndsAfterItsTimeout(t *testing.T) {
	const text = "the call ended after 50ms, the limit of a call; request less in one call, or repeat the call later (CALL_TIMEOUT)"
	for _, revision := range revisions {
		g := newGate(t)
		var seen error
		_, url := overHTTP(t, g.Server, &gosdk.HTTPOptions{CallTimeout: 50 * time.Millisecond})
		g.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				result, err := next(ctx, method, req)
				if r, ok := result.(*mcp.CallToolResult); ok {
					seen = r.GetError()
				}
				return result, err
			}
		})
		if status, body := do(t, post(t, url, revision, "tools/call", waitCall)); status != 200 || !strings.Contains(body, "Error: "+text) || !strings.Contains(body, `"isError":true`) {
			t.Errorf("%s: tools/call: got %d %s", revision, status, body)
		}
		for from, err := range map[string]error{"the tool": context.Cause(<-g.calls), "middleware": seen} {
			if limit := (*gosdk.LimitError)(nil); !errors.As(err, &limit) || limit.Option != "CallTimeout" {
				t.Errorf("%s: %s sees %v", revision, from, err)
			}
		}
		if _, body := do(t, post(t, url, revision, "prompts/get", waitCall)); !strings.Contains(body, text) || !strings.Contains(body, `"code":-32603`) {
			t.Errorf("%s: prompts/get: got %s", revision, body)
		}
	}
}

func TestACallBeyondMaxCallsWaitsForAPlace(t *testing.T) {
	g := newGate(t)
	_, url := overHTTP(t, g.Server, &gosdk.HTTPOptions{MaxCalls: 1})
	answers := make(chan string)
	for range 3 {
		go func() {
			_, body := do(t, post(t, url, revisions[0], "tools/call", waitCall))
			answers <- body
		}()
	}
	<-g.calls
	must.Equal(t, "calls that wait", 0, len(g.calls))
	close(g.open)
	for range 3 {
		must.Contain(t, "body", <-answers, "waited")
	}
}

func TestACallWithoutAPlaceIsAnError(t *testing.T) {
	g := newGate(t)
	stubborn, stop := make(chan struct{}), make(chan struct{})
	g.AddTool(&mcp.Tool{Name: "stubborn", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { // ignores its context
			close(stubborn)
			<-stop
			return &mcp.CallToolResult{}, nil
		})
	_, url := overHTTP(t, g.Server, &gosdk.HTTPOptions{MaxCalls: 1, CallTimeout: 50 * time.Millisecond})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do(t, post(t, url, revisions[0], "tools/call", `{"name":"stubborn"}`))
	}()
	<-stubborn
	_, body := do(t, post(t, url, revisions[0], "tools/call", waitCall))
	if !strings.Contains(body, "Error: the server runs 1 calls, the limit; repeat the call later (TOO_MANY_CALLS)") || !strings.Contains(body, `"isError":true`) {
		t.Errorf("got %s", body)
	}
	close(stop)
	<-ended
}

func TestACallThatPanicsIsAnErrorAndFreesItsPlace(t *testing.T) {
	var log bytes.Buffer
	g := newGate(t)
	g.AddTool(&mcp.Tool{Name: "panic", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("a bug") })
	h, url := overHTTP(t, g.Server, &gosdk.HTTPOptions{MaxCalls: 1, CallTimeout: 10 * time.Second,
		Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		_, body := do(t, post(t, url, revisions[0], "tools/call", `{"name":"panic"}`))
		if !strings.Contains(body, "-32603") || !strings.Contains(body, "the call failed") || strings.Contains(body, "a bug") {
			t.Errorf("got %s", body)
		}
	}
	must.Do(t, h.Shutdown(ctx))
	must.Equal(t, "panics in the log", 2,
		strings.Count(log.String(), `msg=panic method=tools/call panic="a bug" stack="goroutine `))
}

// A batch (2025-03-26) would otherwise be thousands of calls in one request.
func TestABatchHasAtMostMaxCallsMessages(t *testing.T) {
	_, url := overHTTP(t, newGate(t).Server, &gosdk.HTTPOptions{MaxCalls: 3})
	for n, want := range map[int]int{1: http.StatusOK, 3: http.StatusOK, 4: http.StatusRequestEntityTooLarge} {
		var messages []string
		for id := range n {
			messages = append(messages, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id))
		}
		r := post(t, url, "2025-03-26", "ping", "{}")
		body := " [" + strings.Join(messages, ",") + "]"
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		status, text := do(t, r)
		if status != want || want == http.StatusOK && strings.Count(text, `"result"`) != n || want != http.StatusOK && text != "the batch has 4 messages; send at most 3 in a request\n" {
			t.Errorf("%d messages: got %d %s", n, status, text)
		}
	}
}

// The SDK decodes the first value of a body, and ignores the rest (go-sdk v1.8.0, readBatch).
func TestABodyIsExactlyOneJSONValue(t *testing.T) {
	var calls atomic.Int32
	g := newGate(t)
	g.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			calls.Add(1)
			return next(ctx, method, req)
		}
	})
	_, url := overHTTP(t, g.Server, &gosdk.HTTPOptions{MaxCalls: 10})
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	batch := "[" + strings.Repeat(ping+",", 4999) + ping + "]"
	for body, want := range map[string]int{
		batch: http.StatusRequestEntityTooLarge, "[" + strings.Repeat("1,", 4999) + "1]": http.StatusRequestEntityTooLarge,
		batch + "x": http.StatusBadRequest, batch + "[]": http.StatusBadRequest, batch[:len(batch)-1]: http.StatusBadRequest,
		"[" + ping + ",]": http.StatusBadRequest, ping + ping: http.StatusBadRequest, ping + "\x00": http.StatusBadRequest, "\ufeff" + ping: http.StatusBadRequest,
		"": http.StatusBadRequest, " ": http.StatusBadRequest, "ping": http.StatusBadRequest, strings.Repeat("[", 1<<19): http.StatusBadRequest,
	} {
		r := post(t, url, "2025-03-26", "ping", "{}")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		if status, text := do(t, r); status != want || calls.Load() > 0 {
			t.Fatalf("%.50q: got %d %s and %d calls", body, status, text, calls.Load())
		}
	}
	r := post(t, url, "2025-03-26", "ping", "{}")
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(" \n"+ping+"\r\n\t ")), int64(len(ping)+6)
	if status, text := do(t, r); status != http.StatusOK || calls.Load() != 1 {
		t.Errorf("blanks around a value: got %d %s", status, text)
	}
}

func TestRequestsBeyondMaxRequestsAreRefused(t *testing.T) {
	_, url := overHTTP(t, newGate(t).Server, &gosdk.HTTPOptions{MaxRequests: 2})
	var open []net.Conn
	until(t, "refused: the third request", func() bool {
		open = append(open, raw(t, url, "{")) // the server refuses a request that arrives during a ping
		status, body := do(t, post(t, url, revisions[0], "ping", "{}"))
		return status == http.StatusServiceUnavailable && body == "the server has 2 open requests, its limit; repeat the request later\n"
	})
	for _, conn := range open {
		conn.Close()
	}
	until(t, "served: a request after the end of another", func() bool {
		status, _ := do(t, post(t, url, revisions[0], "ping", "{}"))
		return status == http.StatusOK
	})
}

func TestSlowBodiesEndAfterTheBodyTimeout(t *testing.T) {
	httptest.NewServer(nil).Close() // the first server of the process opens descriptors that stay open
	before := descriptors()
	t.Run("", func(t *testing.T) {
		_, url := overHTTP(t, newGate(t).Server, &gosdk.HTTPOptions{BodyTimeout: 100 * time.Millisecond})
		conns := make([]net.Conn, 200)
		for i := range conns {
			conns[i] = raw(t, url, "{")
		}
		for _, conn := range conns {
			got, err := io.ReadAll(conn) // until the server closes the connection
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 408 ") || !strings.HasSuffix(string(got), "the body did not arrive within 100ms, the limit\n") {
				t.Fatalf("got %q, %v", got, err)
			}
		}
	})
	until(t, "closed: all descriptors of the clients", func() bool { return descriptors() <= before })
}

// A refused request with a slow body keeps its connection no longer than an accepted request.
func TestSlowBodiesOfRefusedRequestsEndAfterTheBodyTimeout(t *testing.T) {
	_, url := overHTTP(t, newGate(t).Server, &gosdk.HTTPOptions{BodyTimeout: 100 * time.Millisecond, Verify: verify})
	got, err := io.ReadAll(raw(t, url, "{"))
	if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 401 ") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestACallMayOutlastTheBodyTimeout(t *testing.T) {
	g := newGate(t)
	_, url := overHTTP(t, g.Server, &gosdk.HTTPOptions{BodyTimeout: 50 * time.Millisecond, CallTimeout: 200 * time.Millisecond})
	if _, body := do(t, post(t, url, revisions[1], "tools/call", waitCall)); !strings.Contains(body, "CALL_TIMEOUT") {
		t.Errorf("got %s", body)
	}
}

func TestBodiesHaveALimit(t *testing.T) {
	_, url := overHTTP(t, newGate(t).Server, &gosdk.HTTPOptions{MaxBodyBytes: 1000})
	for size, want := range map[int]int{1000: http.StatusOK, 1001: http.StatusRequestEntityTooLarge} {
		r := post(t, url, revisions[0], "ping", "{}")
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body) + strings.Repeat(" ", size-len(body)))) // chunked
		r.ContentLength = -1
		if status, text := do(t, r); status != want || want != http.StatusOK && text != "the body has more than 1000 bytes, the limit\n" {
			t.Errorf("%d bytes: got %d %s", size, status, text)
		}
	}
}

// protocols names the versions of HTTP without encryption.
func protocols() map[string]*http.Protocols {
	one, two := new(http.Protocols), new(http.Protocols)
	one.SetHTTP1(true)
	two.SetUnencryptedHTTP2(true)
	return map[string]*http.Protocols{"HTTP/1.1": one, "HTTP/2": two}
}

// speak serves a handler in a version of HTTP, and returns a client of the version.
func speak(t *testing.T, version *http.Protocols, h http.Handler) (*http.Client, string) {
	web := httptest.NewUnstartedServer(h)
	web.Config.Protocols = version
	web.Start()
	transport := &http.Transport{Protocols: version}
	t.Cleanup(func() { transport.CloseIdleConnections(); web.Close() })
	return &http.Client{Transport: transport}, web.URL
}

func TestAClientThatDoesNotReadEndsAfterTheWriteTimeout(t *testing.T) {
	for name, version := range protocols() {
		t.Run(name, func(t *testing.T) {
			s := newGate(t).Server
			s.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 12<<20)}}}, nil
				})
			h := gosdk.NewHTTPHandler(s, &gosdk.HTTPOptions{WriteTimeout: 100 * time.Millisecond})
			ended := make(chan struct{})
			client, url := speak(t, version, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				h.ServeHTTP(w, r)
			}))
			res := must.Get(client.Do(post(t, url, revisions[0], "tools/call", waitCall)))(t)
			<-ended
			res.Body.Close()
		})
	}
}

func TestASubscriptionOutlastsAllTimeouts(t *testing.T) {
	for name, version := range protocols() {
		t.Run(name, func(t *testing.T) {
			g := newGate(t)
			const timeout = 50 * time.Millisecond
			h := gosdk.NewHTTPHandler(g.Server, &gosdk.HTTPOptions{CallTimeout: 2 * timeout, BodyTimeout: timeout, WriteTimeout: timeout})
			client, url := speak(t, version, h)
			res := must.Get(client.Do(post(t, url, revisions[1], "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)))(t)
			defer res.Body.Close()
			lines := bufio.NewScanner(res.Body)
			for lines.Scan() && !strings.Contains(lines.Text(), "acknowledged") {
			}
			call := must.Get(client.Do(post(t, url, revisions[1], "tools/call", waitCall)))(t) // lasts for the CallTimeout
			io.Copy(io.Discard, call.Body)
			call.Body.Close()
			addTool(g.Server, "new")
			for lines.Scan() && !strings.Contains(lines.Text(), "list_changed") {
			}
			must.Do(t, lines.Err())
			must.Contain(t, "Text", lines.Text(), "list_changed")
		})
	}
}

// net/http does not notice the end of a connection that has bytes after the request.
func TestASubscriptionEndsAfterItsClientLeaves(t *testing.T) {
	for name, trailing := range map[string]string{"no bytes after the request": "", "bytes after the request": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			h := gosdk.NewHTTPHandler(newGate(t).Server, &gosdk.HTTPOptions{WriteTimeout: 50 * time.Millisecond})
			ended := make(chan struct{})
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				h.ServeHTTP(w, r)
			}))
			defer web.Close()
			conn := must.Get(net.Dial("tcp", web.Listener.Addr().String()))(t)
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(30 * time.Second))
			must.Do(t, post(t, web.URL, revisions[1], "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`).Write(conn))
			lines := bufio.NewScanner(conn)
			for _, want := range []string{"acknowledged", ":", ":"} {
				for lines.Scan() && !strings.Contains(lines.Text(), want) {
				}
			}
			must.Equal(t, "Text", ":", lines.Text())
			io.WriteString(conn, trailing)
			conn.Close()
			<-ended
		})
	}
}

func TestHosts(t *testing.T) {
	h := gosdk.NewHTTPHandler(newGate(t).Server, &gosdk.HTTPOptions{Hosts: []string{"MCP.example.com", "port.example:8443", ""}})
	for _, tt := range []struct {
		host   string
		status int
	}{
		{"mcp.example.com", 200},
		{"mcp.example.com:8443", 200},
		{"MCP.EXAMPLE.COM", 200},
		{"port.example", 200},
		{"port.example:8443", 200},
		{"localhost:8080", 200},
		{"192.168.1.20:8080", 200},
		{"[fd00::1]:8080", 200},
		{"[fd00::1]", 200},
		{"attacker.example", 403},
		{"attacker.example:8080", 403},
		{"mcp.example.com.attacker.example", 403},
		{"x.mcp.example.com", 403},
		{"192.168.1.20.attacker.example", 403},
		{"localhost.attacker.example", 403},
		{"0x7f.1", 403},
		{"", 403},
	} {
		r := post(t, "http://x", revisions[0], "ping", "{}")
		r.Host = tt.host
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != tt.status {
			t.Errorf("%q: status %d, want %d", tt.host, w.Code, tt.status)
		}
	}
}

// The handler accepts no unlisted name at any address, because a browser on the network of the
// server sends the name of a rebinding website.
func TestWithoutHostsOnlyAddressesAreAccepted(t *testing.T) {
	h := gosdk.NewHTTPHandler(newGate(t).Server, nil)
	for host, want := range map[string]int{"192.168.1.20:8080": 200, "127.0.0.1:8080": 200, "localhost": 200, "attacker.example:8080": 403} {
		for _, local := range []string{"127.0.0.1", "192.168.1.20"} {
			r := post(t, "http://x", revisions[0], "ping", "{}")
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP(local), Port: 8080})))
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			must.Equal(t, host, want, w.Code)
		}
	}
}

func TestOrigins(t *testing.T) {
	h := gosdk.NewHTTPHandler(newGate(t).Server, &gosdk.HTTPOptions{Origins: []string{"https://app.example.com"}})
	for _, tt := range []struct {
		name, method, origin, site string
		status                     int
		allowed                    string
	}{
		{name: "a program", method: "POST", status: 200},
		{name: "a page of the server", method: "POST", origin: "http://10.0.0.1:8080", site: "same-origin", status: 200},
		{name: "a listed page", method: "POST", origin: "https://app.example.com", site: "cross-site", status: 200, allowed: "https://app.example.com"},
		{name: "the preflight of a listed page", method: "OPTIONS", origin: "https://app.example.com", site: "cross-site", status: 204, allowed: "https://app.example.com"},
		{name: "another page", method: "POST", origin: "https://attacker.example", site: "cross-site", status: 403},
		{name: "another page in an old browser", method: "POST", origin: "https://attacker.example", status: 403},
		{name: "another page of the listed host", method: "POST", origin: "http://app.example.com", status: 403},
		{name: "a page without an origin", method: "POST", origin: "null", status: 403},
		{name: "the preflight of another page", method: "OPTIONS", origin: "https://attacker.example", site: "cross-site", status: 405},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := post(t, "http://10.0.0.1:8080", revisions[0], "ping", "{}")
			r.Method = tt.method
			for name, value := range map[string]string{"Origin": tt.origin, "Sec-Fetch-Site": tt.site} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != tt.status || w.Header().Get("Access-Control-Allow-Origin") != tt.allowed {
				t.Errorf("status %d, allowed %q; want %d, %q", w.Code, w.Header().Get("Access-Control-Allow-Origin"), tt.status, tt.allowed)
			}
		})
	}
}

// verify accepts the tokens "good" and "narrow".
func verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	info := &auth.TokenInfo{UserID: "ann", Scopes: []string{"read"}, Expiration: time.Now().Add(time.Hour)}
	switch token {
	case "good":
		return info, nil
	case "narrow":
		info.Scopes = nil
		return info, nil
	case "old":
		info.Expiration = time.Now().Add(-time.Hour)
		return info, nil
	case "outage":
		return nil, errors.New("dial tcp 10.9.8.7:443: refused")
	case "outage+4711":
		return nil, errors.New(`Get "https://10.9.8.7/?token=outage%2B4711": the token outage+4711 is unreachable`)
	}
	return nil, fmt.Errorf("%w: unknown", auth.ErrInvalidToken)
}

func TestBearerTokens(t *testing.T) {
	const metadata = `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="read"`
	h := gosdk.NewHTTPHandler(newGate(t).Server, &gosdk.HTTPOptions{Hosts: []string{"mcp.example.com"}, Verify: verify,
		Bearer: auth.RequireBearerTokenOptions{Scopes: []string{"read"}}, Metadata: &oauthex.ProtectedResourceMetadata{Resource: "https://mcp.example.com/mcp"}})
	plain := gosdk.NewHTTPHandler(newGate(t).Server, &gosdk.HTTPOptions{Hosts: []string{"mcp.example.com"}, Verify: verify})
	for _, tt := range []struct {
		name, authorization string
		status              int
		challenge, plain    string // with and without metadata and scopes
	}{
		{"a valid token", "Bearer good", 200, "", ""},
		{"no token", "", 401, "Bearer " + metadata, "Bearer"},
		{"an unknown token", "Bearer bad", 401, `Bearer error="invalid_token", ` + metadata, `Bearer error="invalid_token"`},
		{"an expired token", "Bearer old", 401, `Bearer error="invalid_token", ` + metadata, `Bearer error="invalid_token"`},
		{"another scheme", "Basic Z29vZA==", 401, `Bearer error="invalid_token", ` + metadata, `Bearer error="invalid_token"`},
		{"a token without the scope", "Bearer narrow", 403, `Bearer error="insufficient_scope", ` + metadata, ""},
		{"a verifier that fails", "Bearer outage", 500, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for want, h := range map[*string]*gosdk.HTTPHandler{&tt.challenge: h, &tt.plain: plain} {
				r := post(t, "https://mcp.example.com/mcp", revisions[0], "ping", "{}")
				r.Header.Set("Authorization", tt.authorization)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				status := tt.status
				if h == plain && status == 403 {
					status = 200 // requires no scope
				}
				must.Equal(t, "Code", status, w.Code)
				must.Equal(t, "Get", *want, w.Header().Get("WWW-Authenticate"))
				must.NotContain(t, "the body tells the cause", w.Body.String(), "10.9.8.7")
			}
		})
	}
}

func TestToolsReceiveTheVerifiedToken(t *testing.T) {
	s := newGate(t).Server
	users := make(chan string, 1)
	s.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			users <- r.Extra.TokenInfo.UserID
			return &mcp.CallToolResult{}, nil
		})
	_, url := overHTTP(t, s, &gosdk.HTTPOptions{Verify: verify})
	r := post(t, url, revisions[1], "tools/call", waitCall)
	r.Header.Set("Authorization", "Bearer good")
	do(t, r)
	must.Equal(t, "<-users", "ann", <-users)
}

func TestMetadataOfTheResourceNeedsNoToken(t *testing.T) {
	for resource, path := range map[string]string{
		"https://mcp.example.com":          "/.well-known/oauth-protected-resource",
		"https://mcp.example.com/":         "/.well-known/oauth-protected-resource",
		"https://mcp.example.com/team/mcp": "/.well-known/oauth-protected-resource/team/mcp",
	} {
		h := gosdk.NewHTTPHandler(newGate(t).Server, &gosdk.HTTPOptions{Hosts: []string{"mcp.example.com"}, Verify: verify,
			Metadata: &oauthex.ProtectedResourceMetadata{Resource: resource, AuthorizationServers: []string{"https://login.example.com"}}})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "https://mcp.example.com"+path, nil))
		want := fmt.Sprintf(`{"resource":%q,"authorization_servers":["https://login.example.com"]}`+"\n", resource)
		must.Match(t, resource, want, w.Body.String())
		must.Equal(t, resource, 200, w.Code)
	}
}

func TestNewHTTPHandlerPanicsOnInvalidOptions(t *testing.T) {
	s := newGate(t).Server
	for name, make := range map[string]func(){
		"no server":                func() { gosdk.NewHTTPHandler(nil, nil) },
		"an origin without scheme": func() { gosdk.NewHTTPHandler(s, &gosdk.HTTPOptions{Origins: []string{"app.example.com"}}) },
		"metadata without resource": func() {
			gosdk.NewHTTPHandler(s, &gosdk.HTTPOptions{Verify: verify, Metadata: &oauthex.ProtectedResourceMetadata{}})
		},
		"metadata without Verify": func() {
			gosdk.NewHTTPHandler(s, &gosdk.HTTPOptions{Metadata: &oauthex.ProtectedResourceMetadata{Resource: "https://mcp.example.com"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "gosdk: NewHTTPHandler: ") {
					t.Errorf("panic %q", text)
				}
			}()
			make()
		})
	}
}

func TestShutdownWaitsForRunningCalls(t *testing.T) {
	g := newGate(t)
	h, url := overHTTP(t, g.Server, nil)
	answer := make(chan string)
	go func() {
		_, body := do(t, post(t, url, revisions[0], "tools/call", waitCall))
		answer <- body
	}()
	<-g.calls
	ended := make(chan error, 2)
	for range 2 { // Shutdown may be called again
		go func() { ended <- h.Shutdown(ctx) }()
	}
	until(t, "refused: a request after the begin of Shutdown", func() bool {
		status, body := do(t, post(t, url, revisions[0], "ping", "{}"))
		return status == http.StatusServiceUnavailable && body == "the server shuts down\n"
	})
	must.Equal(t, "the end of Shutdown", 0, len(ended))
	close(g.open)
	must.Contain(t, "body", <-answer, "waited")
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	must.Do(t, h.Shutdown(ctx))
}

func TestShutdownAnswersCallsThatOutlastItsContext(t *testing.T) {
	g := newGate(t)
	h, url := overHTTP(t, g.Server, nil)
	answer := make(chan string)
	go func() {
		_, body := do(t, post(t, url, revisions[0], "tools/call", waitCall))
		answer <- body
	}()
	<-g.calls
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	must.Do(t, h.Shutdown(ctx))
	must.Contain(t, "body", <-answer, "Error: the server shuts down; repeat the call later (SHUTDOWN)")
}

// A program may end as soon as Shutdown returns, before net/http sends the response.
func TestAnswersAreSentBeforeShutdownReturns(t *testing.T) {
	g := newGate(t)
	h := gosdk.NewHTTPHandler(g.Server, nil)
	read := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		<-read // net/http sends the rest of the response after ServeHTTP
	}))
	defer web.Close()
	defer close(read)
	go func() {
		<-g.calls
		ended, cancel := context.WithCancel(ctx)
		cancel()
		h.Shutdown(ended)
	}()
	client := &http.Client{Timeout: 30 * time.Second}
	res := must.Get(client.Do(post(t, web.URL, revisions[0], "tools/call", waitCall)))(t)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "SHUTDOWN") {
	}
	must.Do(t, lines.Err())
}

func TestShutdownReportsCallsThatIgnoreTheirContext(t *testing.T) {
	g := newGate(t)
	begun, stop := make(chan struct{}), make(chan struct{})
	g.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(begun)
			<-stop
			return &mcp.CallToolResult{}, nil
		})
	h, url := overHTTP(t, g.Server, nil)
	var calls sync.WaitGroup
	calls.Go(func() { do(t, post(t, url, revisions[0], "tools/call", waitCall)) })
	<-begun
	ended, cancel := context.WithCancel(ctx)
	cancel()
	must.Is(t, "Shutdown", context.Canceled, h.Shutdown(ended), "1 requests still run")
	close(stop)
	must.Do(t, h.Shutdown(ctx))
	calls.Wait()
}

func TestShutdownEndsSubscriptions(t *testing.T) {
	h, url := overHTTP(t, newGate(t).Server, &gosdk.HTTPOptions{CallTimeout: time.Nanosecond}) // no limit of a subscription
	res := must.Get(http.DefaultClient.Do(post(t, url, revisions[1], "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)))(t)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "acknowledged") {
	}
	must.Do(t, h.Shutdown(ctx))
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	must.Do(t, lines.Err())
	must.Contain(t, "rest", strings.Join(rest, ""), `"result"`)
}

func TestOtherTransportsOfTheServerHaveNoLimit(t *testing.T) {
	g := newGate(t)
	gosdk.NewHTTPHandler(g.Server, &gosdk.HTTPOptions{CallTimeout: time.Nanosecond})
	close(g.open)
	r, err := connect(t, g.Server, revisions[0], nil).CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
	if err != nil || r.IsError {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestLogHasRefusalsAndCallsButNoTokensAndArguments(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	g := newGate(t)
	close(g.open)
	endless := func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
		if token == "endless-4711" {
			return &auth.TokenInfo{}, nil
		}
		return verify(ctx, token, r)
	}
	h, url := overHTTP(t, g.Server, &gosdk.HTTPOptions{Verify: endless, Logger: slog.New(slog.NewTextHandler(&lockedWriter{&mu, &log}, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	for token, params := range map[string]string{"good": `{"name":"wait","arguments":{"secret":"argument-4711"}}`, "bad-4711": "{}", "outage+4711": "{}", "endless-4711": "{}"} {
		r := post(t, url, revisions[0], "tools/call", params)
		r.Header.Set("Authorization", "Bearer "+token)
		do(t, r)
	}
	must.Do(t, h.Shutdown(ctx))
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"level=DEBUG msg=call method=tools/call ", " tool=wait", "level=WARN msg=refused status=401 reason=token remote=127.0.0.1:",
		`level=ERROR msg=verify error="Get \"https://10.9.8.7/?token=TOKEN\": the token TOKEN is unreachable"`,
		`level=ERROR msg=verify error="the token has no expiration; set TokenInfo.Expiration, or Bearer.AllowMissingExpiration"`} {
		must.Contain(t, want, log.String(), want)
	}
	must.NotContain(t, "a secret in", log.String(), "4711")
}

func TestALongNameDoesNotFillTheLog(t *testing.T) {
	var log bytes.Buffer
	h := gosdk.NewHTTPHandler(newGate(t).Server, &gosdk.HTTPOptions{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	h.ServeHTTP(httptest.NewRecorder(), post(t, "http://localhost", revisions[0], "tools/call", fmt.Sprintf(`{"name":"unknown%s"}`, strings.Repeat("x", 100_000))))
	if !strings.Contains(log.String(), " tool=unknownxxx") || log.Len() > 1000 {
		t.Errorf("%d bytes: %.1000s", log.Len(), &log)
	}
}

// A lockedWriter is a writer for several goroutines.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// A countingListener counts the writes to its connections.
type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return countingConn{conn, l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

func TestAnAnswerIsOneWrite(t *testing.T) {
	var writes atomic.Int64
	web := httptest.NewUnstartedServer(gosdk.NewHTTPHandler(newGate(t).Server, nil))
	web.Listener = countingListener{web.Listener, &writes}
	web.Start()
	defer web.Close()
	for _, revision := range revisions {
		writes.Store(0)
		if status, body := do(t, post(t, web.URL, revision, "tools/call", `{"name":"tool_001"}`)); status != 200 {
			t.Errorf("got %d %s", status, body)
		}
		must.Equal(t, revision, 1, writes.Load())
	}
}
