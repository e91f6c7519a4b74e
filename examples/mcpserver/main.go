// Command mcpserver offers the commands, skills and files of one directory to MCP
// clients. It uses stdin and stdout or, with -http, streamable HTTP at /mcp without
// authentication. It ends at the end of stdin or on SIGINT or SIGTERM.
//
//	go run ./examples/mcpserver [-root DIR] [-commands DIR] [-skills DIR] [-http ADDR] [-host NAME] [-namespace NAME] [-watch]
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

func main() {
	log.SetFlags(0) // logs go to stderr; stdout is for the protocol
	var options []toolshelf.Option
	with := func(o toolshelf.Option) error { options = append(options, o); return nil }
	root := flag.String("root", ".", "`directory` that clients may read; they cannot read files outside")
	flag.Func("commands", "`directory` of commands, relative to the root or absolute; may be repeated (default commands)", func(dir string) error { return with(toolshelf.WithCommandsDir(dir)) })
	flag.Func("skills", "`directory` of skills, relative to the root or absolute; may be repeated (default skills)", func(dir string) error { return with(toolshelf.WithSkillsDir(dir)) })
	address := flag.String("http", "", "serve HTTP at `address`; :8080 accepts only this machine, 0.0.0.0:8080 accepts all")
	host := flag.String("host", "", "`name` of the HTTP server in the requests of clients; its IP addresses and localhost need no name")
	namespace := flag.String("namespace", "", "`name` before the names of the tools, followed by a dot")
	flag.BoolFunc("watch", "notify clients of changed commands", func(string) error { return with(toolshelf.WithWatch()) })
	if flag.Parse(); flag.NArg() > 0 {
		log.Fatalf("mcpserver: unexpected argument %q; set the directory with -root", flag.Arg(0))
	}
	log.SetPrefix("mcpserver: " + *root + ": ")
	with(toolshelf.WithRoot(*root))
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if err := run(ctx, options, *namespace, *address, *host); err != nil && ctx.Err() == nil { // a signal is not a failure
		log.Fatal(err)
	}
}

func run(ctx context.Context, options []toolshelf.Option, namespace, address, host string) error {
	catalog, err := toolshelf.New(append(options, toolshelf.WithNestedCommands())...)
	if err != nil {
		return err
	}
	defer catalog.Close()
	if _, err := catalog.Stat(ctx, "."); err != nil {
		return err // report a missing root now, not in the first call
	}
	if _, err := catalog.List(ctx, toolshelf.Page{}); err != nil {
		log.Print(err) // continue: the project may have only skills, or commands later
	}
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithNamespace(namespace))
	if err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "toolshelf", Version: "1.0.0"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}, // without the SDK's default capability, logging
		Instructions: "The commands, skills and files of one project. Search for a skill before a task, and follow its text. No tool changes a file."})
	if err := gosdk.RegisterUntil(ctx, server, adapter); err != nil {
		return err
	} else if address != "" {
		return serve(ctx, address, gosdk.NewHTTPHandler(server, &gosdk.HTTPOptions{Hosts: []string{host}, Logger: slog.Default()}))
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}

func serve(ctx context.Context, address string, handler *gosdk.HTTPHandler) error {
	if address[0] == ':' {
		address = "127.0.0.1" + address
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Printf("serving http://%s/mcp", listener.Addr())
	if !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		log.Print("warning: without authentication, every program that reaches this address reads the files; put an authenticating proxy in front")
	}
	http.Handle("/mcp", handler)
	web := &http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	context.AfterFunc(ctx, func() { listener.Close() })
	if err := web.Serve(listener); ctx.Err() == nil {
		return err
	}
	grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	handler.Shutdown(grace) // answers running calls
	last, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return web.Shutdown(last) // sends the last answers
}
