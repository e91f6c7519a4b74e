package clients

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// sessions is an MCP server without an SDK: HTTP around mcpadapter.Session. It serves the commands,
// skills and files of a directory to the test programs of other projects:
//
//	session DIR ADDRESS
func sessions() {
	if len(os.Args) != 3 {
		log.Fatal("usage: session DIR ADDRESS")
	}
	catalog := must.Get(toolshelf.New(toolshelf.WithRoot(os.Args[1])))(must.Program)
	adapter := must.Get(mcpadapter.New(catalog))(must.Program)
	listener := must.Get(net.Listen("tcp", os.Args[2]))(must.Program)
	log.Printf("serving http://%s/mcp", listener.Addr())
	log.Fatal(http.Serve(listener, &sessionServer{adapter: adapter}))
}

// A sessionServer has a session for each legacy client. A modern request has a session of its own.
type sessionServer struct {
	adapter  *mcpadapter.Adapter
	sessions sync.Map // of *mcpadapter.Session by Mcp-Session-Id
}

// message is a request or a notification.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// response is a response.
type response struct {
	Version string               `json:"jsonrpc"`
	ID      json.RawMessage      `json:"id"`
	Result  json.RawMessage      `json:"result,omitempty"`
	Error   *mcpadapter.RPCError `json:"error,omitempty"`
}

func (s *sessionServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed) // the server starts no messages
		return
	}
	var m message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, "the body is not a message", http.StatusBadRequest)
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	if m.Method == "initialize" {
		id = rand.Text()
		w.Header().Set("Mcp-Session-Id", id)
		s.sessions.Store(id, s.adapter.NewSession())
	}
	session := s.adapter.NewSession()
	if known, ok := s.sessions.Load(id); ok {
		session = known.(*mcpadapter.Session)
	}
	result, err := session.Handle(r.Context(), m.Method, m.Params)
	if strings.HasPrefix(m.Method, "notifications/") {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var failed *mcpadapter.RPCError
	errors.As(err, &failed)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(response{"2.0", m.ID, result, failed})
}
