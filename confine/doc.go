// Package confine reads files below one directory, the root, and nowhere else.
//
// An [FS] is made by [New] for a directory of the operating system's filesystem,
// or by [Over] for one of any other [afero.Fs]. It opens regular files, lists
// directories and tells of links, all by names relative to the root; [FS.Afero]
// and [FS.IOFS] are the same as an afero.Fs and an [io/fs.FS]. A [Dir] is one
// open directory, for those who look at many of its entries.
//
// # Goals
//
//   - Nothing outside the root is read, told of or looked for, whatever names
//     the caller passes on from a stranger and whatever links a stranger has
//     put below the root, at the time of the call or during it.
//   - A link that leads outside is told to be just that: not its text, nor
//     whether its target exists.
//   - No call waits for a FIFO or a device, or starts an automount to list the
//     directory it is in.
//   - An error holds no path but the name that the caller gave.
//   - A directory is listed, and its files are opened, at the cost of the system
//     calls and without memory for each entry.
//
// # Non-goals
//
//   - Changing what is there. Directories and files can be added, with [FS.MakeDir],
//     [Dir.MakeDir] and [Dir.WriteNew], and that is all.
//   - The root's own path: it is the host program's, links and all. The root
//     is the directory that has it at the time of a call.
//   - Mounts and hard links: a mount below the root and a file with a second
//     name below the root are inside, as for the kernel.
//   - Directories moved out of the root while a call or a Dir is in them: what has
//     been inside stays readable for that call or Dir.
//   - Links written by a path to the root other than the one given to New and
//     the one that is free of links. They are outside.
//   - Time: a file on a network that does not answer is waited for.
//
// # What holds where
//
// On Linux, for an FS made by New, every step from the root to a file is an
// openat(2) of one name with O_NOFOLLOW, below a descriptor that the step
// before opened; links are read, and their text is gone through by the same
// steps. No exchange of files meanwhile can lead outside. To go through a
// directory takes the permission to search it, as usual.
//
// On other systems each step is one of [os.Root], and holds what that does for
// the platform; see its documentation for js and plan9. A directory on the way
// must be readable as well. Types of entries are unknown until Lstat, but on
// Windows. On Windows a file has no Dev, Ino and Changed, and directories reached
// by junctions are not directories here.
//
// For an FS made by Over, names are checked as everywhere, so no name leads
// outside; each element is looked at before it is used, and so links are seen
// where the filesystem is an [afero.Lstater] and an [afero.LinkReader], or an
// [afero.FromIOFS] of an [io/fs.ReadLinkFS], and followed as policy allows.
// That cannot exclude a race: who can exchange a file for a link between the
// look and the use reads what it leads to. Where the filesystem follows links
// without telling, they are followed wherever they lead. Whether a FIFO is
// waited for is up to the filesystem, if one takes the place of a file between
// the look and the use. A directory is read in one call, with memory for all of
// its entries.
package confine
