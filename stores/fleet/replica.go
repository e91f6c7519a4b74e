package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"gocloud.dev/blob/s3blob"

	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/s3"
)

// These environment variables have the addresses of the S3 server and of the NATS servers. They are
// set in the processes of replicas.
const (
	socketVariable = "FLEET_S3_SOCKET"
	natsVariable   = "FLEET_NATS"
)

const heartbeat = 5 * time.Second // of the feed

func isReplica() bool { return os.Getenv(socketVariable) != "" }

// serveReplica serves prompts from the bucket, prints the URL, and ends at the end of stdin.
func serveReplica() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	bucket, err := s3blob.OpenBucket(ctx, newClient(os.Getenv(socketVariable)), bucket, nil)
	if err != nil {
		return err
	}
	defer bucket.Close()
	store, err := blob.New(bucket, blob.Options{Versions: s3.Versions})
	if err != nil {
		return err
	}
	catalog, err := toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(), toolshelf.WithCommandsFS("shelf", store),
		toolshelf.WithFeed(3*heartbeat, newFeed(os.Getenv(natsVariable), heartbeat)))
	if err != nil {
		return err
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithPageSize(50)) // several pages, so that a walk changes its replica
	if err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "fleet", Version: "1.0.0"}, nil)
	if err := gosdk.RegisterUntil(ctx, server, adapter); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		web.Close()
	}()
	if err := web.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// A replica is a process that runs serveReplica.
type replica struct {
	url     string
	process *exec.Cmd // holds its standard input open
}

func startReplica(ctx context.Context, shelf *shelf) (*replica, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, program)
	process.Env = append(os.Environ(), socketVariable+"="+shelf.socket, natsVariable+"="+shelf.cluster.urls)
	process.Stderr = os.Stderr
	if _, err := process.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	r := &replica{process: process}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		r.kill()
		return nil, fmt.Errorf("the replica has not printed its URL: %w", err)
	}
	r.url = strings.TrimSpace(line)
	return r, nil
}

// kill ends the process without a warning.
func (r *replica) kill() {
	r.process.Process.Kill()
	r.process.Wait()
}
