package confine

import (
	"io/fs"
	"time"
)

// TypeUnknown is the type that Dir.Each reports if the filesystem does not know the type
// without other metadata. Dir.Lstat returns the type. For the methods of fs.FileMode,
// TypeUnknown is neither a regular file nor a directory nor a link.
const TypeUnknown = fs.ModeIrregular | 1

const modeMask = fs.ModeType | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Info is the metadata of a file. A zero time or number is unknown.
type Info struct {
	Mode fs.FileMode // type, permissions, setuid, setgid and sticky bits
	// Bytes of a regular file; 0 for other files, because the size of a link is the length of its
	// target.
	Size     int64
	Modified time.Time // last change of the content
	Accessed time.Time // last access, if the filesystem records accesses
	// Last change of content or metadata; unknown if the filesystem is not known to set this time
	// itself.
	Changed  time.Time
	Dev, Ino uint64 // together identify a file while it exists
	// The result of the method Version of the FileInfo of an FS made by Over; equal versions mean
	// equal contents.
	Version string
}

// versioned is an fs.FileInfo with the version of the content, such as the ETag of an object.
type versioned interface{ Version() string }

func (i Info) isLink() bool { return i.Mode&fs.ModeSymlink != 0 }

// infoOf returns the Info for a FileInfo of the os package or an afero.Fs.
func infoOf(fi fs.FileInfo) Info {
	info := Info{Mode: fi.Mode() & modeMask, Modified: fi.ModTime()}
	if fi.IsDir() {
		info.Mode |= fs.ModeDir
	}
	if info.Mode.IsRegular() {
		info.Size = max(fi.Size(), 0) // an adapted filesystem can report any number
	}
	if sys, ok := fi.Sys().(Info); ok { // of another FS
		info.Accessed, info.Changed, info.Dev, info.Ino = sys.Accessed, sys.Changed, sys.Dev, sys.Ino
	} else {
		addSys(&info, fi.Sys())
	}
	if v, ok := fi.(versioned); ok {
		info.Version = v.Version()
	}
	return info
}

// A fileInfo is an Info as an fs.FileInfo and an fs.DirEntry.
type fileInfo struct {
	name string
	Info Info
}

func (f fileInfo) Name() string       { return f.name }
func (f fileInfo) Size() int64        { return f.Info.Size }
func (f fileInfo) Mode() fs.FileMode  { return f.Info.Mode }
func (f fileInfo) Type() fs.FileMode  { return f.Info.Mode.Type() }
func (f fileInfo) ModTime() time.Time { return f.Info.Modified }
func (f fileInfo) IsDir() bool        { return f.Info.Mode.IsDir() }
func (f fileInfo) Sys() any           { return f.Info }
func (f fileInfo) String() string     { return fs.FormatFileInfo(f) }
