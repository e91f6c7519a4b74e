package skillsclient_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

// endless is a response without an end. The server counts the bytes that it sends.
func endless(kind string, status int, sent *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
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
	if testing.Short() {
		t.Skip("a gigabyte")
	}
	for _, tt := range []struct {
		kind   string
		status int
	}{
		{"application/json", http.StatusOK},
		{"application/json", http.StatusBadRequest},
		{"text/event-stream", http.StatusBadRequest},
		{"text/event-stream", http.StatusInternalServerError},
		{"text/event-stream; charset=utf-8", http.StatusNotFound},
		{"text/html", http.StatusForbidden},
	} {
		t.Run(fmt.Sprintf("%s %d", tt.kind, tt.status), func(t *testing.T) {
			var sent atomic.Int64
			server := httptest.NewServer(endless(tt.kind, tt.status, &sent))
			defer server.Close()
			client, err := new(skillsclient.Host).NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			must.Do(t, err)
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
		})
	}
}

func TestLimitResponses(t *testing.T) {
	if testing.Short() {
		t.Skip("long responses, which one goroutine reads")
	}
	const many = 1 << 20 // values of a message
	event := "data: [" + strings.Repeat(",", many-1) + "\n"
	for _, tt := range []struct {
		name, kind string
		status     int
		body       string
		ok         bool
	}{
		{"a file", "application/json", 200, strings.Repeat("x", skillsclient.MaxMessage-1), true},
		{"a large file", "application/json", 200, strings.Repeat("x", skillsclient.MaxMessage+1), false},
		{"a stream", "text/event-stream", 200, strings.Repeat("x", skillsclient.MaxMessage+1), true},
		{"a stream in other letter case", "Text/Event-Stream; charset=utf-8", 200, strings.Repeat("x", skillsclient.MaxMessage+1), true},
		{"another type that begins like a stream", "text/event-streams", 200, strings.Repeat("x", skillsclient.MaxMessage+1), false},
		{"an error", "text/event-stream", 400, strings.Repeat("x", skillsclient.MaxMessage+1), false},
		{"many values", "application/json", 200, strings.Repeat(",", many), true},
		{"too many values", "application/json", 200, strings.Repeat("[", many+1), false},
		{"too many objects", "application/json", 200, strings.Repeat("{},\n\n", many/2+1), false},
		{"commas in a text", "application/json", 200, `"` + strings.Repeat(`,\",`, many) + `"`, true},
		{"values after a text with an escape", "application/json", 200, `"\\"` + strings.Repeat(",", many+1), false},
		{"many values in each event", "text/event-stream", 200, event + "\r\n" + event + "\n" + event, true},
		{"too many values in the lines of an event", "text/event-stream", 200, event + "data: ,\n", false},
		{"too many values after a quote in another line", "text/event-stream", 200, "event: \"\n" + event + event, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			get := &http.Client{Transport: skillsclient.LimitResponses(answer{tt.kind, tt.status, strings.NewReader(tt.body)})}
			response := must.Get(get.Get("http://example.com"))(t)
			if n, err := io.Copy(io.Discard, response.Body); (err == nil) != tt.ok || tt.ok && n != int64(len(tt.body)) {
				t.Errorf("read %d of %d bytes, %v", n, len(tt.body), err)
			}
		})
	}
	must.Fail((&http.Client{Transport: skillsclient.LimitResponses(answer{})}).Get("http://example.com"))(t, "an error of the base", io.EOF)
}

// An answer is a RoundTripper with one response, or without a body an error.
type answer struct {
	kind   string
	status int
	body   io.Reader
}

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	if a.body == nil {
		return nil, io.EOF
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(a.body)}, nil
}

// TestTheSDKEndsAGigabyteOnStdio shows that a transport without HTTP needs no LimitResponses.
func TestTheSDKEndsAGigabyteOnStdio(t *testing.T) {
	client, err := new(skillsclient.Host).NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	must.Do(t, err)
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

// TestChangesDuringCallsAreErrorsOrWholeFiles changes a skill in a loop while clients list,
// get and read. Every content must belong to the entry of the call.
func TestChangesDuringCallsAreErrorsOrWholeFiles(t *testing.T) {
	f := newFake(t, nil)
	stale := int64(0)
	f.ttl = &stale
	change := func(i int) {
		f.add("a", fmt.Sprintf("Body %d.\n", i), map[string]string{"b.txt": fmt.Sprint(i), fmt.Sprintf("%d.txt", i%3): "x"})
	}
	change(0)
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	c := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx)))
	allowed := func(err error) {
		var refused *jsonrpc.Error
		if err != nil && !errors.Is(err, skillsclient.ErrVerification) && !errors.As(err, &refused) &&
			!errors.Is(err, fs.ErrNotExist) && !errors.Is(err, toolshelf.ErrFileRead) {
			t.Error(err)
		}
	}
	stop := make(chan struct{})
	var writer, clients sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				change(i)
			}
		}
	})
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	read := 0
	clients.Go(func() {
		for round := 0; round < rounds || read == 0 && !t.Failed(); round++ {
			list, err := s.List(ctx)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, skill := range list.Skills {
				for _, file := range skill.Files {
					raw, err := s.ReadFile(ctx, skill, file.Path)
					if allowed(err); err != nil {
						continue
					}
					if read++; digest(string(raw)) != file.Digest {
						t.Errorf("%s: got %q, of another entry", file.Path, raw)
					}
				}
			}
		}
	})
	clients.Go(func() {
		for range rounds {
			skill, err := c.GetSkill(ctx, "docs.a", toolshelf.Digests())
			if allowed(err); err != nil {
				continue
			}
			for _, file := range skill.Files {
				if file.Path == "SKILL.md" && file.SHA256 != "" && "sha256:"+file.SHA256 != digest(string(skill.Raw)) {
					t.Errorf("got %q with another digest", skill.Raw)
				}
			}
		}
	})
	clients.Go(func() {
		for range rounds {
			allowed(fs.WalkDir(s.FS(ctx), ".", func(name string, d fs.DirEntry, err error) error {
				if err == nil && path.Ext(name) == ".txt" {
					_, err := fs.ReadFile(s.FS(ctx), name)
					allowed(err)
				}
				return err
			}))
			s.Refresh()
		}
	})
	clients.Wait()
	close(stop)
	writer.Wait()
	if read == 0 {
		t.Error("no file was read")
	}
}
