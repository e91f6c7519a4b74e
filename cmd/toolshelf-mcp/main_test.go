package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/examples/sample"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// asServer is an environment variable that turns the test program into the server.
const asServer = "TOOLSHELF_MCP_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		flag.CommandLine = flag.NewFlagSet("toolshelf-mcp", flag.ExitOnError) // without the flags of tests
		main()
		return
	}
	os.Exit(m.Run())
}

// The protocol revisions of the test clients, legacy and modern.
var revisions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// A process is a running server.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr output
	ended          chan error
}

// output records the written bytes and passes them to next.
type output struct {
	mu   sync.Mutex
	all  bytes.Buffer
	next io.Writer // may be nil
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.all.Write(p)
	o.mu.Unlock()
	if o.next != nil {
		o.next.Write(p) // the reader may have ended
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

func newProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], args...), ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), asServer+"=1", "GORACE=atexit_sleep_ms=0") // avoids a second of sleep per process
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) start() {
	p.t.Helper()
	must.Do(p.t, p.cmd.Start())
	p.t.Cleanup(func() { p.cmd.Process.Kill() })
	go func() { p.ended <- p.cmd.Wait() }()
}

// overStdio starts a server and connects a client to its stdin and stdout.
func overStdio(t *testing.T, revision string, opts *mcp.ClientOptions, args ...string) (*process, *mcp.ClientSession) {
	t.Helper()
	p := newProcess(t, args...)
	read, write := io.Pipe()
	p.stdout.next = write
	p.start()
	return p, connect(t, &mcp.IOTransport{Reader: read, Writer: p.stdin}, revision, opts)
}

// overHTTP starts a server and returns the address in its log.
func overHTTP(t *testing.T, args ...string) (p *process, url string) {
	t.Helper()
	p = newProcess(t, append(args, "-http", ":0")...)
	read, write := io.Pipe()
	p.stderr.next = write
	p.start()
	line, err := bufio.NewReader(read).ReadString('\n')
	read.Close()
	_, url, ok := strings.Cut(strings.TrimSpace(line), ": serving ")
	if err != nil || !ok {
		t.Fatalf("on stderr: %q, %v", line, err)
	}
	return p, url
}

func connect(t *testing.T, transport mcp.Transport, revision string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	session := must.Get(client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision}))(t)
	t.Cleanup(func() { session.Close() })
	must.Equal(t, "the session speaks", revision, session.InitializeResult().ProtocolVersion)
	return session
}

// terminate sends SIGTERM, and skips the test on Windows.
func (p *process) terminate() {
	p.t.Helper()
	if runtime.GOOS == "windows" {
		p.t.Skip("Windows has no such signal")
	}
	must.Do(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
}

// wantEnd waits for the process and compares its exit status.
func (p *process) wantEnd(code int) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		p.t.Fatal("the server does not end")
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit status %d, want %d; on stderr: %q", got, code, p.stderr.String())
	}
}

// project copies the sample project to a temporary directory.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, sample.FS()))
	return dir
}

func toolNames(t *testing.T, c *mcp.ClientSession) []string {
	t.Helper()
	var names []string
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// call calls a tool and returns its structured content as JSON.
func call(t *testing.T, c *mcp.ClientSession, tool string, arguments any) string {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	structured := must.Get(json.Marshal(res.StructuredContent))(t)
	return string(structured)
}

// wantProject checks that a client receives the sample project.
func wantProject(t *testing.T, c *mcp.ClientSession) {
	t.Helper()
	want := []string{
		"list_commands", "search_commands", "get_command",
		"list_skills", "search_skills", "get_skill", "read_skill_file",
	}
	must.Match(t, "tools", want, toolNames(t, c))
	if c.InitializeResult().Instructions == "" {
		t.Error("no instructions")
	}
	const skills = `"skills":["accessibility-audit","incident-response","invoice-pdf","load-testing","release-notes","sql-style"]`
	if got := call(t, c, "list_skills", nil); !strings.Contains(got, skills) || !strings.Contains(got, `"load-testing":"Finds the rate of requests`) {
		t.Errorf("list_skills: got %s", got)
	}
	prompt, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "commit-message"})
	if err != nil || len(prompt.Messages) != 1 {
		t.Errorf("prompt: got %+v, %v", prompt, err)
	}
}

func TestStdioServesUntilStdinEnds(t *testing.T) {
	dir := project(t)
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			p, c := overStdio(t, revision, nil, "-root", dir)
			wantProject(t, c)
			p.stdin.Close()
			p.wantEnd(0)
			must.Equal(t, "on stderr", "", p.stderr.String())
			for line := range strings.Lines(p.stdout.String()) {
				var message struct{ JSONRPC string }
				if err := json.Unmarshal([]byte(line), &message); err != nil || message.JSONRPC != "2.0" {
					t.Errorf("on stdout, and no message: %q", line)
				}
			}
		})
	}
}

func TestStdioEndsOnASignal(t *testing.T) {
	p, c := overStdio(t, "2025-11-25", nil, "-root", project(t))
	toolNames(t, c)
	p.terminate()
	p.wantEnd(0)
}

func TestHTTPServesAllRevisionsUntilASignal(t *testing.T) {
	p, url := overHTTP(t, "-root", project(t))
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("an address without a host is served at %s, not for this machine alone", url)
	}
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			wantProject(t, connect(t, &mcp.StreamableClientTransport{Endpoint: url}, revision, nil))
		})
	}
	p.terminate()
	p.wantEnd(0)
	must.Equal(t, "on stdout", "", p.stdout.String())
}

// ping is a minimal legacy request.
const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestHTTPRejectsRequestsOfOtherSites(t *testing.T) {
	_, url := overHTTP(t, "-root", project(t))
	for _, tt := range []struct {
		name, header, value string
		status              int
	}{
		{"a program", "User-Agent", "test", http.StatusOK},
		{"a page of another site", "Origin", "https://attacker.example", http.StatusForbidden},
		{"the same, in a browser that says so", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{"another name for this machine", "Host", "attacker.example", http.StatusForbidden},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := must.Get(http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(ping)))(t)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if req.Header.Set(tt.header, tt.value); tt.header == "Host" {
				req.Host = tt.value
			}
			res := must.Get(http.DefaultClient.Do(req))(t)
			res.Body.Close()
			must.Equal(t, "status", tt.status, res.StatusCode)
		})
	}
}

func TestHTTPRequiresTheTokenOfTheFile(t *testing.T) {
	const token = "0123456789abcdefghijkl"
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	_, url := overHTTP(t, "-root", project(t), "-token-file", file)
	for header, want := range map[string]int{
		"": http.StatusUnauthorized, "Bearer ": http.StatusUnauthorized, "Bearer " + token[1:]: http.StatusUnauthorized,
		"Basic " + token: http.StatusUnauthorized, "Bearer " + token: http.StatusOK,
	} {
		req := must.Get(http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(ping)))(t)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Authorization", header)
		res := must.Get(http.DefaultClient.Do(req))(t)
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("Authorization %q: status %d, want %d", header, res.StatusCode, want)
		}
	}
}

func TestHTTPAnswersRunningRequestsAfterASignal(t *testing.T) {
	p, url := overHTTP(t, "-root", project(t))
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	conn := must.Get(net.Dial("tcp", host))(t)
	defer conn.Close()
	begin, rest := ping[:10], ping[10:]
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", host, len(ping))
	reader := bufio.NewReader(conn)
	if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v", line, err) // the server now waits for the body
	}
	reader.ReadString('\n')
	io.WriteString(conn, begin)
	p.terminate()
	for {
		other, err := net.Dial("tcp", host)
		if err != nil {
			break // the server accepts no more connections
		}
		other.Close()
	}
	io.WriteString(conn, rest)
	res := must.Get(http.ReadResponse(reader, nil))(t)
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), `"result"`) {
		t.Errorf("got %d, %q, %v", res.StatusCode, body, err)
	}
	p.wantEnd(0)
}

func TestWatchNotifiesClientsOfChanges(t *testing.T) {
	for _, name := range []string{"stdio", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			told := make(chan struct{}, 100)
			opts := &mcp.ClientOptions{PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { told <- struct{}{} }}
			var p *process
			var c *mcp.ClientSession
			if name == "stdio" {
				p, c = overStdio(t, "2025-11-25", opts, "-root", dir)
			} else {
				var url string
				p, url = overHTTP(t, "-root", dir)
				c = connect(t, &mcp.StreamableClientTransport{Endpoint: url}, "2026-07-28", opts)
			}
			call(t, c, "list_commands", nil) // the catalog reports changes only after the first list
			must.Do(t, os.WriteFile(filepath.Join(dir, "commands", "brand-new.md"), []byte("New.\n"), 0o644))
			<-told
			p.terminate() // while a client is connected
			p.wantEnd(0)
		})
	}
}

func TestClientReadsItsDirectories(t *testing.T) {
	dir := project(t)
	must.Do(t, os.Mkdir(filepath.Join(dir, ".claude"), 0o755))
	for _, name := range []string{"commands", "skills"} {
		must.Do(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, ".claude", name)))
	}
	_, c := overStdio(t, "2025-11-25", nil, "-root", dir, "-client", "claude")
	const path = `"path":".claude/commands/commit-message.md"` // without the directory of the host
	if got := call(t, c, "get_command", map[string]any{"command_name": "commit-message"}); !strings.Contains(got, path) {
		t.Errorf("got %s", got)
	}
	if got := call(t, c, "list_skills", nil); !strings.Contains(got, "sql-style") {
		t.Errorf("got %s", got)
	}
}

func TestFilesAreOfferedOnlyWithTheFlag(t *testing.T) {
	dir := project(t)
	_, c := overStdio(t, "2025-11-25", nil, "-root", dir, "-read-only-files")
	if diff := cmp.Diff(fileTools, toolNames(t, c)[7:]); diff != "" { // after the tools of wantProject
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	_, c = overStdio(t, "2025-11-25", nil, "-root", dir, "-read-only-files", "-tools", "get_skill,read_file", "-tools", "list_skills")
	must.Match(t, "tools", []string{"list_skills", "get_skill", "read_file"}, toolNames(t, c))
}

func TestEmptyProjectIsReportedOnStderr(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{nil, "name a client with -client"},
		{[]string{"-client", "claude"}, "check -root and -client"},
	} {
		p := newProcess(t, append(tt.args, "-root", t.TempDir())...)
		p.cmd.Env = append(p.cmd.Env, "HOME="+t.TempDir(), "USERPROFILE="+t.TempDir())
		p.start()
		p.stdin.Close()
		p.wantEnd(0)
		if got := p.stderr.String(); !strings.Contains(got, tt.says) {
			t.Errorf("%q: on stderr: %q", tt.args, got)
		}
	}
}

func TestStartupErrorsAreReportedOnStderr(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(short, []byte("secret\n"), 0o600))
	none := filepath.Join(t.TempDir(), "none")
	for _, tt := range []struct {
		name string
		args []string
		says string
	}{
		{"a root that is not there", []string{"-root", none}, "none"},
		{"an unknown tool", []string{"-tools", "get_skil"}, "get_skil"},
		{"a tool for files", []string{"-tools", "read_file"}, "add -read-only-files"},
		{"an address that is none", []string{"-http", "nowhere"}, "nowhere"},
		{"an address that other machines reach", []string{"-http", "0.0.0.0:0"}, "require a token with -token-file"},
		{"a token over stdio", []string{"-token-file", short}, "-http"},
		{"a missing file of the token", []string{"-http", ":0", "-token-file", none}, "none"},
		{"a short token", []string{"-http", ":0", "-token-file", short}, "at least 22 characters without a space"},
		{"an argument", []string{"project"}, "-root"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProcess(t, append([]string{"-root", "../../examples/sample/project"}, tt.args...)...)
			p.start()
			p.wantEnd(1)
			if got := p.stderr.String(); !strings.HasPrefix(got, "toolshelf-mcp: ") || !strings.Contains(got, tt.says) || strings.Count(got, "\n") != 1 {
				t.Errorf("on stderr: %q, want one line with %q", got, tt.says)
			}
			must.Equal(t, "on stdout", "", p.stdout.String())
		})
	}
}
