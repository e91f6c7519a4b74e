package skillsclient

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

const (
	listMethod = "skills/list"
	getMethod  = "skills/get"
	readMethod = "resources/read"
)

var labelForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,32}$`)

// A Host reads the skills of the servers of one program. The zero Host is ready for use.
// A Host must not be copied after its first use. All methods are safe for concurrent use.
type Host struct {
	// Timeout is the maximum duration of a list with all its pages, of a Get and of the
	// read of a file, in addition to the limits of the context. 0 means one minute. Do not
	// change Timeout after the first call of Server.
	Timeout time.Duration

	mu      sync.Mutex
	servers map[string]*Server // by the lowercase label
}

// NewClient is [mcp.NewClient] for a client whose sessions read skills. NewClient adds the
// methods skills/list and skills/get, and calls [Server.Refresh] before a
// ResourceListChangedHandler of the options. The options may be nil. NewClient returns an
// error if the SDK rejects the methods.
func (h *Host) NewClient(impl *mcp.Implementation, opts *mcp.ClientOptions) (*mcp.Client, error) {
	var own mcp.ClientOptions
	if opts != nil {
		own = *opts
	}
	own.ResourceListChangedHandler = func(ctx context.Context, r *mcp.ResourceListChangedRequest) {
		h.changed(r.Session)
		if opts != nil && opts.ResourceListChangedHandler != nil {
			opts.ResourceListChangedHandler(ctx, r)
		}
	}
	c := mcp.NewClient(impl, &own)
	return c, errors.Join(
		mcp.AddSendingCustomMethod[*listParams, *listResult](c, listMethod),
		mcp.AddSendingCustomMethod[*getParams, *getResult](c, getMethod),
	)
}

// changed marks the lists of a session as stale.
func (h *Host) changed(session *mcp.ClientSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.servers {
		if s.session == session {
			s.Refresh()
		}
	}
}

// Server returns the skills of a server. The session is of a client of NewClient. The
// label identifies the server for users and models, so the host chooses the label and
// never takes the name that the server gives itself. A label has 1 to 32 letters, digits,
// "-" and "_" of ASCII.
//
// Server sends no request. Server returns [ErrNotSupported] if the server does not declare
// the extension, and [ErrInvalidLabel] for an invalid label and for a label that another
// Server has, in any letter case. Close the Server when the session ends.
func (h *Host) Server(label string, session *mcp.ClientSession) (*Server, error) {
	fail := func(kind error, message string) (*Server, error) {
		return nil, &Error{Server: label, Kind: kind, Message: message}
	}
	if !labelForm.MatchString(label) {
		return fail(ErrInvalidLabel, `the label is invalid; use 1 to 32 letters, digits, "-" and "_"`)
	}
	if session == nil {
		return fail(ErrNotSupported, "the session is nil; connect a client first")
	}
	init := session.InitializeResult()
	if init == nil || init.Capabilities == nil || init.Capabilities.Extensions[mcpadapter.SkillsExtension] == nil {
		return fail(ErrNotSupported, "the server does not declare the extension "+mcpadapter.SkillsExtension)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := strings.ToLower(label)
	if h.servers[key] != nil {
		return fail(ErrInvalidLabel, "another server has the label; choose a label for each server")
	}
	if h.servers == nil {
		h.servers = make(map[string]*Server)
	}
	timeout := h.Timeout
	if timeout <= 0 {
		timeout = time.Minute
	}
	s := &Server{host: h, label: label, session: session, timeout: timeout, maxList: maxListSize, turn: make(chan struct{}, 1)}
	s.contents.Max = maxSkillSize + 1<<10 // the largest file and its entry
	s.state = s.finish(&state{entries: map[string]*held{}})
	s.announces = init.Capabilities.Resources != nil && init.Capabilities.Resources.ListChanged
	h.servers[key] = s
	return s, nil
}

// remove forgets a server and frees the label.
func (h *Host) remove(s *Server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if key := strings.ToLower(s.label); h.servers[key] == s {
		delete(h.servers, key)
	}
}
