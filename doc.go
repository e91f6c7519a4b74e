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
//	matches, err := catalog.Grep(ctx, "src", "func main", toolshelf.Literal())
//
// The subpackage mcpadapter offers all of this to a model as tools, and to clients of
// the Model Context Protocol (MCP) through any server.
//
// The goals are to:
//
//   - load every file, even if the file has defects, and report the defects;
//   - be safe with directories under the control of other people, and with
//     model-generated names and paths;
//   - return typed values, with a JSON form and a text form for a model;
//   - be easy to test: a catalog in memory behaves like a catalog on disk;
//   - cost little more than the necessary directory reads and stats.
//
// Non-goals are writing or editing files (except the reports of
// [Catalog.SaveReport]), running commands or scripts, evaluating text from files,
// and calling a model. The package has no daemon, no command line and no global
// state.
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
// A layer is one directory of commands or of skills. The directory is on the
// catalog's filesystem, or is an [io/fs.FS]. If several layers contain the same name,
// the first layer has precedence, and the files of the other layers are shadowed.
//
// A snapshot is the sorted, immutable content of all layers at the time of a call.
// Each call uses one snapshot.
//
// A diagnostic describes a defect of a file for the author of the file. A diagnostic
// has a position and a code, and affects no other file. [Catalog.Lint] returns all
// diagnostics.
//
// A filesystem is confined to a directory if no name, path or link leads out of the
// directory.
//
// # Confinement
//
// The paths of the file methods are relative to the root (see [WithRoot]). A path
// that leaves the root is [ErrOutsideRoot]; the error does not depend on whether the
// path exists. The names of commands and skills are compared with the names found in
// the layers and never become paths.
//
// On the operating system's filesystem, the default, the library opens every file
// step by step. Each step opens one element of the path by name, relative to the open
// directory of the previous step, and never through a link (openat with O_NOFOLLOW on
// Linux, [os.Root] elsewhere). The library never checks a path first and uses the path
// later. If a link replaces a directory during a call, the call returns an error and
// reads nothing outside. The library reads only regular files, so a named pipe or a
// device blocks no call. Listings do not follow links. Links to commands and skills
// are resolved by the same steps, as [WithSymlinks] permits.
//
// The library writes a report by the same steps: as a new file with an unused name, in
// an open directory that is not a link.
//
// Mount points and hard links are not checked. The path of the root itself belongs to
// the program and may contain links: each call uses the directory that has this path at
// the time of the call.
//
// On any other [afero.Fs] (see [WithFs]) and on an [io/fs.FS], the library checks the
// text of a path, and checks each element before use. The library detects links only if
// the filesystem reports links. These checks suffice if no other program changes files
// during a call, as in a test or an archive. The checks cannot exclude a race with a
// program that changes files. An afero.OsFs given to WithFs is the operating system's
// filesystem. A wrapper around afero.OsFs, such as afero.BasePathFs, is another
// filesystem.
//
// A layer outside the root is either an absolute directory or an fs.FS, and is confined
// to itself. [CommandMetadata].Path and [SkillInfo].Path are full paths for the program.
// No error, diagnostic or listing contains a host path that the caller did not
// provide. The text of [Skill.Prompt] contains the full path of the skill's directory.
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
// # Platforms
//
// Windows, js, wasip1, Plan 9 and AIX report neither a change time nor the identity of
// a file, and on Linux, only local filesystems such as ext4 have change times that prove
// a file unchanged. On other platforms and filesystems, the library reads files again to
// notice changes, and [Catalog.GetSkill] does not notice a file that
// changes during the call but keeps its size and modification time. The document
// docs/platforms.md lists the tested platforms and their differences.
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
// # Cost
//
// Without [WithWatch], the library reads a file only when a call needs the file. A call
// that lists validates the previous snapshot: one read of each directory and one stat
// of each file. The call also reads the first 4 KB of each new or changed file, and up
// to 64 KB if the header or the first paragraph is longer. [Catalog.Get] reads one file.
// Caches of up to 16 MiB each keep commands and skills. Another cache keeps the digests of
// up to 200,000 files of skills (see [Digests]) in up to 60 MB. A cached command costs one
// stat of its directory and one stat of its file. Concurrent callers share the work. On a
// filesystem without change times, each call reads the files and compares their
// contents; see [WithFs].
//
// On an fs.FS over a remote store, each read and stat is a request. [Versioned],
// [SnapshotFS], [ContextFS] and [WithFeed] save requests; the document docs/stores.md
// counts the requests of each method.
//
// With [WithWatch] the operating system reports changes. If nothing has changed since
// the last call, a call stats the directory of each layer and reads nothing. With
// [WithCacheTTL] a call does not validate the snapshot for a given duration, so results
// may be out of date by this duration. The library never polls.
package toolshelf
