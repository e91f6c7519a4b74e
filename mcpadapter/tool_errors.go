package mcpadapter

import (
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

// An errorShape is how the contract of a tool puts a failure.
type errorShape struct {
	schema  string // of the property "error"
	failure func(code toolshelf.Code, message string) Result
}

// errorObject is the shape of the contracts of list_commands and get_command.
var errorObject = errorShape{
	schema: `{"type":"object","description":"What went wrong","properties":{` +
		`"code":{"type":"string","description":"Kind of error, such as INVALID_ARGUMENTS"},` +
		`"message":{"type":"string","description":"What is wrong and what to do about it"}},"required":["code","message"]}`,
	failure: func(code toolshelf.Code, message string) Result {
		r, _ := jsonResult(struct {
			Error *toolshelf.Error `json:"error"`
		}{&toolshelf.Error{Code: code, Message: truncate(message)}})
		r.IsError = true
		return r
	},
}

// truncate cuts a message that has what was called for in it, which may be long.
func truncate(message string) string {
	const maxBytes = 2000
	if len(message) <= maxBytes {
		return message
	}
	return strings.ToValidUTF8(message[:maxBytes], "") + "…"
}

// errorString is the shape of the contract of list_skills.
var errorString = errorShape{
	schema: `{"type":"string","description":"What is wrong and what to do about it"}`,
	failure: func(_ toolshelf.Code, message string) Result {
		r, _ := jsonResult(struct {
			Error string `json:"error"`
		}{truncate(message)})
		r.IsError = true
		return r
	},
}

// errorText is the shape of the contract of list_directory. A program finds the
// code in the structured content.
var errorText = errorShape{
	schema: errorObject.schema,
	failure: func(code toolshelf.Code, message string) Result {
		r := errorObject.failure(code, message)
		r.Text = "Error: " + truncate(message)
		return r
	},
}
