package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

// newServer returns a server with the tools of a catalog, as examples/mcpserver does.
func newServer() (*mcp.Server, error) {
	catalog, err := toolshelf.New()
	if err != nil {
		return nil, err
	}
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "0.1.0"}, nil)
	return server, gosdk.Register(server, adapter)
}

// TestMain is the server over stdio if the variable STDIO_SERVER is set.
func TestMain(m *testing.M) {
	if os.Getenv("STDIO_SERVER") == "" {
		os.Exit(m.Run())
	}
	server, err := newServer()
	if err == nil {
		err = server.Run(context.Background(), &mcp.StdioTransport{})
	}
	if err != nil {
		os.Exit(1)
	}
}

func TestApprovedServersPrintTheirTools(t *testing.T) {
	server := must.Get(newServer())(t)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	var authorized atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer secret-of-the-test" {
			authorized.Store(true)
		}
		handler.ServeHTTP(w, r)
	}))
	defer web.Close()
	program := must.Get(os.Executable())(t)
	t.Setenv("TOKEN", "secret-of-the-test")
	entry := func(command string) map[string]any {
		return map[string]any{"command": command, "env": map[string]string{"STDIO_SERVER": "${MISSING:-1}"}}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"local": entry(program), "refused": entry(program), "broken": entry(filepath.Join(t.TempDir(), "missing")),
		"web": map[string]any{"type": "http", "url": web.URL, "headers": map[string]string{"Authorization": "Bearer ${TOKEN}"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "trust")
	must.Do(t, os.WriteFile(filepath.Join(dir, ".mcp.json"), text, 0o600))
	var out bytes.Buffer // the entries are in the order of the file: broken, local, refused, web
	must.Do(t, run(t.Context(), bufio.NewScanner(strings.NewReader("y\ny\nn\ny\n")), &out, file, dir))
	for _, line := range []string{`"local": "list_commands"`, `"web": "list_commands"`, "\n\"broken\": ", `approve "refused"?`, "environment: STDIO_SERVER"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in %s", line, out.String())
		}
	}
	if strings.Contains(out.String(), `"refused": "list`) || strings.Contains(out.String(), "secret-of-the-test") || !authorized.Load() {
		t.Errorf("a refused server ran, or a value was printed, or the header is missing: %s", out.String())
	}
	out.Reset()
	if err := run(t.Context(), bufio.NewScanner(strings.NewReader("")), &out, file, dir); err != nil || !strings.Contains(out.String(), `"local": "list_commands"`) || strings.Contains(out.String(), `approve "local"`) {
		t.Errorf("the second run: %v, %s", err, out.String())
	}
}

// A redirect does not get the headers.
func TestAnotherHostGetsNoHeader(t *testing.T) {
	var got []string
	record := func(w http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("Authorization")) }
	other := httptest.NewServer(http.HandlerFunc(record))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record(w, r)
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	client := &http.Client{Transport: headers{"Authorization": "Bearer x"}}
	response := must.Get(client.Get(first.URL))(t)
	response.Body.Close()
	if len(got) != 2 || got[0] != "Bearer x" || got[1] != "" {
		t.Errorf("%q", got)
	}
}
