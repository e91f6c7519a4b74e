// Command servers asks for an approval of each MCP server of a project, starts the approved
// servers, and prints their tools, as in "go run ./examples/servers DIR".
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/trust"
)

func main() {
	config, err := os.UserConfigDir()
	if err == nil {
		err = run(context.Background(), bufio.NewScanner(os.Stdin), os.Stdout, filepath.Join(config, "toolshelf-servers", "trust"), append(os.Args, ".")[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, answers *bufio.Scanner, out io.Writer, file, dir string) error {
	store, invalid := trust.Open(file) // an invalid store allows nothing
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithHome(""), toolshelf.WithGate(store), toolshelf.WithClient(client.Claude(), client.Cursor()))
	if err = errors.Join(invalid, err); err != nil {
		return err
	}
	defer catalog.Close()
	pending, failed := catalog.Pending(ctx)
	pending = slices.DeleteFunc(pending, func(p toolshelf.Pending) bool { return p.Kind != toolshelf.KindMCPServer })
	for _, p := range pending {
		fmt.Fprintf(out, "%q\n%q\napprove %q? (y, n)\n", p.Findings, p.New, p.Name) // quoted, because a text can control the terminal
		if answers.Scan() && answers.Text() == "y" {
			failed = errors.Join(failed, store.Approve(ctx, p))
		}
	}
	servers, err := catalog.MCPServers(ctx)
	for _, s := range servers {
		if failure := tools(ctx, out, dir, s); failure != nil { // a server that fails does not stop the others
			fmt.Fprintf(out, "%q: %q\n", s.Name, failure)
		}
	}
	return errors.Join(failed, err)
}

// tools starts a server, or connects to the server, and prints the names of its tools.
func tools(ctx context.Context, out io.Writer, dir string, s toolshelf.MCPServer) error {
	s, err := s.Resolve(os.LookupEnv)
	if err != nil || s.Disabled {
		return err
	}
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: headers(s.Headers)}}
	if s.Transport == "stdio" {
		command := exec.CommandContext(ctx, s.Command, s.Args...)
		if command.Dir, command.Env = s.Dir, os.Environ(); !filepath.IsAbs(s.Dir) {
			command.Dir = filepath.Join(dir, s.Dir)
		}
		for name, value := range s.Env {
			command.Env = append(command.Env, name+"="+value)
		}
		transport = &mcp.CommandTransport{Command: command}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "servers", Version: "0.1.0"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%q: %q\n", s.Name, tool.Name)
	}
	return nil
}

type headers map[string]string // of each request, except after a redirect, which can leave the host

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		if r.Response == nil {
			r.Header.Set(name, value)
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}
