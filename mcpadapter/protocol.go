package mcpadapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// The protocol revisions that Session supports, newest first. In the modern
// revisions (since 2026-07-28), each request names its revision, without a handshake.
// In the legacy revisions, initialize negotiates the revision. The specification uses
// the same two terms.
var (
	modernVersions = []string{"2026-07-28"}
	legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
)

// ProtocolVersions returns the protocol revisions that Session supports, newest
// first.
func ProtocolVersions() []string {
	return append(append([]string{}, modernVersions...), legacyVersions...)
}

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// params are the undecoded members of a request's params.
type params map[string]json.RawMessage

func parseParams(raw json.RawMessage) (params, *RPCError) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var p params
	if err := json.Unmarshal(raw, &p); err != nil {
		if !json.Valid(raw) {
			return nil, &RPCError{Code: CodeParseError, Message: "the params are not valid JSON"}
		}
		return nil, invalidParams("the params are not an object")
	}
	return p, nil
}

// has reports whether a member exists and is not null.
func (p params) has(name string) bool {
	v, ok := p[name]
	return ok && string(v) != "null"
}

// text returns a required string member.
func (p params) text(name string) (string, *RPCError) {
	var s string
	if v := p[name]; len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return "", invalidParams("%q is required and must be a string", name)
	}
	return s, nil
}

// cursor returns the cursor of a list request, or nil if the cursor is missing or null.
// Some clients send null. "" is a cursor.
func (p params) cursor() (*string, *RPCError) {
	if !p.has("cursor") {
		return nil, nil
	}
	s, err := p.text("cursor")
	if err != nil {
		return nil, invalidParams("Invalid cursor: the cursor is not a string; omit the cursor to get the first page of this list")
	}
	return &s, nil
}

// modern reports whether a request names a modern revision. A modern request must have
// all fields that the specification requires under "Per-request protocol fields".
func (p params) modern() (bool, *RPCError) {
	if !p.has("_meta") {
		return false, nil
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(p["_meta"], &meta) != nil {
		return false, invalidParams(`"_meta" is not an object`)
	}
	value, ok := meta[metaVersion]
	if !ok {
		return false, nil
	}
	var version string
	if value[0] != '"' || json.Unmarshal(value, &version) != nil {
		return false, invalidParams("%q in _meta is not a string", metaVersion)
	}
	for _, legacy := range legacyVersions {
		if version == legacy {
			return false, nil // initialize has negotiated the revision
		}
	}
	if version != modernVersions[0] {
		data, _ := escape.Marshal(struct {
			Supported []string `json:"supported"`
			Requested string   `json:"requested"`
		}{ProtocolVersions(), escape.Truncate(version)})
		return false, &RPCError{Code: CodeUnsupportedVersion, Message: "Unsupported protocol version " + escape.Quote(version), Data: data}
	}
	var capabilities map[string]json.RawMessage
	if v, ok := meta[metaCapabilities]; !ok || json.Unmarshal(v, &capabilities) != nil || capabilities == nil {
		return false, invalidParams("%q in _meta is missing or not an object; send {} for no capabilities", metaCapabilities)
	}
	return true, nil
}

// modern returns the beginning of a result for a modern request: an object without the
// closing brace. A client may cache the result for ttl milliseconds, but not share the result
// with other users. The ttl uncacheable omits the hints.
func (c config) modern(ttl int) []byte {
	b := []byte(`{"resultType":"complete",`)
	if ttl != uncacheable {
		b = strconv.AppendInt(append(b, `"ttlMs":`...), int64(ttl), 10)
		b = append(b, `,"cacheScope":"private",`...)
	}
	return fmt.Appendf(b, `"_meta":{%q:%s}`, metaServer, c.serverInfo())
}

// uncacheable is the time to live of a result without hints for caches.
const uncacheable = -1

func (c config) serverInfo() []byte {
	b := escape.AppendJSON([]byte(`{"name":`), c.name)
	return append(escape.AppendJSON(append(b, `,"version":`...), c.version), '}')
}

// The codes of an RPCError. JSON-RPC defines the first five codes.
const (
	CodeParseError         = -32700 // the params are not JSON
	CodeInvalidRequest     = -32600 // the state of the session does not allow the request
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602 // also for an invalid cursor and for an unknown tool or prompt
	CodeInternalError      = -32603 // the context ended, the catalog cannot be read or is closed, or a tool panicked
	CodeUnsupportedVersion = -32022 // an unsupported protocol version; Data lists the supported versions
)

// An RPCError is the "error" member of a JSON-RPC response.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	err error // the cause
}

// Error returns the package name, the message and the code, as in
// "mcpadapter: Unknown tool: \"x\"; the tools are list_skills (-32602)". A JSON-RPC
// response contains only Message and Code.
func (e *RPCError) Error() string { return fmt.Sprintf("mcpadapter: %s (%d)", e.Message, e.Code) }

// Unwrap returns the cause, such as the context's error, or nil.
func (e *RPCError) Unwrap() error { return e.err }

func invalidParams(format string, args ...any) *RPCError {
	return &RPCError{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// because sets the cause.
func (e *RPCError) because(err error) *RPCError {
	e.err = err
	return e
}

// internalError returns the error of a method that failed or did not finish.
func internalError(err error) *RPCError {
	var ours *toolshelf.Error
	if errors.As(err, &ours) {
		return &RPCError{Code: CodeInternalError, Message: "the request was not served: " + withoutGo(ours) + " (" + string(ours.Code) + ")", err: err}
	}
	return &RPCError{Code: CodeInternalError, Message: "the request was not finished: " + err.Error(), err: err}
}

// asRPCError converts an error to an RPCError.
func asRPCError(err error) *RPCError {
	var e *RPCError
	if errors.As(err, &e) {
		return e
	}
	return internalError(err)
}
