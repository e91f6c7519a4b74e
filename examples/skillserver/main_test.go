package main

import (
	"bufio"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/examples/sample"
	"github.com/toolshelf-go/toolshelf/stores/wellknown"
)

// asServer is an environment variable that turns the test program into the server.
const asServer = "SKILLSERVER_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		flag.CommandLine = flag.NewFlagSet("skillserver", flag.ExitOnError) // without the flags of tests
		main()
		return
	}
	os.Exit(m.Run())
}

// server returns the command of a server, which has not started.
func server(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asServer+"=1", "GORACE=atexit_sleep_ms=0") // avoids a second of sleep per process
	return cmd
}

// skills copies the sample skills to a temporary directory. The skill sql-style cannot be
// published, because its frontmatter is not valid YAML.
func skills(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, sample.FS()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "skills")
}

// wantSkills checks that a client receives the sample skills.
func wantSkills(t *testing.T, transport mcp.Transport, revision string) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if session.InitializeResult().Capabilities.Extensions["io.modelcontextprotocol/skills"] == nil {
		t.Error("the server does not declare skills")
	}
	var names []string
	for r, err := range session.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, r.Name)
	}
	want := []string{"accessibility-audit", "incident-response", "invoice-pdf", "load-testing", "release-notes"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
	file, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "skill://load-testing/scripts/steps.py"})
	if err != nil || len(file.Contents) != 1 || file.Contents[0].Text == "" {
		t.Errorf("got %+v, %v", file, err)
	}
}

var revisions = []string{"2025-11-25", "2026-07-28"}

func TestStdio(t *testing.T) {
	dir := skills(t)
	for _, revision := range revisions {
		cmd := server(t, dir)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		wantSkills(t, &mcp.CommandTransport{Command: cmd}, revision)
		if got := stderr.String(); !strings.Contains(got, "sql-style") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: on stderr: %q, want one line about the omitted skill", revision, got)
		}
	}
}

func TestHTTP(t *testing.T) {
	cmd := server(t, "-http", "127.0.0.1:0", skills(t))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(stderr)
	address := ""
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "serving ")
	}
	for _, revision := range revisions {
		wantSkills(t, &mcp.StreamableClientTransport{Endpoint: address}, revision)
	}
	// The specification rejects a field of release-notes too.
	store, err := wellknown.Open(t.Context(), strings.TrimSuffix(address, "/mcp"), wellknown.Options{Private: true})
	if err != nil {
		t.Fatal(err)
	}
	if status := store.Status(); status.Skills != 4 || len(status.Problems) != 0 {
		t.Errorf("/.well-known/agent-skills/ has %+v", status)
	}
}

func TestStartupErrors(t *testing.T) {
	for name, args := range map[string][]string{
		"no directory": {}, "two directories": {".", "."}, "a missing directory": {filepath.Join(t.TempDir(), "none")}, "no address": {"-http", "nowhere", skills(t)},
	} {
		out, err := server(t, args...).CombinedOutput()
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(line string) bool { return strings.Contains(line, "sql-style") })
		if err == nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "skillserver: ") {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
}
