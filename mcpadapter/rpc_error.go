package mcpadapter

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolshelf-go/toolshelf"
)

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
