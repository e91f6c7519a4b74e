package skillsclient_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

// endless is a JSON response without an end. The server counts the bytes that it sends.
func endless(sent *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		spaces := []byte(strings.Repeat(" ", 1<<20))
		for range 1 << 10 { // a gigabyte
			n, err := w.Write(spaces)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
}

func TestLimitResponsesEndsAGigabyte(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(endless(&sent))
	defer server.Close()
	client, err := new(skillsclient.Host).NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	_, err = client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:   server.URL,
		HTTPClient: &http.Client{Transport: skillsclient.LimitResponses(transport)},
	}, nil)
	if err == nil {
		t.Error("the client reads a gigabyte")
	}
	server.CloseClientConnections()
	if n := sent.Load(); n > 100<<20 {
		t.Errorf("the server sent %d bytes", n)
	}
}

func TestLimitResponsesLeavesOtherResponses(t *testing.T) {
	for _, tt := range []struct {
		kind string
		size int
		ok   bool
	}{
		{"application/json", skillsclient.MaxMessage - 1, true},
		{"application/json", skillsclient.MaxMessage + 1, false},
		{"text/event-stream", skillsclient.MaxMessage + 1, true},
	} {
		get := &http.Client{Transport: skillsclient.LimitResponses(answer{tt.kind, strings.NewReader(strings.Repeat("x", tt.size))})}
		response, err := get.Get("http://example.com")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, response.Body); (err == nil) != tt.ok || tt.ok && n != int64(tt.size) {
			t.Errorf("%s: read %d of %d bytes, %v", tt.kind, n, tt.size, err)
		}
	}
	if _, err := (&http.Client{Transport: skillsclient.LimitResponses(answer{})}).Get("http://example.com"); !errors.Is(err, io.EOF) {
		t.Errorf("an error of the base: %v", err)
	}
}

// An answer is a RoundTripper with one response, or without a body an error.
type answer struct {
	kind string
	body io.Reader
}

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	if a.body == nil {
		return nil, io.EOF
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(a.body)}, nil
}

// TestTheSDKEndsAGigabyteOnStdio shows that a transport without HTTP needs no LimitResponses.
func TestTheSDKEndsAGigabyteOnStdio(t *testing.T) {
	client, err := new(skillsclient.Host).NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int64
	read, write := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for range 1 << 10 {
			n, err := write.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}()
	_, err = client.Connect(ctx, &mcp.IOTransport{Reader: read, Writer: nopWriter{}, MaxLineLength: 1 << 20}, nil)
	if err == nil {
		t.Error("the client reads a gigabyte")
	}
	read.Close()
	<-ended
	if n := sent.Load(); n > 10<<20 {
		t.Errorf("the server sent %d bytes", n)
	}
}

type nopWriter struct{}

func (nopWriter) Write(p []byte) (int, error) { return len(p), nil }
func (nopWriter) Close() error                { return nil }
