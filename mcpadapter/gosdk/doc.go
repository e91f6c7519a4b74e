// Package gosdk offers the tools and prompts of an mcpadapter.Adapter in a
// server of the official Go SDK of the Model Context Protocol,
// github.com/modelcontextprotocol/go-sdk.
//
// # Tools
//
// The tools are registered with the server once, as Server.AddTool would: a
// tool of the same name that the server has is replaced, and a later AddTool
// or RemoveTools concerns them like any others. On a call, the other spellings
// of a name (see mcpadapter.WithNamespace) are accepted, unless the server has
// another tool of exactly that name.
//
// # Prompts
//
// Each command that the catalog lists is a prompt. The SDK keeps prompts in a
// set of its own, which would have to hold a copy of every command: read when
// the server starts, and old from then on wherever the catalog is not watched.
// So the commands are not copied. prompts/list, prompts/get and
// completion/complete ask the catalog each time, and the server's own prompts
// come after the commands. Where both have a prompt of one name, it is the
// command's.
//
// The SDK announces prompts, and tells clients of changes, only for its own
// set. So this package keeps a prompt with the empty name there, which it
// leaves out of what clients see. When commands come, go or change, clients
// are told that the list did: once for all that happened in a tenth of a
// second. Without toolshelf.WithWatch changes are found when something reads
// the catalog, such as a client's own request.
//
// Where the folder of commands is missing there are no prompts but the
// server's own. Where it cannot be read, prompts/list fails with the code
// -32603 and the catalog's message until it can; prompts/get serves the
// server's own nevertheless.
//
// # Pages
//
// tools/list has exactly max(1, ceil(n/size)) pages of all n tools of the
// server, of the size of mcpadapter.WithPageSize; the SDK's
// ServerOptions.PageSize does not show. The adapter's tools come first, in the
// order of Adapter.Tools, and the server's others after them by name. A cursor
// is good as long as the list is what it was. Every other one is refused with
// -32602. "" is taken for none: the SDK does not tell them apart.
//
// Pages of prompts have the same size, but at most 100. A cursor among the
// commands stays good when commands come and go.
//
// How long a client may keep a list is for the SDK's
// ServerOptions.SetCacheable to say; without it, not at all.
//
// # What is the SDK's
//
// Sessions are the SDK's, and so is all of the lifecycle. In difference from
// mcpadapter.Session, a request before initialize has an error with the code
// 0, null for a prompt's argument is an empty text, and the server introduces
// itself by the name that it was made with.
package gosdk
