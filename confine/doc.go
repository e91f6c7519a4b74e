// Package confine confines a program to one directory, the root. An [FS] is a read-only
// filesystem that opens nothing outside the root, for every name and every symbolic
// link, even while other processes replace files.
//
// [New] returns an [FS] of a directory of the operating system's filesystem.
// [Over] returns an FS of a directory of any [afero.Fs]. An FS is an afero.Fs,
// and [FS.IOFS] returns the same files as an [io/fs.FS]. [FS.OpenRegular],
// [FS.OpenDir] and [FS.Info] return files, directories and metadata without these
// interfaces. A [Dir] is an open directory, for programs that open many entries of the
// same directory. [FS.Within] confines further, to one directory below the root.
//
// Use confine to pass model-generated or user-supplied names to a filesystem, and
// to read directories in which other users create symbolic links.
//
// # Goals
//
//   - No call reads, describes or searches files outside the root. The guarantee holds
//     for every name, for every symbolic link below the root, and for links that
//     another process creates during the call.
//   - If a link leads outside, the call returns [ErrEscape]. The error reveals neither
//     the text of the link nor the existence of the target.
//   - No call waits for a named pipe or a device. Listing a directory starts no
//     automount.
//   - An error contains no path except the name that the caller gave.
//   - Listing a directory and opening its files cost little more than the system calls.
//     Memory does not grow with the number of entries.
//
// # Non-goals
//
//   - Changing files. [FS.MakeDir], [Dir.MakeDir] and [Dir.WriteNew] add
//     directories and files. No method replaces or removes a file.
//   - The path of the root itself. The path and its links belong to the host
//     program. Each call uses the directory that has the path at the time of the call.
//   - Mount points and hard links. The package does not check them: a mounted directory
//     and a file with a second name are inside, as for the kernel.
//   - Directories that another process moves out of the root while a call or a Dir uses
//     them. The call or the Dir may still read these directories.
//   - Absolute links with another path of the root. An absolute link is inside if its
//     text begins with the root as given to New, or with the path of the root free of
//     links. Every other absolute link is outside.
//   - Timeouts. A call waits for a network filesystem that does not answer.
//
// # Platforms
//
// On Linux, an FS made by New opens each element of a name with openat(2) and
// O_NOFOLLOW, relative to the open directory of the previous element. To follow a link,
// the FS reads the text of the link and opens its elements in the same way. A process
// that replaces files at any time cannot lead a call outside. Entering a directory
// requires search permission, as usual.
//
// On other systems, an FS made by New uses [os.Root] for each element, and is as
// safe as os.Root on the platform. The documentation of os.Root describes the weaker
// guarantees on js and plan9. Each directory of a name must be readable in addition to
// searchable. [Dir.Each] does not know the types of entries, except on Windows; use
// [Dir.Lstat]. On Windows, Info has no Dev, Ino and Changed, and a junction is not a
// directory.
//
// On Unix systems other than Linux, build with Go 1.25.12, 1.26.5 or a newer release of
// these minor versions: os.Root of earlier releases lets a name escape (CVE-2026-39822) or
// shows metadata of files outside (CVE-2026-27139).
//
// # Other filesystems
//
// An FS made by Over checks names in the same way, so no name leads outside. The FS
// calls Lstat for each element before the use of the element. If the filesystem is an
// [afero.Lstater] and an [afero.LinkReader], or an [afero.FromIOFS] of an
// [io/fs.ReadLinkFS], the FS detects links and follows the links that the options allow.
//
// An FS over an [afero.FromIOFS] makes few calls, because each call of an [io/fs.FS] over a
// remote store can take milliseconds. The metadata in a listing replaces a stat of each
// entry, as of the last call of OpenDir or Each. If the fs.FS is not an fs.ReadLinkFS, no
// file is a link, and the FS opens a name without a look at its directories. ReadHead
// prefers [io.ReaderAt]. A file with the mode [fs.ModeIrregular] is a regular file.
//
// Over has these limits:
//
//   - Over cannot exclude a race. If a process replaces a file by a link between the
//     check and the use, the FS may read the target of the link.
//   - If the filesystem follows links without reporting links, a link may lead
//     anywhere.
//   - If a named pipe replaces a file between the check and the use, the filesystem
//     decides whether the call waits. An fs.FS without links decides for every pipe.
//   - The FS reads a directory in a single call, with memory for all entries.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package confine
