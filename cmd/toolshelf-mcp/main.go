// Command toolshelf-mcp serves the commands and skills of a project, and on request the files, to
// MCP clients over stdin and stdout or, with -http, over streamable HTTP at /mcp. No tool changes a
// file. The server ends at the end of stdin or on SIGINT or SIGTERM.
//
//	toolshelf-mcp [-root DIR] [-client NAME] [-tools NAMES] [-read-only-files]
//		[-http ADDR [-token-file FILE]]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

// fileTools are the tools of the flag -read-only-files.
var fileTools = []string{
	"list_directory", "directory_tree", "get_file_info", "search_files", "search_text", "read_file",
}

// A config has the values of the flags.
type config struct {
	root      string
	clients   []client.Client
	tools     []string // nil means all tools that the other flags permit
	files     bool
	address   string
	tokenFile string
}

func main() {
	log.SetFlags(0) // logs go to stderr; stdout is for the protocol
	log.SetPrefix("toolshelf-mcp: ")
	var c config
	flag.StringVar(&c.root, "root", ".",
		"`directory` of the project; outside, the server reads only the directories of -client")
	flag.Func("client", "read the commands, skills and agents of the client `name`, such as claude,\n"+
		"in the project and in your home directory, in place of the directories commands\n"+
		"and skills of the project; may occur several times", func(name string) error {
		row, err := client.Lookup(name)
		c.clients = append(c.clients, row)
		return err
	})
	flag.Func("tools", "offer only the tools with these `names`, separated by commas", func(names string) error {
		c.tools = append(c.tools, strings.Split(names, ",")...)
		return nil
	})
	flag.BoolVar(&c.files, "read-only-files", false,
		"also offer the tools that list, search and read the files of the project")
	flag.StringVar(&c.address, "http", "",
		"serve HTTP at `address`; :8080 accepts only this machine, 0.0.0.0:8080 all machines")
	flag.StringVar(&c.tokenFile, "token-file", "",
		"`file` with the token that HTTP requests must have: Authorization: Bearer TOKEN")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q; name the directory of the project with -root", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, c); err != nil && ctx.Err() == nil { // a signal is not a failure
		log.Fatal(err)
	}
}

func run(ctx context.Context, c config) error {
	if c.address == "" && c.tokenFile != "" {
		return errors.New("-token-file has no effect without -http")
	}
	options := []toolshelf.Option{
		toolshelf.WithRoot(c.root), toolshelf.WithWatch(), toolshelf.WithNestedCommands(),
	}
	if len(c.clients) > 0 {
		options = append(options, toolshelf.WithClient(c.clients...))
	}
	catalog, err := toolshelf.New(options...)
	if err != nil {
		return err
	}
	defer catalog.Close()
	if _, err := catalog.Stat(ctx, "."); err != nil {
		return fmt.Errorf("-root %s: %w", c.root, err) // now, not in the first call
	}
	if err := warnOfEmptyProject(ctx, catalog, c); err != nil {
		return err
	}
	adapter, err := newAdapter(catalog, c)
	if err != nil {
		return err
	}
	about := &mcp.Implementation{Name: "toolshelf-mcp", Version: version()}
	server := mcp.NewServer(about, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{}, // without the SDK's default capability, logging
		Instructions: "The commands and skills of one project. " +
			"Search for a skill before a task, and follow its text. No tool changes a file.",
	})
	if err := gosdk.RegisterUntil(ctx, server, adapter); err != nil {
		return err
	}
	if c.address != "" {
		return serveHTTP(ctx, server, c)
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}

// warnOfEmptyProject logs a warning if the project has neither commands nor skills. Files may
// appear later.
func warnOfEmptyProject(ctx context.Context, catalog *toolshelf.Catalog, c config) error {
	commands, err := catalog.List(ctx, toolshelf.Page{Size: 1})
	if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		return err
	}
	skills, err := catalog.ListSkills(ctx)
	if err != nil && !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		return err
	}
	if commands.Pagination.Total == 0 && len(skills) == 0 {
		hint := "name a client with -client, such as claude, to read the directories of the client"
		if len(c.clients) > 0 {
			hint = "check -root and -client"
		}
		log.Printf("warning: the project %s has neither commands nor skills; %s", c.root, hint)
	}
	return nil
}

// newAdapter returns an adapter with the tools that the flags permit.
func newAdapter(catalog *toolshelf.Catalog, c config) (*mcpadapter.Adapter, error) {
	tools := c.tools
	for _, name := range tools {
		if !c.files && slices.Contains(fileTools, name) {
			return nil, fmt.Errorf("-tools: %s is a tool for files; add -read-only-files", name)
		}
	}
	if tools == nil {
		all, err := mcpadapter.New(catalog)
		if err != nil {
			return nil, err
		}
		for _, tool := range all.Tools() {
			if c.files || !slices.Contains(fileTools, tool.Name) {
				tools = append(tools, tool.Name)
			}
		}
	}
	return mcpadapter.New(catalog, mcpadapter.WithTools(tools...), mcpadapter.WithRelativePaths())
}

// version returns the version of the module of the program, which go install records.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
