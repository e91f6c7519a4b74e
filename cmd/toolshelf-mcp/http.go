package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

// shortestToken is the number of bytes of a token that nobody guesses: 128 bits in base64.
const shortestToken = 22

// serveHTTP serves HTTP until ctx ends, and then answers the running calls for three seconds.
func serveHTTP(ctx context.Context, server *mcp.Server, c config) error {
	host, port, err := net.SplitHostPort(c.address)
	if err != nil {
		return fmt.Errorf("-http: %w; use an address such as :8080", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	options := &gosdk.HTTPOptions{Hosts: []string{host}, Logger: slog.Default()}
	if c.tokenFile != "" {
		if options.Verify, err = verifier(c.tokenFile); err != nil {
			return fmt.Errorf("-token-file: %w", err)
		}
		options.Bearer.AllowMissingExpiration = true
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("-http: %w", err)
	}
	defer listener.Close()
	if c.tokenFile == "" && !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return fmt.Errorf("-http %s: other machines reach this address; require a token with -token-file",
			c.address)
	}
	log.Printf("serving http://%s/mcp", listener.Addr())
	handler := gosdk.NewHTTPHandler(server, options)
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	web := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
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

// verifier returns a function that accepts only the token in a file.
func verifier(file string) (auth.TokenVerifier, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	token := strings.TrimSpace(string(data))
	if len(token) < shortestToken || strings.ContainsAny(token, " \t\r\n") {
		return nil, fmt.Errorf("%s has no token of at least %d characters without a space; "+
			"write the output of openssl rand -hex 32", file, shortestToken)
	}
	want := sha256.Sum256([]byte(token))
	return func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		if got := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{}, nil
	}, nil
}
