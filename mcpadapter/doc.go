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
//	list_commands     page, page_size                        one page of the commands
//	search_commands   query, max_results                     the commands that fit best
//	get_command       command_name                           one command
//	list_skills                                              the names of the skills, each with a line
//	search_skills     query, max_results                     the skills that fit best
//	get_skill         skill_name                             one skill, and the list of its files
//	read_skill_file   skill_name, path                       one of its files
//	list_directory    path, show_hidden, sort_by             a directory
//	directory_tree    path, exclude_patterns, show_hidden,
//	                  max_depth                              a directory with all below it
//	get_file_info     path                                   one file
//	search_files      pattern, path, exclude_patterns        files whose names match
//	report_feedback   command_name, report_content,
//	                  user_wants_upload, report_name         saves a report
//
// The last is there where the catalog has toolshelf.WithReports; it writes,
// and says so, while all others only read. To have a command's text with
// arguments filled in, see GetPrompt.
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
// Messages hold no path of the host that the caller did not give. The results of
// get_command, get_skill and report_feedback do, as their contracts have it: the
// full path of the file. WithRelativePaths shows paths relative to the root
// instead, in results and in messages.
//
// A skill that says disable-model-invocation is left out by
// Catalog.SkillsPrompt, and listed by the tools, as its contract has it. To
// keep such skills from a model altogether, give New a view of the catalog:
//
//	view, err := catalog.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool {
//		return !s.DisableModelInvocation
//	}))
//
// list_directory, directory_tree and search_files show at most 10,000 entries,
// and say so where there are more; read_skill_file returns at most 1 MiB.
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
