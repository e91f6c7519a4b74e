package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// rootRelative returns the name below the root for a path of the caller. rootRelative
// resolves ".." in the text of the path, without looking at files. If the path leads above
// the root, rootRelative returns ErrOutsideRoot. Opening the name checks each directory of the
// path.
func (c *Catalog) rootRelative(op, given string) (string, error) {
	name, ok := c.at.Relative(given)
	if !ok {
		return "", outsideRoot(op, given)
	}
	return name, nil
}

// Root returns the full path of the root on the catalog's filesystem. On the
// operating system's filesystem the path is absolute, and symbolic links in the
// path are not resolved. Root reads nothing, and works after Close.
func (c *Catalog) Root() string { return c.at.Dir }

// RelativePath converts the full path of a file to a path without directories of the
// host. For a file below the root, the result is relative to the root, with slashes.
// For a layer outside the root, the result is the name of the layer and the path below
// the layer.
//
// For a [Command], pass Layer and Metadata.Path. For a [SkillInfo], pass Layer and Path.
// For a [SavedReport] or a [ReportInfo], pass the layer "" and Path. RelativePath returns
// any other path unchanged. RelativePath reads nothing, and works after Close.
func (c *Catalog) RelativePath(layer, full string) string {
	if full == "" {
		return ""
	}
	if layer == "" {
		for _, d := range c.reports.named() {
			if relative, ok := paths.Below(d.FS.Path(d.Path), c.shownDir(d.FS, d.Path, d.Name), full); ok {
				return relative
			}
		}
		return full
	}
	for _, l := range slices.Concat(c.commands.Layers(), c.skills.Layers()) {
		if l.Name != layer {
			continue
		}
		if relative, ok := paths.Below(l.FS.Path(l.Dir), c.shownDir(l.FS, l.Dir, l.Name), full); ok {
			return relative
		}
	}
	return full
}

// shownDir returns the path of a directory without directories of the host: dir below the root, or the name from the
// options.
func (c *Catalog) shownDir(fsys *confine.FS, dir, name string) string {
	if fsys == c.root {
		return dir
	}
	return filepath.ToSlash(name)
}

// outsideRoot returns the error for a path that leads out of the root. The error must not
// depend on the files outside the root.
func outsideRoot(op, given string) error {
	return &Error{Code: CodeOutsideRoot, Op: op, Path: given,
		Message: "Path '" + escape.Path(given) + "' is outside project root"}
}

// rootMissing reports whether the root does not exist.
func (c *Catalog) rootMissing() bool {
	if c.rootIsTop() {
		return false
	}
	_, err := c.root.Lstat(".")
	return errors.Is(err, fs.ErrNotExist)
}

// slashed returns the path of a directory below the root as in texts.
func slashed(name string) string { return escape.Path(name) + "/" }

// dirError returns the error of a method that lists a directory. The tool list_directory
// defines the texts.
func (c *Catalog) dirError(ctx context.Context, op, given, name string, err error, showHidden bool) error {
	e := &Error{Code: CodeFileRead, Op: op, Path: given, Err: err,
		Message: "Cannot read directory '" + slashed(name) + "': " + escape.Reason(err)}
	switch {
	case isLost(err):
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message = CodePermissionDenied, "Cannot read directory '"+slashed(name)+"'"
		return e
	case errors.Is(err, confine.ErrNotDir):
		if _, err := c.root.Info(name); err == nil {
			e.Code, e.Message = CodeNotADirectory, "'"+escape.Path(name)+"' is a file, not a directory"
			return e
		}
	default:
		return c.accessError(e, given, err)
	}
	if c.rootMissing() {
		return rootNotFound(op, c.config.root, err)
	}
	e.Code, e.Message = CodeDirectoryNotFound, "Directory '"+slashed(name)+"' not found"
	if near := listing.NearestDir(ctx, c.root, name, showHidden); near != "" {
		e.Message += " (did you mean '" + slashed(near) + "'?)"
	}
	return e
}

// statError is dirError for Stat. The tool get_file_info defines the texts.
func (c *Catalog) statError(ctx context.Context, op, given, name string, err error) error {
	e := &Error{Code: CodeFileRead, Op: op, Path: given, Err: err,
		Message: "Cannot read '" + escape.Path(name) + "': " + escape.Reason(err)}
	switch {
	case isLost(err), errors.Is(err, confine.ErrNotDir):
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message = CodePermissionDenied, "Cannot read '"+escape.Path(name)+"'"
		return e
	default:
		return c.accessError(e, given, err)
	}
	if c.rootMissing() {
		return rootNotFound(op, c.config.root, err)
	}
	e.Code, e.Message = CodeNotFound, "File '"+escape.Path(name)+"' not found"
	if near := listing.Nearest(ctx, c.root, name); near != "" {
		e.Message += " (did you mean '" + escape.Path(near) + "'?)"
	}
	return e
}

// isLost reports whether err means that no file has, or can have, the name. On Windows, no file
// can have the name of a device or a stream.
func isLost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.ENAMETOOLONG)
}

// accessError completes e for the errors that dirError and statError share.
func (c *Catalog) accessError(e *Error, given string, err error) error {
	switch {
	case errors.Is(err, confine.ErrEscape):
		return outsideRoot(e.Op, given)
	case errors.Is(err, confine.ErrSymlink):
		e.Code, e.Message = CodeOutsideRoot,
			"Path '"+escape.Path(given)+"' contains a symbolic link that is not followed; use a path without links"
	case errors.Is(err, fs.ErrClosed) && c.sharedClosed():
		return closedMeanwhile(e.Op)
	}
	return e
}
