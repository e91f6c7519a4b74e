package mcpadapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/toolshelf-go/toolshelf"
)

// The codes of an RPCError. The first five are JSON-RPC's own.
const (
	CodeParseError         = -32700 // the params are not JSON
	CodeInvalidRequest     = -32600 // the request cannot be served in the state that the session is in
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602 // also of a cursor, a tool or a prompt that there is not
	CodeInternalError      = -32603 // the context ended, or the catalog cannot be read or is closed
	CodeUnsupportedVersion = -32022 // of the protocol; Data tells which are supported
)

// An RPCError is an error of the protocol: the "error" of a JSON-RPC response.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	err error // the cause
}

// Error returns the package name, the message and the code, as in
// "mcpadapter: Unknown tool: \"x\"; there are list_skills (-32602)". A JSON-RPC
// response holds Message, without the package name.
func (e *RPCError) Error() string { return fmt.Sprintf("mcpadapter: %s (%d)", e.Message, e.Code) }

// Unwrap returns the cause, such as the context's error; nil if there is none.
func (e *RPCError) Unwrap() error { return e.err }

func invalidParams(format string, args ...any) *RPCError {
	return &RPCError{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// internalError is how a method fails that was not finished.
func internalError(err error) *RPCError {
	var ours *toolshelf.Error
	if errors.As(err, &ours) {
		return &RPCError{Code: CodeInternalError, Message: "the request was not served: " + ours.Message + " (" + string(ours.Code) + ")", err: err}
	}
	return &RPCError{Code: CodeInternalError, Message: "the request was not finished: " + err.Error(), err: err}
}

// quote makes a client's text fit to stand in a message: one line, not too long.
func quote(s string) string {
	const maxBytes = 100
	if len(s) > maxBytes {
		s = s[:maxBytes] + "…"
	}
	return strconv.Quote(s)
}

// asRPCError is an error of ours as one of the protocol.
func asRPCError(err error) *RPCError {
	var e *RPCError
	if errors.As(err, &e) {
		return e
	}
	return internalError(err)
}
