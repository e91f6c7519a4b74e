package mcpadapter

import (
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// An errorShape is the form in which a tool contract returns errors.
type errorShape struct {
	schema   string // of the property "error" of the output schema
	relative bool   // messages hide the root without WithRelativePaths too
	failure  func(code toolshelf.Code, message string) Result
}

// errorObject is the error shape of the tools for commands, skills, agents and reports:
// {"error":{"code":"…","message":"…"}}.
var errorObject = errorShape{
	schema: `{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"}},"required":["code","message"]}`,
	failure: func(code toolshelf.Code, message string) Result {
		r, _ := jsonResult(struct {
			Error *toolshelf.Error `json:"error"`
		}{&toolshelf.Error{Code: code, Message: escape.Truncate(message)}})
		r.IsError = true
		return r
	},
}

// message returns the message of an error of the catalog. A message about an option of the
// catalog begins with the name of the option. message replaces the name by the name of the
// argument, because the model knows only the arguments.
func (d definition) message(e *toolshelf.Error) string {
	name, problem, ok := strings.Cut(e.Message, ": ")
	if ok && e.Code == toolshelf.CodeInvalidOption {
		for _, p := range d.parameters {
			if p.Option == name {
				return p.Name + ": " + goAdvice.Replace(problem)
			}
		}
	}
	return withoutGo(e)
}

// withoutGo returns the message of an error of the catalog without the advice for the
// programmer, who sets the options, because the reader is a model or a user.
func withoutGo(e *toolshelf.Error) string { return goAdvice.Replace(e.Message) }

var goAdvice = strings.NewReplacer(
	", and fill in the arguments with Render", "",
	", or raise the limit with WithMaxFileSize", "",
	"raise the limit with WithMaxFileSize", "shorten the file",
	"reads no subdirectories without WithNestedCommands", "reads no subdirectories",
	"; see WithSymlinks", "; replace the link by the directory",
	"; check the path given to WithRoot", "; create the directory",
	"; pass a directory to WithRoot", "; replace the file by a directory",
	"is configured; use WithReports", "is configured",
	"Lines and Column select other lines; omit these options", "start_line, end_line and start_column select other lines; omit these arguments",
	", and that WithSymlinks allows its links", ", and no link",
)

// errorString is the error shape of list_skills and list_agents: {"error":"…"}.
var errorString = errorShape{
	schema: `{"type":"string"}`,
	failure: func(_ toolshelf.Code, message string) Result {
		r, _ := jsonResult(struct {
			Error string `json:"error"`
		}{escape.Truncate(message)})
		r.IsError = true
		return r
	},
}

// errorText is the error shape of the tools for files: the text "Error: …", with the
// code in the structured content.
var errorText = errorShape{
	schema:   errorObject.schema,
	relative: true,
	failure: func(code toolshelf.Code, message string) Result {
		r := errorObject.failure(code, message)
		r.Text = "Error: " + escape.Truncate(message)
		return r
	},
}
