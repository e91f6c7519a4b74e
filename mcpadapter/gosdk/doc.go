// Package gosdk adds the tools, prompts and skills of an mcpadapter.Adapter to a server of
// the official Go SDK of the Model Context Protocol,
// github.com/modelcontextprotocol/go-sdk.
//
// # Tools
//
// Register adds the tools once, as Server.AddTool does. A tool of the adapter replaces
// the server's tool with the same name. Later calls of AddTool and RemoveTools can
// replace and remove the adapter's tools. A call may use any accepted spelling of a name
// (see mcpadapter.WithNamespace), unless the server has another tool with exactly this
// name.
//
// A call with a progress token sends notifications of progress in the stream of its request
// (see mcpadapter.ContextWithProgress). The SDK decodes a token as a float64, so a call
// sends no notification for an integer of 2^53 or more. A client that reads nothing delays
// the response, but not the work of the call.
//
// # Prompts
//
// Each listed command of the catalog, and each skill that a user may invoke, is a prompt (see
// mcpadapter.Adapter.Prompts). The binding reads the catalog for each prompts/list, prompts/get and
// completion/complete. The SDK keeps the server's own prompts in a set. Register does not copy the
// prompts of the catalog into this set, because a copy would become outdated without
// toolshelf.WithWatch. In a list, the server's own prompts follow the prompts of the catalog. If
// both have a prompt of the same name, the catalog's prompt wins.
//
// The SDK declares prompts and announces changes only for its set of prompts. Register therefore
// adds a prompt with the empty name to the set. Clients never see this prompt, because the binding
// removes this prompt from all results. When commands or skills are added, removed or changed, the
// server sends one notification for all changes within a tenth of a second. Without
// toolshelf.WithWatch, the catalog detects changes only when a request reads the catalog.
//
// If the directories of commands and skills are missing, the server has only its own prompts. If
// a directory cannot be read, prompts/list returns -32603 with the catalog's message,
// and prompts/get returns the server's own prompts.
//
// # Skills
//
// If the adapter serves skills (see mcpadapter.Adapter.ServesSkills), the server declares
// the extension io.modelcontextprotocol/skills and answers skills/list, skills/get and
// resources/directory/read. The files of the skills are resources with the scheme skill://.
// In a list, the server's own resources follow the skills. If a skill and an own resource
// have the same URI, the skill wins. A server with several adapters serves the skills of
// all adapters. Each session of the SDK has an mcpadapter.Session, which remembers the
// entries of the client; see mcpadapter.Session.ReadResource. Results of the extension may
// not be cached.
//
// When a SKILL.md is added, removed or changed, the server announces a change of the
// resources, and an update of SKILL.md to the clients that have subscribed to its URI. The
// SDK accepts subscriptions only if ServerOptions.SubscribeHandler and UnsubscribeHandler
// are set; functions that return nil are sufficient. As for prompts, Register adds a
// resource that clients never see.
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
// Pages of prompts, skills and resources have the same size, but at most 100 rows. A
// cursor within the commands or the skills stays valid if commands or skills are added or
// removed.
//
// The SDK's ServerOptions.SetCacheable sets how long a client may cache a list, and whether
// users may share the list. Without a time, clients may neither cache nor share a list.
//
// # HTTP
//
// NewHTTPHandler serves a server over streamable HTTP without sessions, with limits for its
// clients. docs/guide.md has a table of the limits.
//
// # Differences from mcpadapter.Session
//
// The SDK manages the sessions and their lifecycle:
//   - A request before initialize returns an error with the code 0.
//   - A prompt receives the empty text for an argument that is null.
//   - An empty file of a skill is a blob, because the SDK drops an empty text.
//   - The server has the name and version with which the program created it.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package gosdk
