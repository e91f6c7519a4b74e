// Package confine confines a program to one directory, the root: a read-only
// filesystem that opens nothing outside the root, whatever names and symbolic
// links say, even while other processes exchange files.
//
// [New] returns an [FS] of a directory of the operating system's filesystem.
// [Over] returns an FS of a directory of any [afero.Fs]. An FS is an afero.Fs,
// and [FS.IOFS] returns the same files as an [io/fs.FS]. [FS.OpenRegular],
// [FS.OpenDir] and [FS.Info] return files, directories and metadata without these
// interfaces. A [Dir] is one open directory, for programs that look at many of its
// entries.
//
// Use confine to pass model-generated or user-supplied names to a filesystem, and
// to read directories in which other users create symbolic links.
//
// # Goals
//
//   - No call reads, describes or looks for anything outside the root. This holds
//     for every name and for every symbolic link below the root, also for links
//     that another process creates during the call.
//   - A link that leads outside returns [ErrEscape]. The error reveals neither
//     the text of the link nor whether the target exists.
//   - No call waits for a named pipe or a device. Listing a directory starts no
//     automount.
//   - An error contains no path except the name that the caller gave.
//   - Listing a directory and opening its files cost their system calls. Memory
//     does not grow with the number of entries.
//
// # Non-goals
//
//   - Changing files. [FS.MakeDir], [Dir.MakeDir] and [Dir.WriteNew] add
//     directories and files. Nothing is replaced or removed.
//   - The path of the root itself. The path and its links belong to the host
//     program. Each call uses the directory that has the path at that time.
//   - Mount points and hard links. They are not checked: a mounted directory and
//     a file with a second name are inside, as for the kernel.
//   - Directories that are moved out of the root while a call or a Dir uses them.
//     The call or the Dir may still read them.
//   - Absolute links that spell the root in a third way. Links inside the root
//     may spell the root as given to New or free of links. Every other absolute
//     link is outside.
//   - Timeouts. A call waits for a network filesystem that does not answer.
//
// # Platforms
//
// On Linux, an FS made by New opens each element of a name with openat(2) and
// O_NOFOLLOW, relative to the directory opened before. The FS reads the text of a
// link and opens its elements in the same way. Exchanging files at any time cannot
// lead outside. Entering a directory requires search permission, as usual.
//
// On other systems, an FS made by New uses [os.Root] for each element, and is as
// safe as os.Root on the platform. The documentation of os.Root describes js and
// plan9. Directories on the way must also be readable. The types of entries are
// unknown until [Dir.Lstat], except on Windows. On Windows, Info has no Dev, Ino
// and Changed, and a junction is not a directory.
//
// On these systems, build with Go 1.26.5 or newer: os.Root of earlier releases lets
// a name escape (CVE-2026-39822) or shows metadata of files outside (CVE-2026-27139).
//
// # Other filesystems
//
// An FS made by Over checks names in the same way, so no name leads outside. The FS
// looks at each element before using it. If the filesystem is an [afero.Lstater]
// and an [afero.LinkReader], or an [afero.FromIOFS] of an [io/fs.ReadLinkFS], the
// FS sees links and follows them as the options allow.
//
// Over cannot exclude a race: a process that replaces a file by a link between the
// look and the use can make the FS read the target. A filesystem that follows links
// without revealing them follows them anywhere. If a named pipe replaces a file
// between the look and the use, the filesystem decides whether the call waits. A
// directory is read in one call, with memory for all entries.
package confine
