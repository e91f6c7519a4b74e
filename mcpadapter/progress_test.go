package mcpadapter_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// slowTools are the arguments of the tools that report their progress.
var slowTools = map[string]string{
	"list_directory":  `{"path":"dir-0"}`,
	"directory_tree":  `{}`,
	"search_files":    `{"pattern":"*"}`,
	"search_text":     `{"pattern":"Review","path":"commands"}`,
	"search_commands": `{"query":"review"}`,
	"search_skills":   `{"query":"review"}`,
}

// slowFs takes 400 ms to open each file, opens one file at a time, and takes 100 ms to stat
// each file.
type slowFs struct {
	afero.Fs
	slot chan struct{}
}

func (s slowFs) Open(name string) (afero.File, error) {
	s.slot <- struct{}{}
	time.Sleep(400 * time.Millisecond) // of the clock of synctest
	<-s.slot
	return s.Fs.Open(name)
}

func (s slowFs) Stat(name string) (fs.FileInfo, error) {
	time.Sleep(100 * time.Millisecond)
	return s.Fs.Stat(name)
}

// slowProject returns an adapter of a large project on a slow filesystem, for a test with
// synctest.
func slowProject(t testing.TB, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	files := map[string]string{}
	for i := range 5 {
		for j := range 50 {
			files[fmt.Sprintf("dir-%d/file-%03d.md", i, j)] = "x"
		}
		files[fmt.Sprintf("commands/c%d.md", i)] = "Review the code.\n"
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = "Review the code.\n"
	}
	a := adapterOf(t, catalog(t, slowFs{memory(t, files), make(chan struct{}, 1)}), opts...)
	// End the calls of the filesystem, because Catalog.Close waits for the calls.
	t.Cleanup(func() { time.Sleep(time.Hour) })
	return a
}

// A message is a message from the server to the client.
type message struct {
	ID     json.RawMessage
	Method string
	Params progress
	Result json.RawMessage
}

// progress are the params of a notification of progress.
type progress struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress int
	Total    *int
	Message  string
}

// A pipe is a connection of a client to a session: a transport with one message a line, in
// which each request has a goroutine.
type pipe struct {
	session *mcpadapter.Session
	server  *io.PipeWriter
	client  *bufio.Scanner
	writing sync.Mutex
	running sync.WaitGroup
}

func openPipe(t testing.TB, a *mcpadapter.Adapter) *pipe {
	r, w := io.Pipe()
	p := &pipe{session: ready(t, a), server: w, client: bufio.NewScanner(r)}
	p.client.Buffer(nil, 1<<20)
	return p
}

// call sends a tools/call, and returns a function that cancels the request.
func (p *pipe) call(t testing.TB, id int, tool, meta string) (cancel func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ctx = mcpadapter.ContextWithProgress(ctx, func(n mcpadapter.ProgressNotification) {
		p.write(t, map[string]any{"method": "notifications/progress", "params": n})
	})
	params := fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":%s}`, tool, slowTools[tool], meta)
	p.running.Go(func() {
		defer cancel()
		result, err := p.session.Handle(ctx, "tools/call", json.RawMessage(params))
		if errors.Is(err, context.Canceled) {
			result = json.RawMessage(`"cancelled"`) // a real transport sends no response
		}
		p.write(t, map[string]any{"id": id, "result": result})
	})
	return cancel
}

func (p *pipe) write(t testing.TB, m any) {
	line := must.Get(json.Marshal(m))(t)
	p.writing.Lock()
	defer p.writing.Unlock()
	must.Get(p.server.Write(append(line, '\n')))(t)
}

// end returns the remaining messages when all calls have ended.
func (p *pipe) end(t testing.TB) (all []message) {
	go func() {
		p.running.Wait()
		p.server.Close()
	}()
	for p.client.Scan() {
		all = append(all, p.decode(t))
	}
	return all
}

func (p *pipe) decode(t testing.TB) (m message) {
	must.Do(t, json.Unmarshal(p.client.Bytes(), &m))
	return m
}

func TestToolsReportTheirProgress(t *testing.T) {
	for tool := range slowTools {
		checkReports(t, tool, `"one"`)
	}
}

func TestReportsHaveTheTokenOfTheirRequest(t *testing.T) {
	for _, token := range []string{`""`, `"\ud800"`, `"7"`, `7`, `-1`, `0`, `9007199254740993`} {
		checkReports(t, "directory_tree", token)
	}
}

// checkReports calls a tool with a token. All messages before the response must be reports
// with the token.
func checkReports(t *testing.T, tool, token string) {
	synctest.Test(t, func(t *testing.T) {
		p := openPipe(t, slowProject(t))
		p.call(t, 1, tool, `{"progressToken":`+token+`}`)
		all := p.end(t)
		reports, response := all[:len(all)-1], all[len(all)-1]
		if len(reports) == 0 {
			t.Fatalf("%s: %d reports", tool, len(reports))
		}
		last := 0
		for _, m := range reports {
			if m.Method != "notifications/progress" || m.Params.Progress <= last || m.Params.Total != nil ||
				string(m.Params.Token) != token || !strings.HasPrefix(m.Params.Message, "Entries seen: ") {
				t.Errorf("%s: %+v after %d", tool, m, last)
			}
			last = m.Params.Progress
		}
		if string(response.ID) != "1" || response.Result == nil {
			t.Errorf("%s: the last message is %+v", tool, response)
		}
	})
}

func TestReportsCountEntriesAndFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPipe(t, slowProject(t))
		p.call(t, 1, "search_text", `{"progressToken":1}`)
		var got []string
		for _, m := range p.end(t) {
			got = append(got, fmt.Sprint(m.Params.Progress, " ", m.Params.Message))
		}
		want := []string{
			"5 Entries seen: 5",
			"6 Entries seen: 5, files read: 1",
			"7 Entries seen: 5, files read: 2",
			"8 Entries seen: 5, files read: 3",
			"9 Entries seen: 5, files read: 4",
			"0 ", // the response
		}
		must.Match(t, "result", want, got)
	})
}

func TestRequestsWithoutATokenHaveNoReports(t *testing.T) {
	for _, meta := range []string{`null`, `{}`, `{"progressToken":null}`, `{"progressToken":1.5}`, `{"progressToken":true}`, `{"progressToken":["a"]}`,
		`{"progressToken":{}}`, `{"ProgressToken":1}`, `{"progressToken":18446744073709551616}`} {
		synctest.Test(t, func(t *testing.T) {
			p := openPipe(t, slowProject(t))
			p.call(t, 1, "directory_tree", meta)
			if all := p.end(t); len(all) != 1 || all[0].Result == nil {
				t.Errorf("%s: %d messages", meta, len(all))
			}
		})
	}
}

func TestARequestWithoutAFunctionHasNoReports(t *testing.T) {
	for _, ctx := range []context.Context{ctx, mcpadapter.ContextWithProgress(ctx, nil)} {
		params := json.RawMessage(`{"name":"directory_tree","_meta":{"progressToken":1}}`)
		if result, err := ready(t, adapter(t)).Handle(ctx, "tools/call", params); err != nil || result == nil {
			t.Error(err)
		}
	}
}

// TestShortCallsHaveNoReports also checks that no report precedes the result immediately.
func TestShortCallsHaveNoReports(t *testing.T) {
	for tool, arguments := range slowTools {
		synctest.Test(t, func(t *testing.T) {
			a := adapterOf(t, catalog(t, memory(t, map[string]string{"commands/c.md": "Review\n", "skills/s/SKILL.md": "Review\n", "dir-0/file": ""})))
			ctx := mcpadapter.ContextWithProgress(t.Context(), func(p mcpadapter.ProgressNotification) { t.Errorf("%s: %+v", tool, p) })
			must.Equal(t, tool, false, must.Get(a.Call(ctx, tool, json.RawMessage(arguments)))(t).IsError)
		})
	}
}

func TestACancelledRequestEndsItsReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPipe(t, slowProject(t))
		cancel := p.call(t, 1, "directory_tree", `{"progressToken":"t"}`)
		must.Equal(t, "Scan", true, p.client.Scan())
		must.Equal(t, "Token", `"t"`, string(p.decode(t).Params.Token))
		cancel()
		if all := p.end(t); len(all) != 1 || string(all[0].Result) != `"cancelled"` {
			t.Errorf("got %+v", all)
		}
	})
}

// TestASlowClientStallsNoCall has a client that reads nothing during the call.
func TestASlowClientStallsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := slowProject(t)
		p := openPipe(t, a)
		p.call(t, 1, "directory_tree", `{"progressToken":1}`)
		time.Sleep(time.Hour)
		all := p.end(t)
		if len(all) != 2 || all[0].Params.Progress == 0 || all[1].Result == nil {
			t.Fatalf("got %d messages; want one report and the result", len(all))
		}
		start := time.Now()
		if _, err := a.Call(t.Context(), "list_directory", json.RawMessage(slowTools["list_directory"])); err != nil || time.Since(start) > time.Minute {
			t.Errorf("the next call takes %v, %v", time.Since(start), err)
		}
	})
}

func TestRunningRequestsShareNoToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPipe(t, slowProject(t))
		for range 2 { // a token is free after the response
			p.call(t, 1, "directory_tree", `{"progressToken":"t"}`)
			synctest.Wait()
			p.call(t, 2, "directory_tree", `{"progressToken":"t"}`)
			p.call(t, 3, "directory_tree", `{"progressToken":"u"}`)
			last := map[string]int{}
			for responses := 0; responses < 3; {
				must.Equal(t, "Scan", true, p.client.Scan())
				m := p.decode(t)
				if m.Method == "" {
					responses++
					continue
				}
				token := string(m.Params.Token)
				if m.Params.Progress <= last[token] {
					t.Errorf("%s: %d after %d", token, m.Params.Progress, last[token])
				}
				last[token] = m.Params.Progress
			}
			if last[`"t"`] == 0 || last[`"u"`] == 0 {
				t.Errorf("the last reports are %v", last)
			}
		}
	})
}

// TestExtraToolsReportTheProgressOfTheirCalls also checks that a call outside of a session
// has no token.
func TestExtraToolsReportTheProgressOfTheirCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := slowProject(t)
		a := slowProject(t, mcpadapter.WithExtraTools(mcpadapter.Tool{Name: "survey", Call: func(ctx context.Context, _ json.RawMessage) (mcpadapter.Result, error) {
			return inner.Call(ctx, "directory_tree", nil)
		}}))
		reports := 0
		ctx := mcpadapter.ContextWithProgress(t.Context(), func(p mcpadapter.ProgressNotification) {
			if p.Token != nil {
				t.Errorf("token %s", p.Token)
			}
			reports++ // the race detector finds a report on another goroutine
		})
		if _, err := a.Call(ctx, "survey", nil); err != nil || reports < 3 {
			t.Errorf("%d reports, %v", reports, err)
		}
	})
}
