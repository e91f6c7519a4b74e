// Package mcpadapter offers a toolshelf.Catalog to a model: as tools for agents
// that dispatch function calls themselves, and as tools, prompts and skills of the Model
// Context Protocol (MCP) for any server. Package mcpadapter imports no SDK. Its
// subpackages gosdk and mcpgo register an Adapter with the server of an SDK.
//
// # Three ways to use an Adapter
//
// An agent without MCP gives Tools to its model and answers each call with Call.
// The arguments are the JSON that the model wrote. The result has a text for the
// model, even if the call fails. For the types of agent frameworks, Tool.Schema
// returns the input schema as a map, and Answer, AnswerErr and AnswerMap return the
// answer as a text, with a Go error or as a map. WithDialect adapts the schemas to the
// strict modes of the APIs.
//
// A JSON-RPC server without an SDK creates a Session for each client, and passes
// the method and the params of each message to Session.Handle.
//
// A server with an SDK uses gosdk or mcpgo. The table compares the guarantees:
//
//	                      Session                         gosdk                mcpgo
//	pages of tools/list   exactly max(1, ceil(n/size))    the same             decided by the SDK
//	invalid cursor        rejected with -32602            the same             accepted if it is base64
//	before initialize     rejected with -32600 and state  rejected by the SDK  served by the SDK
//	protocol 2026-07-28   yes                             yes                  yes
//	list_changed          sent by the transport           sent                 sent
//	progress              sent by the transport           sent                 sent
//	skills                yes                             yes                  resources only
//
// # Tools
//
//	list_commands     one page of the commands
//	search_commands   the best matching commands
//	get_command       one command
//	list_skills       the names and descriptions of the skills
//	search_skills     the best matching skills
//	get_skill         one skill and the list of its files
//	read_skill_file   one file of a skill
//	list_agents       the names and descriptions of the agents
//	get_agent         one agent
//	get_instructions  the instructions for a file or a directory
//	list_directory    one page of a directory
//	directory_tree    a directory and everything below
//	get_file_info     one file
//	search_files      files with matching names
//	search_text       matching lines of text files
//	read_file         lines of text files
//	report_feedback   saves a report
//
// Each tool has a tool contract: its arguments with their defaults and limits, its
// results and its error codes. The file docs/tools.md of the repository lists all
// tool contracts, and Tool.InputSchema has the arguments.
//
// A catalog without any directory of commands, of skills or of agents, offers no tools for them;
// see toolshelf.WithCommandsDir and toolshelf.WithAgentsDir. get_instructions requires the clients
// of toolshelf.WithInstructions, and report_feedback requires toolshelf.WithReports. Only
// report_feedback writes, and its annotations declare this. No tool fills arguments into the text
// of a command; see GetPrompt.
//
// A tool checks its arguments against its input schema. A tool accepts three
// harmless deviations: null for an omitted argument, "10" and 10.0 for 10, and
// empty input for {}. A tool rejects all other deviations, including unknown
// arguments, with a message that states the accepted values.
//
// The results of the tools for files, get_skill, get_agent, get_instructions and read_skill_file
// are texts. Only with WithStructuredContent, these tools declare an output schema and return
// structured content too, because several clients then hand a model only the structured content.
// The results of the other tools are JSON.
//
// A failed call is a Result with IsError. The tools for commands, skills, agents and reports return
// the error as {"error":{"code":"…","message":"…"}}. list_skills and list_agents return
// {"error":"…"}. The tools for files and get_instructions return the text "Error: …", with the code
// in the structured content. The codes are the codes of package toolshelf, and INVALID_ARGUMENTS
// for arguments that do not fit the schema.
//
// A message contains no path of the host that the caller did not provide. The
// results of get_command, get_skill, get_agent and report_feedback contain the full path of
// the file. WithRelativePaths shows paths relative to the root in results and
// messages.
//
// The tools and the skills over MCP omit the skills that a model may not see, as
// Catalog.SkillsPrompt does: skills with disable-model-invocation, and all others whose
// toolshelf.Exposure is ExposeUser or ExposeOff. The prompts omit only skills that are off.
//
// Unless a call sets other limits, list_directory, directory_tree and search_files return at most
// 1,000 entries, search_text returns at most 100 lines, and the text of each has at most 20,000
// characters. The text reports the number of further entries. With WithStructuredContent, the same
// limits apply to the structured content. directory_tree, search_files and search_text omit entries
// that .gitignore files ignore, and do not enter .git, node_modules and other directories of
// dependencies. read_skill_file returns at most 1 MiB, and read_file at most 64 KiB, or 256 KiB on
// request.
//
// # Progress
//
// If a tools/call has a progress token, the server sends notifications/progress while
// list_directory, directory_tree, search_files, search_text, search_commands or
// search_skills runs: about six a second, only after a change, and none for a short call.
// The progress is the number of entries and files so far. The message states both numbers.
// No notification has a total or follows the response. The bindings do this without an
// option. A transport of a Session, and an agent without MCP, use ContextWithProgress. No
// other method of MCP sends notifications of progress.
//
// # Prompts
//
// Each listed command of the catalog, and then each skill that a user may invoke, is a prompt with
// the name of the command or the skill. A skill has precedence over a command of the same name.
// Renderer.Arguments determines the arguments of the prompt, and Renderer.Render its
// text. The adapter executes no !`command` and reads no @file of the text.
//
// # Skills
//
// Each skill of the catalog is published by the extension io.modelcontextprotocol/skills
// (SEP-2640): skills/list and skills/get return its entry with the frontmatter and the
// digests of all files, and resources/read returns a file. The extension is declared if a
// directory of skills exists; WithoutSkillResources turns the extension off.
//
// The URI of a skill is skill://DIRECTORIES/NAME/SKILL.md. NAME is the name in the
// frontmatter, also if the directory has another name. DIRECTORIES are the directories
// above the skill (see toolshelf.WithSkillDepth) and, if the catalog has several layers of
// skills, the name of the layer before these directories. A URI contains no path of the
// host. Each file has one URI with one spelling; every other URI is rejected with
// CodeInvalidParams.
//
// The adapter omits a skill that clients must reject: a name with other characters than a
// to z, digits and single hyphens, no description, frontmatter that is not valid YAML, more
// than 512 files, more than 16 MiB, or a file that cannot be read. Adapter.SkillDiagnostics
// reports each omitted skill. All other skills are published with all files of Skill.Files.
//
// The entry of a skill describes one state of its files. If a file changes afterwards,
// resources/read returns an error that asks the client for a fresh entry, and never bytes
// that differ from the entry of the client; see Session.ReadResource. Lists read a file only
// after a change of the file, as Digests describes.
//
// # Sources
//
// Model Context Protocol, revisions 2026-07-28 and 2025-11-25: lifecycle,
// versioning, pagination, caching, progress, tools, prompts, completion, resources. Skills
// extension: modelcontextprotocol/ext-skills, specification/stable/skills.mdx.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package mcpadapter
