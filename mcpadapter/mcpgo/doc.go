// Package mcpgo adds the tools, prompts and resources of an mcpadapter.Adapter to a server of
// github.com/mark3labs/mcp-go.
//
// # Tools
//
// Register adds the tools once, as MCPServer.AddTools does. A tool of the adapter
// replaces the server's tool with the same name. A call may use any accepted spelling of
// a name (see mcpadapter.WithNamespace), unless the server or the session has another
// tool with exactly this name. The list has only the registered spelling. To accept the
// other spellings, Register gives the server a copy of its server.Hooks with a further
// hook.
//
// The tools check their arguments and return errors according to their tool contracts.
// With server.WithInputSchemaValidation, the SDK checks the arguments first and returns
// its own errors.
//
// A call with a progress token sends notifications of progress (see
// mcpadapter.ContextWithProgress). The binding omits a notification while the SDK has an
// unsent notification for the same session. The SDK decodes a token as a float64, so a call
// sends no notification for an integer of 2^53 or more.
//
// # Prompts
//
// Register adds each listed command of the catalog, and each skill that a user may invoke, as a
// prompt (see mcpadapter.Adapter.Prompts). A prompt of the adapter permanently replaces the
// server's prompt with the same name. Filters, middleware and hooks of the server apply to all
// prompts. The binding updates the prompts when the catalog detects a change and before each
// prompts/list, so the list is current even without toolshelf.WithWatch. An update costs as much as
// Adapter.Prompts. prompts/get reads the text of the command or the skill.
//
// The server sends list_changed after prompts are added, removed or changed: one
// notification for all prompts added or changed within a tenth of a second, and one
// notification for all prompts removed in the same time.
//
// If the directories of commands and skills are missing, the server has only its own prompts. If a
// directory cannot be read, the existing prompts stay registered until the next
// successful update.
//
// # Skills
//
// mcp-go has no custom methods, so the methods skills/list, skills/get and
// resources/directory/read of the skills extension do not exist, and the server does not
// declare the extension. The files of the skills are resources nevertheless, if
// mcpadapter.Adapter.ServesSkills: resources/list has the SKILL.md of each published
// skill, and resources/read returns each file. The binding updates the resources when the
// catalog detects a change and before each resources/list. For the notification
// list_changed, create the server with server.WithResourceCapabilities. An unknown file of
// a skill returns -32603, and its message states that the server has no such resource.
//
// # Several adapters
//
// A server may have several adapters. If several catalogs have a command or a skill with the
// same name, the adapter of the last call of Register answers, as long as its catalog has the
// name. All files of all skills are served.
//
// # Differences from mcpadapter.Session
//
// The SDK manages the sessions, their lifecycle and the pages of lists:
//
//   - A list has one page, unless the server has server.WithPaginationLimit. With this
//     option, a full last page has a cursor to an empty page. The SDK accepts any base64
//     as a cursor and rejects other cursors with -32602. mcpadapter.WithPageSize has no
//     effect.
//   - Tools and prompts are sorted by name.
//   - The server answers requests before initialize.
//   - A prompt receives the empty text for an argument that is null. Arguments that are
//     not an object of strings return -32600.
//   - Errors of a prompt, such as an unknown argument, and errors of
//     completion/complete return -32603, because the SDK has no other code for these
//     errors. An unknown tool or prompt returns -32602.
//   - A tool without annotations has empty annotations.
//   - The server ignores notifications/cancelled.
//   - Over stdio and SSE, the SDK sends notifications on a goroutine of its own. If the
//     client reads slowly, the last notification of progress may follow the response.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package mcpgo
