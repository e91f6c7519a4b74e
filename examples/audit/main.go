// Command audit expands the lines of the standard input, such as "/deploy-canary staging", in a
// project, and writes one JSON line to the standard error for each use of a command or a skill.
//
//	echo /deploy-canary staging | go run ./examples/audit ./examples/sample/project 2>audit.jsonl
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Stdin, os.Stdout, os.Stderr, append(os.Args, ".")[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, lines io.Reader, w, audit io.Writer, dir string) error {
	a := Audit{To: audit, Now: time.Now}
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithObserver(a.Observe))
	if err != nil {
		return err
	}
	defer catalog.Close()
	for s := bufio.NewScanner(lines); s.Scan(); {
		x, err := catalog.Expand(ctx, s.Text())
		if failed := a.Err(); failed != nil {
			return fmt.Errorf("the audit cannot be written: %w", failed) // no text without its line in the audit
		}
		if err != nil {
			x.Text = "error: " + err.Error()
		}
		if _, err := fmt.Fprintln(w, x.Text); err != nil {
			return err
		}
	}
	return nil
}

// An Audit writes one JSON line for each event. The method Observe is the argument of
// toolshelf.WithObserver.
type Audit struct {
	To  io.Writer
	Now func() time.Time

	mu  sync.Mutex
	err error
}

// A record is a line. JSON escapes the line breaks of a name or a path, so no name can begin a
// second line.
type record struct {
	Time   time.Time      `json:"time"`
	Action string         `json:"action"`
	Reason string         `json:"reason,omitempty"`
	Kind   toolshelf.Kind `json:"kind,omitempty"`
	Name   string         `json:"name,omitempty"`
	Layer  string         `json:"layer,omitempty"`
	Plugin string         `json:"plugin,omitempty"`
	Path   string         `json:"path,omitempty"`
	Digest string         `json:"digest,omitempty"`
	Count  int            `json:"count,omitempty"`
	Bytes  int            `json:"bytes,omitempty"`
	Micros int64          `json:"micros"`
	Code   toolshelf.Code `json:"code,omitempty"`
}

// Observe writes the line of an event.
func (a *Audit) Observe(_ context.Context, e toolshelf.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	line, err := json.Marshal(record{a.Now().UTC(), e.Action, e.Reason, e.Kind, e.Name, e.Layer, e.Plugin, e.Path, e.Digest, e.Count, e.Bytes, e.Duration.Microseconds(), e.Code})
	if err == nil {
		_, err = a.To.Write(append(line, '\n'))
	}
	a.err = cmp.Or(a.err, err)
}

// Err returns the first error of a write.
func (a *Audit) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}
