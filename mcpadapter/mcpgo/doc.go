// Package mcpgo offers the tools and prompts of an mcpadapter.Adapter in a
// server of github.com/mark3labs/mcp-go.
//
// # Tools
//
// The tools are registered with the server once, as MCPServer.AddTools would:
// a tool of the same name that the server has is replaced. On a call, the
// other spellings of a name (see mcpadapter.WithNamespace) are accepted,
// unless the server or the session has another tool of exactly that name; they
// are not listed. For this purpose, Register gives the server a copy of its
// server.Hooks with a further hook.
//
// The tools check their arguments themselves, and answer as their contracts
// say. With server.WithInputSchemaValidation the SDK checks them first, and
// answers in its own words.
//
// # Prompts
//
// Each command that the catalog lists is registered as a prompt, and a prompt
// of the same name that the server has is replaced, for good. Filters, middleware and
// hooks of the server see them like any others. What is registered is brought
// up to date when the catalog finds a change, and before each prompts/list, so
// that the list is as fresh as the files also without toolshelf.WithWatch;
// that costs what Adapter.Prompts does. The text is read when prompts/get asks
// for it.
//
// Clients are told when the list changed, after commands came, went or
// changed: once for all that came or changed in a tenth of a second, and once
// for all that went.
//
// Where the folder of commands is missing there are no prompts but the
// server's own. Where it cannot be read, prompts that were read before stay
// registered, and the catalog is asked again at the next list.
//
// # What is the SDK's
//
// Sessions are the SDK's, and so are the lifecycle and the pages of lists. In
// difference from mcpadapter.Session:
//
//   - There are no pages, unless the server has server.WithPaginationLimit. Then a last page that
//     is full has a cursor to an empty one, and any base64 is taken for a cursor.
//     Another cursor is refused with -32602. mcpadapter.WithPageSize has no effect.
//   - Tools and prompts are sorted by name.
//   - Requests before initialize are served.
//   - Null for a prompt's argument is an empty text. Arguments that are not an
//     object of texts have the code -32600.
//   - An error of a prompt, such as an argument that it does not have, has the code
//     -32603, as do errors of completion/complete: the SDK has no other for them.
//     A tool or prompt that there is not has -32602.
//   - A tool without annotations has empty ones.
package mcpgo
