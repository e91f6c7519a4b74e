package mcpadapter

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolshelf-go/toolshelf"
)

// A ProgressNotification is a report of a tool call that has not ended. Its JSON form is
// the params of notifications/progress. The params have no total, because a call does not
// know the number of entries before its end.
type ProgressNotification struct {
	// Token is the progress token of the request, unchanged: a JSON string or a JSON
	// integer. Token is nil if the call does not come from Session.Handle.
	Token json.RawMessage `json:"progressToken,omitempty"`

	// Progress is the number of entries and files so far, as toolshelf.Progress counts
	// them. Progress is at least 1, and increases with each notification of a call.
	Progress int `json:"progress"`

	// Message states the number of entries and, if the call reads files, the number of
	// files, as in "Entries seen: 1204, files read: 310".
	Message string `json:"message"`
}

// progressKey is the key of the function of ContextWithProgress.
type progressKey struct{}

// ContextWithProgress returns a context for Session.Handle, Adapter.Call and the other methods
// that call a tool. The calls of list_directory, directory_tree and the search tools report their
// progress to send, about six times a second, and never their end. Session.Handle makes reports
// only for a tools/call with a progress token that no running request of the session has. If send
// is nil, the calls make no reports.
//
// send runs on the goroutine that calls the tool, while the call continues its work. A slow send
// delays only the next report and the return of the call. No report comes after the call returns
// or after ctx ends. Concurrent calls with the same context call send concurrently. Calls that
// make reports cost some microseconds more.
func ContextWithProgress(ctx context.Context, send func(ProgressNotification)) context.Context {
	return context.WithValue(ctx, progressKey{}, send)
}

// progressOf returns the function of ContextWithProgress, or nil.
func progressOf(ctx context.Context) func(ProgressNotification) {
	send, _ := ctx.Value(progressKey{}).(func(ProgressNotification))
	return send
}

// reportOption returns the option for a call of the catalog that reports its progress, or
// nil if the context has no function for the reports.
func reportOption(ctx context.Context) toolshelf.WithProgress {
	send := progressOf(ctx)
	if send == nil {
		return nil
	}
	last := 0
	return func(p toolshelf.Progress) {
		n := p.Entries + p.Files
		if p.Done || n <= last || ctx.Err() != nil {
			return
		}
		last = n
		message := fmt.Sprintf("Entries seen: %d", p.Entries)
		if p.Files > 0 {
			message += fmt.Sprintf(", files read: %d", p.Files)
		}
		send(ProgressNotification{Progress: n, Message: message})
	}
}

// withToken returns the context of a request whose reports have the progress token of the
// request. The context makes no reports without a token, or if another running request has
// the token. end releases the token.
func (s *Session) withToken(r request) (ctx context.Context, end func()) {
	send := progressOf(r.ctx)
	if send == nil {
		return r.ctx, func() {}
	}
	token := r.params.progressToken()
	if token == nil || !s.reserve(token) {
		return ContextWithProgress(r.ctx, nil), func() {}
	}
	return ContextWithProgress(r.ctx, func(p ProgressNotification) {
		p.Token = token
		send(p)
	}), func() { s.release(token) }
}

// progressToken returns the progress token of a request, or nil if the token is missing or
// neither a string nor an integer.
func (p params) progressToken() json.RawMessage {
	var meta map[string]json.RawMessage
	if !p.has("_meta") || json.Unmarshal(p["_meta"], &meta) != nil {
		return nil
	}
	token := meta["progressToken"]
	if _, err := strconv.ParseInt(string(token), 10, 64); err == nil || len(token) > 0 && token[0] == '"' {
		return token
	}
	return nil
}

// reserve reports whether no running request has the token, and reserves the token.
func (s *Session) reserve(token json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens[string(token)] {
		return false
	}
	if s.tokens == nil {
		s.tokens = make(map[string]bool)
	}
	s.tokens[string(token)] = true
	return true
}

func (s *Session) release(token json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, string(token))
}
