// Command httpapi serves the commands and skills of a project as JSON, until an interrupt.
//
//	go run ./examples/httpapi examples/sample/project
//	curl 'localhost:8080/commands?size=20'    # for the next page, add &cursor= and next_cursor
//	curl localhost:8080/commands/review-pr
//	curl localhost:8080/skills/release-notes
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// The statuses of the errors that a client can cause. All other errors are 500.
var statuses = map[toolshelf.Code]int{
	toolshelf.CodeInvalidCursor: 400, toolshelf.CodeInvalidPageSize: 400,
	toolshelf.CodeInvalidCommandName: 400, toolshelf.CodeInvalidSkillName: 400,
	toolshelf.CodeCommandNotFound: 404, toolshelf.CodeSkillNotFound: 404, toolshelf.CodeDirectoryNotFound: 404,
}

func main() {
	address := flag.String("addr", "localhost:8080", "serve HTTP at `ADDRESS`, without authentication")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *address, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address, dir string) error {
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithNestedCommands())
	if err != nil {
		return err
	}
	defer catalog.Close()
	server := &http.Server{Addr: address, Handler: handler(catalog), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second) // for running requests
		defer cancel()
		return server.Shutdown(grace)
	}
}

// handler passes the context of a request to the catalog, so a disconnect of the client ends the
// call.
func handler(catalog *toolshelf.Catalog) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /commands", func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(cmp.Or(r.FormValue("size"), "0"))
		if err != nil {
			size = -1 // List returns the error
		}
		list, err := catalog.List(r.Context(), toolshelf.Page{Size: size, Cursor: r.FormValue("cursor")})
		reply(w, list, err)
	})
	mux.HandleFunc("GET /commands/{name}", func(w http.ResponseWriter, r *http.Request) {
		c, err := catalog.Get(r.Context(), r.PathValue("name"))
		reply(w, map[string]any{"name": c.Name, "description": c.Metadata.Description, "content": c.Content}, err)
	})
	mux.HandleFunc("GET /skills/{name}", func(w http.ResponseWriter, r *http.Request) {
		s, err := catalog.GetSkill(r.Context(), r.PathValue("name"))
		reply(w, map[string]any{"name": s.Name, "description": s.Description, "content": s.Content, "files": s.Files}, err)
	})
	return mux
}

func reply(w http.ResponseWriter, value any, err error) {
	status, failure := http.StatusOK, new(toolshelf.Error)
	if errors.As(err, &failure) {
		status = cmp.Or(statuses[failure.Code], http.StatusInternalServerError)
		value = map[string]any{"error": failure} // code and message, without paths of the host
	} else if err != nil {
		return // the context has ended: nobody waits for the reply
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // an error means that the client has disconnected
}
