package gosdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof" // at /debug/pprof, to find the cost of a call
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

var (
	loaded   = flag.Duration("load", 0, "`duration` of the load of BenchmarkLoad")
	bySDK    = flag.Bool("sdk", false, "serve the load with the handler of the SDK alone")
	servedBy = flag.String("serve", "", "serve `DIR`; BenchmarkLoad starts its server so")
)

const (
	sessions = 200 // clients with calls in equal shares
	searched = 200 // files that search_text searches
	edits    = 50  // files that change in a second
	leavers  = 20  // clients that hang up during calls
	silent   = 10  // clients that do not read
)

// BenchmarkLoad measures a served catalog under load, and fails if a call fails other than by a
// documented limit, if a mixed call takes more than three times the CPU of a trivial tool of the
// SDK, or if goroutines or descriptors remain two seconds after the load.
//
// .ci/nightly starts the benchmark with a duration -load. The load has half of the rate that the
// sessions reach without a pause. With -sdk, the handler of the SDK serves without
// gosdk.NewHTTPHandler: the calls of clients that hang up then remain.
func BenchmarkLoad(b *testing.B) {
	if *servedBy != "" {
		serveLoad(b, *servedBy)
	}
	if *loaded == 0 {
		b.Skip("without -load")
	}
	dir := catalogtest.Disk(b, loadProject())
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b).(*net.TCPListener)
	socket := must.Get(listener.File())(b)
	server := exec.Command(must.Get(os.Executable())(b), "-test.run=^$", "-test.bench=^BenchmarkLoad$",
		"-serve", dir, fmt.Sprintf("-sdk=%v", *bySDK))
	server.Stderr, server.ExtraFiles = os.Stderr, []*os.File{socket}
	must.Do(b, server.Start())
	defer func() { server.Process.Kill(); server.Wait() }()
	must.Do(b, errors.Join(listener.Close(), socket.Close()))
	url := "http://" + listener.Addr().String()

	// The first calls fill the caches and pools, which stay.
	phase(b, url, "/mcp", mixed, time.Second, 0, nil)
	start := usageOf(b, url)
	most := phase(b, url, "/mcp", mixed, *loaded/10, 0, nil)
	b.Logf("saturated: %v", most)
	rate := most.rate() / 2
	call := []string{`{"name":"trivial","arguments":{}}`}
	trivial := phase(b, url, "/trivial", call, *loaded/6, rate, nil)
	b.Logf("trivial:   %v", trivial)
	alone := phase(b, url, "/mcp", mixed, *loaded/6, rate, nil)
	b.Logf("mixed:     %v, %.2f × trivial", alone, alone.cost()/trivial.cost())
	disturbed := func(ctx context.Context) { disturb(b, ctx, dir, url) }
	load := phase(b, url, "/mcp", mixed, *loaded, rate, disturbed)
	ratio := load.cost() / trivial.cost()
	b.Logf("load:      %v, %.2f × trivial, beside %d edits a second, "+
		"%d clients that hang up and %d that do not read", load, ratio, edits, leavers, silent)
	must.Do(b, errors.Join(most.failure, trivial.failure, alone.failure, load.failure))
	if ratio > 3 {
		b.Errorf("a mixed call under load takes %.2f times the CPU of a trivial call; want at most 3",
			ratio)
	}
	rest := usageOf(b, url)
	remain := func() bool {
		return rest.Goroutines > start.Goroutines || rest.Descriptors > start.Descriptors
	}
	for deadline := time.Now().Add(2 * time.Second); remain(); rest = usageOf(b, url) {
		if time.Now().After(deadline) {
			b.Fatalf("two seconds after the load, the server has %+v; want %+v", rest, start)
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.Logf("after:     %+v; before: %+v", rest, start)
}

// mixed has the parameters of the calls, in equal shares.
var mixed = []string{
	`{"name":"list_commands","arguments":{}}`,
	`{"name":"get_command","arguments":{"command_name":"command-07"}}`,
	`{"name":"list_directory","arguments":{"path":"list"}}`,
	`{"name":"read_file","arguments":{"path":"list/file-07.txt","end_line":64}}`,
	`{"name":"search_text","arguments":{"pattern":"needle","path":"search"}}`,
}

// loadProject returns 50 commands, a directory of 50 files with 200 lines, and the files to search.
func loadProject() map[string]string {
	const line = "A line of a text file with some words.\n"
	files := map[string]string{}
	for i := range 50 {
		files[commandFile(i)] = commandText(0)
		files[fmt.Sprintf("list/file-%02d.txt", i)] = strings.Repeat(line, 200)
	}
	for i := range searched {
		text := strings.Repeat(line, 100)
		if i%40 == 0 {
			text += "a needle\n"
		}
		files[fmt.Sprintf("search/file-%03d.txt", i)] = text
	}
	return files
}

func commandFile(i int) string { return fmt.Sprintf("commands/command-%02d.md", i%50) }

func commandText(version int) string {
	const header = "---\ndescription: Version %d of a command\nargument-hint: \"[name]\"\n---\n"
	return fmt.Sprintf(header, version) + strings.Repeat("Review the file $1.\n", 50)
}

// A report describes a phase.
type report struct {
	calls, limited int
	abandoned      int // calls whose clients hung up
	took, cpu      time.Duration
	latencies      []time.Duration
	failure        error
}

func (r report) rate() float64 { return float64(r.calls) / r.took.Seconds() }
func (r report) cost() float64 { return float64(r.cpu) / float64(r.calls+r.abandoned) }

func (r report) String() string {
	slices.Sort(r.latencies)
	half, most := r.latencies[len(r.latencies)/2], r.latencies[len(r.latencies)*95/100]
	const text = "%d calls, %.0f a second, %.2f ms CPU a call, p50 %v, p95 %v, %d ended by a limit"
	return fmt.Sprintf(text, r.calls, r.rate(), r.cost()/1e6, half, most, r.limited)
}

// abandoned counts the calls whose clients hung up.
var abandoned atomic.Int64

// phase calls in all sessions at a rate, or without a pause if the rate is 0. beside runs
// meanwhile.
func phase(
	b *testing.B, url, path string, calls []string, took time.Duration, rate float64,
	beside func(context.Context),
) (r report) {
	before := usageOf(b, url)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var others, clients sync.WaitGroup
	if beside != nil {
		others.Go(func() { beside(ctx) })
	}
	var next atomic.Int64
	var mu sync.Mutex
	r.abandoned = -int(abandoned.Load())
	begun := time.Now()
	for n := range sessions {
		clients.Go(func() {
			c := newClient(url+path, n)
			defer c.http.CloseIdleConnections()
			for {
				i := next.Add(1)
				due := begun.Add(time.Duration(float64(i) / max(rate, 1) * float64(time.Second)))
				if rate == 0 {
					due = time.Now()
				}
				if due.After(begun.Add(took)) {
					return
				}
				time.Sleep(time.Until(due))
				sent := time.Now()
				limited, err := c.call(context.Background(), calls[int(i)%len(calls)])
				mu.Lock()
				r.calls++
				r.latencies = append(r.latencies, time.Since(sent))
				if limited {
					r.limited++
				}
				if err != nil && r.failure == nil {
					r.failure = err
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	r.took = time.Since(begun)
	cancel()
	others.Wait()
	r.cpu = usageOf(b, url).CPU - before.CPU
	r.abandoned += int(abandoned.Load())
	return r
}

// disturb edits files, hangs up during calls, and does not read responses, until ctx ends.
func disturb(b *testing.B, ctx context.Context, dir, url string) {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		for i, tick := 1, time.NewTicker(time.Second/time.Duration(edits)); ; i++ {
			select {
			case <-tick.C:
				name, text := commandFile(i/2), commandText(i)
				if i%2 == 0 {
					name, text = fmt.Sprintf("list/edited-%02d.txt", i%7), commandText(i)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					b.Error(err)
				}
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	})
	for n := range leavers {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				c := newClient(url+"/mcp", n)
				leave, cancel := context.WithTimeout(ctx, time.Duration(1+i%10)*time.Millisecond)
				if _, err := c.call(leave, mixed[4]); err != nil {
					abandoned.Add(1)
				}
				cancel()
				leave, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				c.call(leave, `{"name":"wait","arguments":{}}`) // a call without a cost, which is not counted
				cancel()
				c.http.CloseIdleConnections()
				select {
				case <-ctx.Done():
				case <-time.After(250 * time.Millisecond):
				}
			}
		})
	}
	for n := range silent {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		request := newClient(url+"/mcp", n).request(ctx, mixed[3])
		all.Go(func() {
			for range 1000 { // requests whose responses fill the buffers of the connection
				if request.Write(conn) != nil {
					return
				}
				request.Body, _ = request.GetBody()
			}
			<-ctx.Done()
		})
		context.AfterFunc(ctx, func() { conn.Close() }) // ends a blocked write
	}
	<-ctx.Done()
}

// A client has a connection of its own. Clients with an even number use 2025-11-25, the others
// 2026-07-28.
type client struct {
	url    string
	modern bool
	http   *http.Client
}

func newClient(url string, n int) client {
	transport := &http.Transport{MaxConnsPerHost: 1}
	return client{url, n%2 == 1, &http.Client{Transport: transport, Timeout: 2 * time.Minute}}
}

func (c client) request(ctx context.Context, params string) *http.Request {
	revision := "2025-11-25"
	if c.modern {
		revision = "2026-07-28"
		params = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}},` + params[1:]
	}
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
	r := must.Get(http.NewRequestWithContext(ctx, "POST", c.url, body))(must.Program)
	_, name, _ := strings.Cut(params, `"name":"`)
	if c.modern {
		_, name, _ = strings.Cut(name, `"name":"`) // after the name of the client
	}
	name, _, _ = strings.Cut(name, `"`)
	for key, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": revision, "Mcp-Method": "tools/call", "Mcp-Name": name,
	} {
		r.Header.Set(key, value)
	}
	return r
}

// call reports whether a documented limit ended the call, and returns any other error.
func (c client) call(ctx context.Context, params string) (limited bool, err error) {
	res, err := c.http.Do(c.request(ctx, params))
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	switch text := string(body); {
	case err != nil:
		return false, err
	case strings.Contains(text, "(TOO_MANY_CALLS)"), strings.Contains(text, "(CALL_TIMEOUT)"),
		res.StatusCode == http.StatusServiceUnavailable:
		return true, nil
	case res.StatusCode != http.StatusOK, strings.Contains(text, `"isError":true`),
		!strings.Contains(text, `"result":`):
		return false, fmt.Errorf("%s: status %d: %.1000s", params, res.StatusCode, text)
	}
	return false, nil
}

func usageOf(b *testing.B, url string) (u usage) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res := must.Get(client.Get(url + "/usage"))(b)
	defer res.Body.Close()
	must.Do(b, json.NewDecoder(res.Body).Decode(&u))
	return u
}

// usage is the use of resources of the server's process.
type usage struct {
	CPU                     time.Duration // of the process since its start
	Goroutines, Descriptors int
}

// serveLoad serves a directory and the tool "wait" at /mcp, a trivial tool of the SDK alone at
// /trivial, and the usage at /usage, on the socket that is the first extra file.
func serveLoad(b *testing.B, dir string) {
	adapter := must.Get(mcpadapter.New(catalogtest.Open(b, toolshelf.WithRoot(dir))))(b)
	shelf := mcp.NewServer(&mcp.Implementation{Name: "load", Version: "1.0.0"}, nil)
	must.Do(b, gosdk.Register(shelf, adapter))
	shelf.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) { // a long call
			<-ctx.Done()
			return &mcp.CallToolResult{}, nil
		})
	trivial := mcp.NewServer(&mcp.Implementation{Name: "load", Version: "1.0.0"}, nil)
	trivial.AddTool(&mcp.Tool{Name: "trivial", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "trivial"}}}, nil
		})
	alone := func(server *mcp.Server) http.Handler {
		get := func(*http.Request) *mcp.Server { return server }
		return mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
	}
	if *bySDK {
		http.Handle("/mcp", alone(shelf))
	} else {
		http.Handle("/mcp", gosdk.NewHTTPHandler(shelf, nil))
	}
	http.Handle("/trivial", alone(trivial))
	http.HandleFunc("/usage", func(w http.ResponseWriter, _ *http.Request) {
		runtime.GC() // ends the goroutines of unused timers and finalizers
		var times syscall.Rusage
		failed := syscall.Getrusage(syscall.RUSAGE_SELF, &times)
		descriptors, err := os.ReadDir("/proc/self/fd")
		if err := errors.Join(failed, err); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		cpu := time.Duration(times.Utime.Nano() + times.Stime.Nano())
		json.NewEncoder(w).Encode(usage{cpu, runtime.NumGoroutine(), len(descriptors)})
	})
	listener := must.Get(net.FileListener(os.NewFile(3, "socket")))(b)
	server := http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	must.Do(b, server.Serve(listener))
}
