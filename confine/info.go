package confine

import (
	"io/fs"
	"time"
)

// TypeUnknown is what Dir.Each reports for an entry whose type the filesystem
// tells only with the rest of its metadata; Dir.Lstat finds out. It is neither
// a regular file nor a directory nor a link to the methods of fs.FileMode.
const TypeUnknown = fs.ModeIrregular | 1

const modeMask = fs.ModeType | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Info is the metadata of one file. A zero time or number is unknown.
type Info struct {
	Mode     fs.FileMode // type, permissions, setuid, setgid and sticky bits
	Size     int64       // bytes of a regular file; 0 for all else, a link's size being the length of its target
	Modified time.Time   // last change of the content
	Accessed time.Time   // last reading, as far as the filesystem keeps count
	Changed  time.Time   // last change of content or metadata, which no program can set back
	Dev, Ino uint64      // together name a file for as long as it exists
}

func (i Info) isLink() bool { return i.Mode&fs.ModeSymlink != 0 }

// infoOf translates what the os package or an afero.Fs tells of a file.
func infoOf(fi fs.FileInfo) Info {
	info := Info{Mode: fi.Mode() & modeMask, Modified: fi.ModTime()}
	if fi.IsDir() {
		info.Mode |= fs.ModeDir
	}
	if info.Mode.IsRegular() {
		info.Size = max(fi.Size(), 0) // a foreign filesystem can report any number
	}
	if sys, ok := fi.Sys().(Info); ok { // of a view of an FS
		info.Accessed, info.Changed, info.Dev, info.Ino = sys.Accessed, sys.Changed, sys.Dev, sys.Ino
	} else {
		addSys(&info, fi.Sys())
	}
	return info
}

// A fileInfo is an Info as the io/fs and afero views have it.
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
