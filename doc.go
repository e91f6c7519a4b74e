// Package toolshelf gives programs that run an agent access to commands, skills and
// project files, over any filesystem.
//
//	catalog, err := toolshelf.New(toolshelf.WithRoot(dir))
//	list, err := catalog.List(ctx, toolshelf.Page{Size: 20}) // dir/commands/*.md
//	found, err := catalog.Search(ctx, "check a pull request", 3)
//	command, err := catalog.Get(ctx, "review-pr")
//	text, err := command.Render("417")
//	skills, err := catalog.ListSkills(ctx) // dir/skills/*/SKILL.md
//	skill, err := catalog.GetSkill(ctx, "pdf")
//	listing, err := catalog.ListDir(ctx, "src")
//
// The package mcpadapter below this directory offers all of this to a model as
// tools, and to any server of the Model Context Protocol (MCP).
//
// The goals are to:
//
//   - load every file that people have written, in any state, and report its
//     problems;
//   - be safe with directories that other people control, and with names and paths
//     that a model generates;
//   - return typed values, with a JSON form and a text form for a model;
//   - be easy to test: a catalog in memory behaves like a catalog on disk;
//   - cost little more than the necessary directory reads and stats.
//
// Non-goals are writing or editing files (except the reports of
// [Catalog.SaveReport]), running commands or scripts, evaluating text from files,
// calling a model, and being a program: there is no daemon, no command line and no
// global state.
//
// # Terms
//
// A command is a Markdown file. Its name is the name of the file without ".md". A
// command may begin with frontmatter: a header in YAML between two lines of "---",
// in TOML between two lines of "+++", or in JSON. Blank lines before the header
// cause a diagnostic. A command with is_dependency: true is part of other commands:
// Get serves the command, and List omits it.
//
// A skill is a directory with a SKILL.md in the Agent Skills format
// (https://agentskills.io/specification).
//
// A layer is one directory of commands or skills, on the catalog's filesystem or on
// its own. If several layers contain the same name, the first layer has precedence,
// and the other files are shadowed.
//
// A snapshot is the sorted, immutable content of all layers at the time of a call.
// Each call is answered from one snapshot.
//
// A diagnostic is a problem that the author of a file should correct. A diagnostic
// has a position and a code, and affects no other file. [Catalog.Lint] returns all
// diagnostics.
//
// Confined means that no name, path or link leads out of a directory.
//
// # Confinement
//
// The paths of the file methods are relative to the root (see [WithRoot]). A path
// that leaves the root is [ErrOutsideRoot]; the error does not depend on whether the
// path exists. The names of commands and skills are compared with the names found in
// the layers and never become paths.
//
// On the operating system's filesystem, which is the default, the library opens
// every file step by step: each element of a path is opened by name, relative to the
// open directory of the previous step, and never through a link (openat with
// O_NOFOLLOW on Linux, [os.Root] elsewhere). No path is checked first and used later,
// so a directory that is replaced by a link during a call leads to an error, not
// outside. Only regular files are read. A named pipe or a device blocks no call.
// Listings do not follow links. Links to commands and skills are resolved by the same
// steps, as [WithSymlinks] permits.
//
// Reports are written by the same steps: as a new file, under an unused name, in an
// open directory that is not a link.
//
// Mount points and hard links are not checked. The path of the root itself belongs to
// the program and may contain links: the root is the directory that has this path at
// the time of a call.
//
// On any other [afero.Fs] (see [WithFs]) and [io/fs.FS], the library checks paths by
// their text and checks each element before use, so links are detected if the
// filesystem reports links. These checks suffice if no other program changes files
// during a call, as in a test or an archive. They cannot exclude a race with a program
// that does, and they do not see links that a filesystem follows silently. An
// afero.OsFs given to WithFs is the operating system's filesystem. A wrapper around
// afero.OsFs, such as afero.BasePathFs, is not.
//
// A layer outside the root, either an absolute directory or an fs.FS, is confined to
// itself. [CommandMetadata].Path and [SkillInfo].Path are full paths for the program.
// No error, diagnostic or text form contains a host path that the caller did not
// provide.
//
// # Errors
//
// Each error of this package is an [*Error] with a [Code]. Each code has a sentinel
// for errors.Is. [CodeOf] returns the code of any error. If a context ends, its error
// is returned unchanged.
//
// A problem with one file is not an error of the methods that list. The file is
// served as far as possible or omitted, and gets a diagnostic. A problem with the
// directory of a layer is an error, because a list without the layer would look
// complete. A missing layer is empty as long as another layer exists.
//
// # Platforms
//
// Windows, js, wasip1, Plan 9 and AIX report neither a change time nor the identity of
// a file. On these platforms, and on other filesystems without both, the library reads
// files again to notice changes, and [Catalog.GetSkill] does not notice a file that
// changes during the call but keeps its size and modification time. The document
// docs/platforms.md lists the tested platforms and their differences.
//
// # Concurrency
//
// A [Catalog] is safe for concurrent use. A method returns the error of its context as
// soon as the context ends, even if a filesystem hangs. [Catalog.Close] may be called
// at any time. Calls in progress then return [ErrClosed] or their result, and nothing
// touches the filesystem after Close has returned.
//
// Results belong to the caller, who may modify them.
//
// # Cost
//
// Without [WithWatch], the library reads nothing before a call needs it. A call that
// lists validates the previous snapshot: one read of each directory and one stat of
// each file. The first 4 KB of each new or changed file are read, and up to 64 KB if
// the header or the first paragraph is longer. [Catalog.Get] reads one file. Up to 16
// MiB of memory cache files, and a cached file costs one stat of its directory and one
// stat of the file. Concurrent callers share the work. On a filesystem without change
// times, each call reads the files and compares their contents; see [WithFs].
//
// With [WithWatch] the operating system reports changes, and a call without a change
// before it neither reads nor stats. With [WithCacheTTL] a call does not validate for a
// given time, so results may be as old as that time. The library never polls.
package toolshelf
