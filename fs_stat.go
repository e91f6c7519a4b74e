package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
)

// A FileInfo describes a file, a directory or a link.
type FileInfo struct {
	Path string `json:"path"` // relative to the root; "." for the root
	Entry
	Accessed time.Time `json:"accessed,omitzero"`  // UTC; zero if the filesystem does not record accesses
	Readable *bool     `json:"readable,omitempty"` // this program may read the file or list the directory; nil if unknown
	Writable *bool     `json:"writable,omitempty"` // the permissions let at least one user write; nil if unknown
}

// Stat describes a file, a directory or a link. Stat accepts the paths of [Catalog.ListDir].
// If the last element of the path is a link, Stat describes the link. In the other elements,
// Stat follows the links that [WithSymlinks] allows.
//
// The errors are:
//
//   - [ErrOutsideRoot] if the path leads out of the root, or through a link that
//     [WithSymlinks] does not allow. The error does not depend on the existence of the
//     target.
//   - [ErrNotFound] if the file does not exist, or no file can have the path.
//   - [ErrDirectoryNotFound] if the root does not exist.
//   - [ErrPermissionDenied] if a directory of the path is not searchable.
//   - [ErrFileRead] for other failures of the filesystem.
//
// To determine Readable, Stat opens and closes the file or directory. Stat reads no content
// and does not wait for a named pipe.
func (c *Catalog) Stat(ctx context.Context, path string) (FileInfo, error) {
	const op = "Stat"
	if err := c.begin(ctx, op); err != nil {
		return FileInfo{}, err
	}
	info, err := awaitRoot(ctx, c, func(ctx context.Context) (FileInfo, error) {
		name, err := c.rootRelative(op, path)
		if err != nil {
			return FileInfo{}, err
		}
		info, err := c.stat(name)
		if err != nil {
			return FileInfo{}, c.statError(ctx, op, path, name, err)
		}
		return info, nil
	})
	return info, c.methodError(op, err)
}

func (c *Catalog) stat(name string) (FileInfo, error) {
	info, err := c.root.Lstat(name)
	if err != nil {
		return FileInfo{}, err
	}
	row := listing.Describe(path.Base(name), info)
	f := FileInfo{Path: name, Entry: newEntry(&row)}
	if !info.Accessed.IsZero() {
		f.Accessed = utc(info.Accessed)
	}
	switch f.Type {
	case Symlink:
		target, err := c.root.ReadLink(name)
		f.Target, f.Outside = target, errors.Is(err, confine.ErrEscape)
		return f, nil
	case File:
		file, err := c.root.OpenRegular(name)
		if err == nil {
			file.Close()
		}
		f.Readable = allowed(err)
	case Directory:
		dir, err := c.root.OpenDir(name)
		if err == nil {
			dir.Close()
		}
		f.Readable = allowed(err)
	}
	// Some filesystems in memory store no permissions and serve every file.
	if info.Mode.Perm() != 0 {
		writable := info.Mode.Perm()&0o222 != 0
		f.Writable = &writable
	}
	return f, nil
}

// allowed returns whether an operation is permitted, judging by its error, or nil if unknown.
func allowed(err error) *bool {
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil
	}
	yes := err == nil
	return &yes
}

// outsideTarget replaces the target of a link that leads out of the root.
const outsideTarget = "outside root"

// String returns the information as text for a model, in the format of the tool
// get_file_info. The text has no line break at its end. Times are in UTC. Unknown values have
// no line. A link has a line with its target, or with "outside root". A target that is named
// "outside root" is written outside\x20root. Names are escaped as in [DirListing.String].
func (f FileInfo) String() string {
	var b strings.Builder
	b.WriteString("File: " + escape.Path(f.Path) + "\n\nType: " + string(f.Type))
	if f.Type == File && f.Size >= 0 {
		b.WriteString("\nSize: " + formatSize(f.Size))
	}
	for _, t := range []struct {
		label string
		time  time.Time
	}{{"Modified", f.Modified}, {"Accessed", f.Accessed}} {
		if !t.time.IsZero() {
			b.WriteString("\n" + t.label + ": " + t.time.UTC().Format(time.DateTime))
		}
	}
	for _, access := range []struct {
		label string
		yes   *bool
	}{{"Readable", f.Readable}, {"Writable", f.Writable}} {
		switch {
		case access.yes == nil:
		case *access.yes:
			b.WriteString("\n" + access.label + ": Yes")
		default:
			b.WriteString("\n" + access.label + ": No")
		}
	}
	switch {
	case f.Outside:
		b.WriteString("\nTarget: " + outsideTarget)
	case f.Target == outsideTarget:
		b.WriteString("\nTarget: " + strings.ReplaceAll(outsideTarget, " ", `\x20`))
	case f.Target != "":
		b.WriteString("\nTarget: " + escape.Path(f.Target))
	}
	return b.String()
}
