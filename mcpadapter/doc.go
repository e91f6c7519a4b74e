// Package mcpadapter offers a toolshelf.Catalog to a model: as tools, for
// agents that hand on function calls themselves, and as tools and prompts of
// the Model Context Protocol (MCP), for any server. It imports no SDK; the
// packages gosdk and mcpgo below it register an Adapter with a server of one.
//
// # Three ways to use it
//
// An agent without MCP gives Tools to its model and answers each call with
// Call. The arguments are the JSON that the model wrote, and the result is the
// text that the contract of the tool promises, also where something went
// wrong.
//
// A server that speaks JSON-RPC itself has a Session for each client, and
// hands it each message's method and params. What Session guarantees and what
// an SDK leaves to chance is in the table:
//
//	                      Session                        gosdk              mcpgo
//	pages of tools/list   exactly max(1, ceil(n/size))   the same           the SDK's
//	a bad cursor          refused with -32602            the same           any base64 is taken
//	before initialize     refused with -32600 and state  refused by the SDK served by the SDK
//	protocol 2026-07-28   yes                            yes                yes
//	list_changed          the transport's business       sent               sent
//
// # Tools
//
// The library's tools are list_commands, search_commands, get_command,
// list_skills, search_skills, get_skill, read_skill_file, list_directory,
// directory_tree, get_file_info and search_files, which only read, and, where
// the catalog has toolshelf.WithReports, report_feedback, which writes and
// says so.
//
// Their input is checked against their schema. The slips of models that do no
// harm are accepted: null for an argument that is left out, "10" and 10.0 for
// 10, nothing at all for {}. Everything else is refused, an argument that the
// schema does not have too, with a message that says what to send instead.
//
// What goes wrong in a call is a Result with IsError. The tools for commands,
// skills and reports put it as {"error":{"code":"…","message":"…"}},
// list_skills as {"error":"…"}, and those for files as the text "Error: …"
// with the code in the structured content. Codes are those of package
// toolshelf, and INVALID_ARGUMENTS for arguments that are wrong as a whole.
// Messages hold no path of the host that the caller did not give.
//
// list_directory, directory_tree and search_files show at most 10,000 entries,
// and say so where there are more.
//
// # Prompts
//
// Each command that the catalog lists is a prompt of its name, with the
// arguments of Command.Arguments and the text of Command.RenderNamed. Nothing
// that the text asks for, such as !`command` or @file, is done.
//
// # Sources
//
// Model Context Protocol, revisions 2026-07-28 and 2025-11-25: lifecycle,
// versioning, pagination, caching, tools, prompts, completion.
package mcpadapter
