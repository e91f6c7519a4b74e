// Package gosdk adds the tools and prompts of an mcpadapter.Adapter to a server of
// the official Go SDK of the Model Context Protocol,
// github.com/modelcontextprotocol/go-sdk.
//
// # Tools
//
// Register adds the tools once, as Server.AddTool does. A tool replaces a tool of the
// same name that the server already has. Later calls of AddTool and RemoveTools apply
// to the adapter's tools as to all others. A call may use another accepted spelling of
// a name (see mcpadapter.WithNamespace), unless the server has another tool of exactly
// this name.
//
// # Prompts
//
// Each listed command of the catalog is a prompt. The SDK keeps prompts in a set of its
// own. A copy of the commands in this set would become outdated if the catalog is not
// watched, so Register makes no copy. For each prompts/list, prompts/get and
// completion/complete, the binding reads the catalog. The server's own prompts follow
// the commands. If a command and an own prompt have the same name, the command wins.
//
// The SDK declares prompts and announces changes only for its own set. Register
// therefore adds a prompt with the empty name to this set, and removes it from all
// results. When commands are added, removed or changed, the server sends one
// notification for all changes within a tenth of a second. Without
// toolshelf.WithWatch, the catalog detects changes only when a request reads it.
//
// If the directory of commands is missing, the server has only its own prompts. If
// the directory cannot be read, prompts/list returns -32603 with the catalog's message,
// and prompts/get returns the server's own prompts.
//
// # Pages
//
// For n tools of the server, tools/list has exactly max(1, ceil(n/size)) pages.
// mcpadapter.WithPageSize sets the size; the SDK's ServerOptions.PageSize has no
// effect. The adapter's tools come first, in the order of Adapter.Tools. The other
// tools of the server follow in the order of their names. A cursor is valid until the
// list changes. The binding rejects every other cursor with -32602. The cursor "" means
// the first page, because the SDK does not distinguish "" from a missing cursor.
//
// Pages of prompts have the same size, but at most 100 prompts. A cursor within the
// commands stays valid if commands are added or removed.
//
// The SDK's ServerOptions.SetCacheable sets the time for which a client may cache a
// list. By default, clients may not cache lists.
//
// # Differences from mcpadapter.Session
//
// The SDK manages the sessions and their lifecycle:
//   - A request before initialize returns an error with the code 0.
//   - A prompt receives the empty text for an argument that is null.
//   - The server has the name and version with which the program created it.
package gosdk
