// Package fakeapi is a fake of the HTTP APIs of model providers, for tests. A fake speaks the wire
// format of an API, plays scripted turns of a model, and refuses requests that the API refuses:
// invalid schemas, invalid names of tools, and calls without an answer.
package fakeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Call is a tool call that the model makes.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON, unless the model makes a mistake
}

// A Turn is one response of the model: calls of tools, or a text.
type Turn struct {
	Calls []Call
	Text  string
}

// A Request is the content of one HTTP request, independent of the wire format.
type Request struct {
	Instructions string   // of the system
	Tools        []Tool   // in the order of the request
	Answers      []Answer // to the calls of the preceding turn
}

// A Tool is the definition of a tool.
type Tool struct {
	Name, Description string
	Schema            map[string]any
	Strict            bool
}

// An Answer is the result of a call that reaches the model.
type Answer struct {
	CallID  string // "" if the wire format needs no ID
	Name    string // "" if the wire format names no tool
	Text    string // JSON if the wire format has answers in the form of objects
	IsError bool
}

// Serve returns the URL of a fake that plays the turns in order. The returned function ends the
// fake and returns the accepted requests.
func (w Wire) Serve(t *testing.T, turns []Turn) (url string, end func() []Request) {
	var mu sync.Mutex
	var accepted []Request
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		rw.Header().Set("Content-Type", "application/json")
		body, err := io.ReadAll(r.Body)
		var request Request
		if err == nil {
			request, err = w.accept(r.URL.Path, body, turns, len(accepted))
		}
		var response []byte
		if err == nil {
			response, err = w.encode(turns[len(accepted)])
		}
		if err != nil {
			t.Errorf("the API refuses request %d: %v", len(accepted)+1, err)
			rw.WriteHeader(http.StatusBadRequest)
			refusal := map[string]any{"type": "invalid_request_error", "status": "INVALID_ARGUMENT", "message": err.Error()}
			json.NewEncoder(rw).Encode(map[string]any{"type": "error", "error": refusal})
			return
		}
		accepted = append(accepted, request)
		rw.Write(response)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []Request {
		server.Close()
		return accepted
	}
}

// accept returns the content of a request after n accepted requests, or the reason for a refusal.
func (w Wire) accept(path string, body []byte, turns []Turn, n int) (Request, error) {
	if !strings.HasSuffix(path, w.path) {
		return Request{}, fmt.Errorf("the path is %s, not …%s", path, w.path)
	}
	if n >= len(turns) {
		return Request{}, fmt.Errorf("the script has only %d turns", len(turns))
	}
	request, err := w.decode(body)
	if err != nil {
		return Request{}, fmt.Errorf("%w in %.1000s", err, body)
	}
	if err := w.check(request.Tools); err != nil {
		return Request{}, err
	}
	if n > 0 {
		err = pair(turns[n-1].Calls, request.Answers)
	}
	return request, err
}

// pair puts the answers into the order of the calls. Each call must have exactly one answer.
func pair(calls []Call, answers []Answer) error {
	if len(answers) != len(calls) {
		return fmt.Errorf("%d answers to %d calls: %+v", len(answers), len(calls), answers)
	}
	for i, call := range calls {
		at := slices.IndexFunc(answers[i:], func(a Answer) bool {
			return (a.CallID == call.ID || a.CallID == "") && (a.Name == call.Name || a.Name == "")
		})
		if at < 0 {
			return fmt.Errorf("no answer to the call %s of %s: %+v", call.ID, call.Name, answers)
		}
		answers[i], answers[i+at] = answers[i+at], answers[i]
	}
	return nil
}
