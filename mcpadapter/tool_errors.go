package mcpadapter

import (
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

// A shape is how the contract of a tool puts a failure.
type shape struct {
	schema  string // of the property "error"
	failure func(code toolshelf.Code, message string) Result
}

// coded is the shape of the contracts of list_commands and get_command.
var coded = shape{
	schema: `{"type":"object","description":"What went wrong","properties":{` +
		`"code":{"type":"string","description":"Kind of error, such as INVALID_ARGUMENTS"},` +
		`"message":{"type":"string","description":"What is wrong and what to do about it"}},"required":["code","message"]}`,
	failure: func(code toolshelf.Code, message string) Result {
		r, _ := asJSON(struct {
			Error *toolshelf.Error `json:"error"`
		}{&toolshelf.Error{Code: code, Message: short(message)}})
		r.IsError = true
		return r
	},
}

// short cuts a message that has what was called for in it, which may be long.
func short(message string) string {
	const most = 2000
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "…"
}

// terse is the shape of the contract of list_skills.
var terse = shape{
	schema: `{"type":"string","description":"What is wrong and what to do about it"}`,
	failure: func(_ toolshelf.Code, message string) Result {
		r, _ := asJSON(struct {
			Error string `json:"error"`
		}{short(message)})
		r.IsError = true
		return r
	},
}

// spoken is the shape of the contract of list_directory. A program finds the
// code in the structured content.
var spoken = shape{
	schema: coded.schema,
	failure: func(code toolshelf.Code, message string) Result {
		r := coded.failure(code, message)
		r.Text = "Error: " + short(message)
		return r
	},
}
