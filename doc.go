// Package toolshelf gives programs that run an AI agent access to commands, skills
// and project files, on any filesystem.
//
//	catalog, err := toolshelf.New(toolshelf.WithRoot(dir))
//	list, err := catalog.List(ctx, toolshelf.Page{Size: 20}) // dir/commands/*.md
//	found, err := catalog.Search(ctx, "check a pull request", 3)
//	command, err := catalog.Get(ctx, "review-pr")
//	text, err := command.Render("417")
//	skills, err := catalog.ListSkills(ctx) // dir/skills/*/SKILL.md
//	skill, err := catalog.GetSkill(ctx, "pdf")
//	listing, err := catalog.ListDir(ctx, "src")
//	text, err := catalog.ReadFile(ctx, "src/main.go", toolshelf.Lines(1, 100))
//	matches, err := catalog.Grep(ctx, "src", "func main", toolshelf.Literal)
//
// The subpackage mcpadapter offers all of this to a model as tools, and to clients of
// the Model Context Protocol (MCP) through any server.
//
// The library loads every file, even if the file has defects, and is safe with directories under
// the control of other people, and with names and paths of a model. A catalog in memory behaves
// like a catalog on disk. The library edits no file (except the reports of [Catalog.SaveReport]),
// runs no command, and calls no model. README.md in https://github.com/toolshelf-go/toolshelf has
// examples by task.
//
// # What to call
//
//   - Commands: [Catalog.List], [Catalog.All], [Catalog.Get], [Catalog.Commands] (all, with
//     their texts), [Catalog.Search], [Command.Render], [Renderer], [Catalog.CommandsPrompt].
//   - Skills: [Catalog.ListSkills], [Catalog.GetSkill], [Catalog.Skills] (all, with their
//     texts), [Catalog.ReadSkillFile], [Skill.FS], [Catalog.SearchSkills],
//     [Catalog.SkillsPrompt], [Skill.Prompt], [Catalog.RestorePrompt].
//   - Agents: [Catalog.ListAgents], [Catalog.GetAgent], [Catalog.Agents] (all, with their texts),
//     [Catalog.AgentsPrompt].
//   - Instructions such as AGENTS.md: [Catalog.Instructions], [Catalog.InstructionsPrompt].
//   - Files of the project: [Catalog.ListDir], [Catalog.Tree], [Catalog.FindFiles],
//     [Catalog.Stat], [Catalog.ReadFile], [Catalog.Grep]; [Budget] and [Tokens] bound the text.
//   - Plugins: [WithPlugins], [Catalog.Plugins]. MCP servers: [Catalog.MCPServers].
//   - Unseen files: [WithGate], [Catalog.Pending]. Changes: [Catalog.OnChange].
//   - Authors: [Catalog.Lint]. Reports of a model: [Catalog.SaveReport], [Catalog.Reports].
//
// [Option] lists the options of [New]: directories, filesystems, clients, filters, watches.
//
// # Terms
//
// A command is a Markdown file. Its name is the name of the file without ".md". A
// command may begin with frontmatter: a header in YAML between two lines of "---",
// in TOML between two lines of "+++", or in JSON. A command with is_dependency: true is part of
// other commands: Get serves the command, and List omits the command.
//
// A skill is a directory with a SKILL.md in the Agent Skills format
// (https://agentskills.io/specification). An agent is a Markdown file that describes the task, the
// tools and the model of an agent. A plugin is a directory of commands, skills and agents, which
// people install from a marketplace.
//
// A layer is one directory of commands or of skills. The directory is on the
// catalog's filesystem, or is an [io/fs.FS]. If several layers contain the same name,
// the first layer has precedence, and the files of the other layers are shadowed.
//
// A snapshot is the sorted, immutable content of all layers at the time of a call.
//
// A diagnostic describes a defect of a file, with a position and a code, for the author of the
// file. A filesystem is confined to a directory if no name, path or link leads out of the
// directory.
//
// # Errors
//
// Each error of this package, except the *fs.PathError of [Skill.FS], is an [*Error]
// with a [Code]. Each code has a sentinel for errors.Is. [CodeOf] returns the code of
// any error. If a context ends, the method returns the context's error unchanged, except
// that a search beyond its deadline returns [ErrSearchTimeout].
//
// A defect of one file is a diagnostic, not an error. The methods that list serve the
// file as far as possible, or omit the file. An unreadable layer directory is an error,
// because a list without the layer would look complete. A missing layer is empty as
// long as another layer exists.
//
// # Concurrency
//
// A [Catalog] is safe for concurrent use. A method returns the error of its context as
// soon as the context ends, even if a filesystem hangs. A program may call
// [Catalog.Close] at any time. Calls in progress then return [ErrClosed] or their
// result. After Close has returned, nothing touches the filesystem.
//
// Results belong to the caller, who may modify them.
//
// # Confinement
//
// The paths of the file methods are relative to the root (see [WithRoot]). A path or a link that
// leaves the root is [ErrOutsideRoot]. The names of commands and skills never become paths. On the
// operating system's filesystem, no replaced directory and no link leads a call outside, even
// during the call. On other filesystems, the library checks each element of a path before use. The
// document docs/methods.md has the exact rules, and SECURITY.md the threats.
//
// # Cost and platforms
//
// A call that lists reads each directory once and stats each file, unless [WithWatch], [WithFeed]
// or [WithCacheTTL] is set, and concurrent callers share the work. The library never polls. The
// documents docs/methods.md, docs/stores.md and docs/platforms.md have the details.
package toolshelf
