// Command load measures a served catalog under load, and exits with an error if a call fails
// other than by a documented limit, if a mixed call takes more than three times the CPU of a trivial
// tool of the SDK, or if goroutines or descriptors remain two seconds after the load. It requires Linux.
//
//	go run ./mcpadapter/gosdk/testdata/load [-duration 60s] [-sdk]
//
// The load has half of the rate that the sessions reach without a pause. With -sdk, the handler of the
// SDK serves without gosdk.NewHTTPHandler: the calls of clients that hang up then remain.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	duration = flag.Duration("duration", time.Minute, "`duration` of the load")
	sdk      = flag.Bool("sdk", false, "serve with the handler of the SDK alone")
	asServer = flag.String("serve", "", "serve `DIR`; the program starts itself so")
)

const (
	sessions = 200 // clients with calls in equal shares
	files    = 200 // that search_text searches
	edits    = 50  // files that change in a second
	leavers  = 20  // clients that hang up during calls
	silent   = 10  // clients that do not read
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	run := measure
	if *asServer != "" {
		run = func() error { return serve(*asServer) }
	}
	if err := ended(run); err != nil {
		log.Fatal("load: ", err)
	}
}

// ended calls a function, and returns its error or an error of must.
func ended(run func() error) (err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case failure:
			err = failed
		default:
			panic(failed)
		}
	}()
	return run()
}

type failure struct{ error }

// must returns a value, or ends the measurement with an error, after the deferred calls.
func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func measure() error {
	dir := must(os.MkdirTemp("", "load"))
	defer os.RemoveAll(dir)
	check(writeProject(dir))
	server := exec.Command(must(os.Executable()), "-serve", dir, fmt.Sprintf("-sdk=%v", *sdk))
	server.Stderr = os.Stderr
	out := must(server.StdoutPipe())
	check(server.Start())
	defer func() { server.Process.Kill(); server.Wait() }()
	url := strings.TrimSpace(must(bufio.NewReader(out).ReadString('\n')))

	// The first calls fill the caches and pools, which stay.
	phase(url, "/mcp", mixed, time.Second, 0, nil)
	start := usageOf(url)
	most := phase(url, "/mcp", mixed, *duration/10, 0, nil)
	fmt.Printf("saturated: %v\n", most)
	rate := most.rate() / 2
	trivial := phase(url, "/trivial", []string{`{"name":"trivial","arguments":{}}`}, *duration/6, rate, nil)
	fmt.Printf("trivial:   %v\n", trivial)
	alone := phase(url, "/mcp", mixed, *duration/6, rate, nil)
	fmt.Printf("mixed:     %v, %.2f × trivial\n", alone, alone.cost()/trivial.cost())
	load := phase(url, "/mcp", mixed, *duration, rate, func(ctx context.Context) { disturb(ctx, dir, url) })
	ratio := load.cost() / trivial.cost()
	fmt.Printf("load:      %v, %.2f × trivial, beside %d edits a second, %d clients that hang up and %d that do not read\n",
		load, ratio, edits, leavers, silent)
	check(errors.Join(most.failure, trivial.failure, alone.failure, load.failure))
	if ratio > 3 {
		return fmt.Errorf("a mixed call under load takes %.2f times the CPU of a trivial call; want at most 3", ratio)
	}
	rest := usageOf(url)
	for deadline := time.Now().Add(2 * time.Second); rest.Goroutines > start.Goroutines || rest.Descriptors > start.Descriptors; rest = usageOf(url) {
		if time.Now().After(deadline) {
			return fmt.Errorf("two seconds after the load, the server has %d goroutines and %d descriptors; want %d and %d",
				rest.Goroutines, rest.Descriptors, start.Goroutines, start.Descriptors)
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Printf("after:     %d goroutines, %d descriptors; before: %d, %d\n",
		rest.Goroutines, rest.Descriptors, start.Goroutines, start.Descriptors)
	return nil
}

// mixed has the parameters of the calls, in equal shares.
var mixed = []string{
	`{"name":"list_commands","arguments":{}}`,
	`{"name":"get_command","arguments":{"command_name":"command-07"}}`,
	`{"name":"list_directory","arguments":{"path":"list"}}`,
	`{"name":"read_file","arguments":{"path":"list/file-07.txt","end_line":64}}`,
	`{"name":"search_text","arguments":{"pattern":"needle","path":"search"}}`,
}

// writeProject writes 50 commands, a directory of 50 files with 200 lines, and the files to search.
func writeProject(dir string) error {
	var err error
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
	for i := range 50 {
		write(commandFile(i), commandText(0))
		write(fmt.Sprintf("list/file-%02d.txt", i), strings.Repeat("A line of a text file with some words.\n", 200))
	}
	for i := range files {
		text := strings.Repeat("A line of a text file with some words.\n", 100)
		if i%40 == 0 {
			text += "a needle\n"
		}
		write(fmt.Sprintf("search/file-%03d.txt", i), text)
	}
	return err
}

func commandFile(i int) string { return fmt.Sprintf("commands/command-%02d.md", i%50) }

func commandText(version int) string {
	return fmt.Sprintf("---\ndescription: Version %d of a command\nargument-hint: \"[name]\"\n---\n%s", version, strings.Repeat("Review the file $1.\n", 50))
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
	return fmt.Sprintf("%d calls, %.0f a second, %.2f ms CPU a call, p50 %v, p95 %v, %d ended by a limit",
		r.calls, r.rate(), r.cost()/1e6, r.latencies[len(r.latencies)/2], r.latencies[len(r.latencies)*95/100], r.limited)
}

// abandoned counts the calls whose clients hung up.
var abandoned atomic.Int64

// phase calls in all sessions at a rate, or without a pause if the rate is 0. beside runs meanwhile.
func phase(url, path string, calls []string, took time.Duration, rate float64, beside func(context.Context)) (r report) {
	before := usageOf(url)
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
	r.cpu = usageOf(url).CPU - before.CPU
	r.abandoned += int(abandoned.Load())
	return r
}

// disturb edits files, hangs up during calls, and does not read responses, until ctx ends.
func disturb(ctx context.Context, dir, url string) {
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
					log.Print(err)
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
			log.Print(err)
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

// A client has a connection of its own. Clients with an even number use 2025-11-25, the others 2026-07-28.
type client struct {
	url    string
	modern bool
	http   *http.Client
}

func newClient(url string, n int) client {
	return client{url, n%2 == 1, &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: 2 * time.Minute}}
}

func (c client) request(ctx context.Context, params string) *http.Request {
	revision := "2025-11-25"
	if c.modern {
		revision = "2026-07-28"
		params = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},` + params[1:]
	}
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
	r := must(http.NewRequestWithContext(ctx, "POST", c.url, body)) // the address is valid
	_, name, _ := strings.Cut(params, `"name":"`)
	if c.modern {
		_, name, _ = strings.Cut(name, `"name":"`) // after the name of the client
	}
	name, _, _ = strings.Cut(name, `"`)
	for key, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": revision, "Mcp-Method": "tools/call", "Mcp-Name": name} {
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
	case strings.Contains(text, "(TOO_MANY_CALLS)"), strings.Contains(text, "(CALL_TIMEOUT)"), res.StatusCode == http.StatusServiceUnavailable:
		return true, nil
	case res.StatusCode != http.StatusOK, strings.Contains(text, `"isError":true`), !strings.Contains(text, `"result":`):
		return false, fmt.Errorf("%s: status %d: %.1000s", params, res.StatusCode, text)
	}
	return false, nil
}

func usageOf(url string) (u usage) {
	res := must((&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url + "/usage"))
	defer res.Body.Close()
	check(json.NewDecoder(res.Body).Decode(&u))
	return u
}
