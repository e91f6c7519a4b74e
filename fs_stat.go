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

// FileInfo is what Stat tells of a file, a folder or a link.
type FileInfo struct {
	Path string `json:"path"` // relative to the root; "." for the root
	Entry
	Accessed time.Time `json:"accessed,omitzero"`  // last reading, as far as the filesystem keeps count; UTC; zero where it is not known
	Readable *bool     `json:"readable,omitempty"` // this program may read the file, or list the folder; nil where it is not known
	Writable *bool     `json:"writable,omitempty"` // its permissions let somebody write; nil where it is not known
}

// Stat returns what is known of one file, folder or link. The path is as for
// ListDir. A link that it ends in is not followed; links on the way are, as
// WithSymlinks says.
//
// The errors are ErrOutsideRoot for a path that leads out of the root, the
// same whether or not something is there; ErrNotFound, also for a path that no
// file can have; ErrPermissionDenied where a folder on the way may not be
// searched; and ErrFileRead where the filesystem fails otherwise.
//
// To find out whether it is readable, a file or folder is opened and closed
// again, without reading and without waiting.
func (c *Catalog) Stat(ctx context.Context, path string) (FileInfo, error) {
	const op = "Stat"
	if err := c.begin(ctx, op); err != nil {
		return FileInfo{}, err
	}
	info, err := await(ctx, c, func(ctx context.Context) (FileInfo, error) {
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
	// Some filesystems in memory give a file no permissions at all, and serve
	// it to everybody.
	if info.Mode.Perm() != 0 {
		writable := info.Mode.Perm()&0o222 != 0
		f.Writable = &writable
	}
	return f, nil
}

// allowed is what the error of an attempt says of permission.
func allowed(err error) *bool {
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil
	}
	yes := err == nil
	return &yes
}

// outsideTarget stands for the target of a link that leads out of the root.
const outsideTarget = "outside root"

// String is the information as text for a model, in the form of the contract
// of get_file_info: times in UTC, no line for what is not known, and for a link
// one more, with its target. There is no line break at its end. Names are
// written as in DirListing.String. A target named "outside root" is written
// outside\x20root.
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
