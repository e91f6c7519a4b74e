// Package toolshelf gives a program that runs an agent its commands, its
// skills and a safe look at the files of a project, over any filesystem.
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
// Package mcpadapter below this one offers all of it to a model as tools, and to
// any server of the Model Context Protocol.
//
// The goals are to:
//
//   - load every file that people have written, whatever state it is in, and
//     say what is wrong with it;
//   - be safe to point at a folder whose files somebody else controls, and to
//     hand names and paths to that a model made up;
//   - return typed values, whose JSON and text are what a model is shown;
//   - be easy to test with: a catalog in memory behaves as one on the disk;
//   - cost little more than the directory reads and stats that it needs.
//
// Non-goals are writing or editing files, but for the reports that
// [Catalog.SaveReport] adds, running what a command or a skill
// says, evaluating anything found in a file, calling a model, and being a
// program: there is no daemon, no command line and no global state.
//
// # Words
//
// A command is a Markdown file, its name that of the file without ".md". It
// may begin with frontmatter: a header in YAML between two lines of "---", in
// TOML between "+++", or in JSON. Blank lines before the header are a diagnostic.
// One that says is_dependency: true is a part
// that other commands refer to: it is served by name and not listed.
//
// A skill is a folder with a SKILL.md, in the Agent Skills format
// (https://agentskills.io/specification).
//
// A layer is one folder of commands or of skills, on the catalog's filesystem
// or on one of its own. Where several layers hold one name, the layer given
// first has precedence and the others are shadowed.
//
// A snapshot is what the layers held when a call looked at them: sorted and
// never changed. Each call is answered from one snapshot.
//
// A diagnostic is something that the author of a file may want to mend. It
// has a place and a code, and concerns no other file. [Catalog.Lint] returns
// all.
//
// Confined means that no name, path or link leads out of a folder.
//
// # Confinement
//
// Paths given to the file methods are relative to the root (see [WithRoot]);
// those that leave it are [ErrOutsideRoot], in the same words whether or not
// something is there. Names of commands and skills are looked up among the
// names that were found, and never become paths.
//
// On the operating system's filesystem, which is the default, every file is
// reached step by step: each element of a path is opened by its name alone,
// below the folder that the step before holds open, and never through a link
// (openat with O_NOFOLLOW on Linux, [os.Root] elsewhere). No path is checked
// first and used later, so a folder that is exchanged for a link meanwhile
// leads to an error and not outside. Only regular files are read, and a named
// pipe or a device in the place of one blocks nothing. Listings follow no
// link; those to commands and skills are read and gone through by the same
// steps, as far as [WithSymlinks] says.
//
// Reports are written by the same steps: a new file in the open folder of its
// command, which is never a link, under a name that nothing has.
//
// Not looked at are mount points and hard links: they are inside, as for the
// kernel. The root's own path is the program's, links and all; the root is
// the folder that has this path at the time of a call.
//
// On any other [afero.Fs] (see [WithFs]) and [io/fs.FS], paths are checked by
// their text, and each element is looked at before it is used, so that links
// are seen where the filesystem tells of them. That is enough where nobody
// else changes files meanwhile, as in a test or an archive. It cannot exclude
// a race with somebody who does, and a filesystem that follows links without
// telling is followed. An afero.OsFs given to WithFs is the operating
// system's filesystem; one that wraps it, such as afero.BasePathFs, is not.
//
// A layer outside the root, whether an absolute folder or an fs.FS, is
// confined to itself. [CommandMetadata].Path and [SkillInfo].Path are full
// paths, for the program; no error, diagnostic or text form holds a host path
// that the caller did not give.
//
// # Errors
//
// Each error that the package makes is an [*Error] with a [Code]. There is a
// sentinel for each code, to be used with errors.Is; [CodeOf] returns the
// code of any error. When a context ends, its error is returned as it is.
//
// What is wrong with one file is no error of the methods that list: the file
// is served as far as it can be, or left out, with a diagnostic. What is
// wrong with a layer's own folder is an error, since a list without it would
// look complete; but a layer that does not exist is empty as long as another
// does.
//
// # Platforms
//
// Windows, js, wasip1, Plan 9 and AIX report neither a change time nor the
// identity of a file. There, and on other filesystems without both, the library
// reads files again to notice changes, and [Catalog.GetSkill] does not notice a
// file that changes during the call but keeps its size and modification time. The
// document docs/platforms.md lists which platforms are tested, and what differs.
//
// # Concurrency
//
// A [Catalog] is safe for concurrent use. A method whose context ends returns
// the context's error at once, even where a filesystem hangs. [Catalog.Close]
// may be called at any time; calls under way return [ErrClosed] or their
// result, and no goroutine outlives it.
//
// Results belong to the caller, who may change them.
//
// # Cost
//
// Without [WithWatch], nothing is read before it is asked for. A call that
// lists validates the snapshot before it: one directory read for each folder
// and one stat for each file, and nothing more where nothing has changed. Of
// a new or changed file the first 4 KB are read, and up to 64 KB where its
// header or first paragraph is longer. [Catalog.Get] reads one file whole; up
// to 16 MiB of memory hold files, and one that is kept costs a stat of its folder
// and one of the file. Callers that ask at the same time share the work. On a
// filesystem without change times, files are read and compared each time; see
// [WithFs].
//
// [WithWatch] has the operating system tell of changes, so that a call in
// between reads and stats nothing. [WithCacheTTL] spares the looking too, at
// the price of answers that may be as old as it says. Nothing is polled.
package toolshelf
