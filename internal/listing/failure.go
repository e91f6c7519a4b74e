package listing

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Subject is the path of a call.
type Subject struct {
	Name   string // below the root of the filesystem
	Path   string // as given
	Dir    bool   // the path is the path of a directory
	Hidden bool   // a hidden name can be the nearest name of a missing directory
}

// A Failure tells a model why a call cannot read its subject. The tools list_directory and
// get_file_info define the texts.
type Failure struct {
	Code, Message string // the code is a Code of the root package
	Missing       bool   // no file has the name
}

// Explain returns the failure for the error of a call, except confine.ErrEscape.
func Explain(ctx context.Context, fsys *confine.FS, s Subject, err error) Failure {
	what := "'" + escape.Path(s.Name) + "'"
	if s.Dir {
		what = "directory '" + slashed(s.Name) + "'"
	}
	f := Failure{Code: "FILE_READ_ERROR", Message: "Cannot read " + what + ": " + escape.Reason(err)}
	switch {
	case !s.Dir && errors.Is(err, confine.ErrNotRegular):
		f.Message = what + " is not a regular file; choose another file"
		if info, err := fsys.Info(s.Name); err == nil && info.Mode.IsDir() {
			f.Message = "'" + slashed(s.Name) + "' is a directory, not a file; list the directory and choose a file"
		}
		return f
	// No file has, or can have, the name. On Windows, no file can have the name of a device or a
	// stream.
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENAMETOOLONG):
	case errors.Is(err, fs.ErrPermission):
		return Failure{Code: "PERMISSION_DENIED", Message: "Cannot read " + what}
	case errors.Is(err, confine.ErrNotDir):
		if !s.Dir {
			break
		}
		if _, err := fsys.Info(s.Name); err == nil {
			return Failure{Code: "NOT_A_DIRECTORY", Message: "'" + escape.Path(s.Name) + "' is a file, not a directory"}
		}
	case errors.Is(err, confine.ErrSymlink):
		return Failure{Code: "OUTSIDE_ROOT", Message: "Path '" + escape.Path(s.Path) +
			"' contains a symbolic link that is not followed; use a path without links"}
	default:
		return f
	}
	f = Failure{Code: "NOT_FOUND", Message: "File '" + escape.Path(s.Name) + "' not found", Missing: true}
	near := Nearest(ctx, fsys, s.Name, s.Dir, s.Dir && s.Hidden)
	if s.Dir {
		f.Code, f.Message = "DIRECTORY_NOT_FOUND", "Directory '"+slashed(s.Name)+"' not found"
	}
	switch {
	case near == "":
	case s.Dir:
		f.Message += "; did you mean '" + slashed(near) + "'?"
	default:
		f.Message += "; did you mean '" + escape.Path(near) + "'?"
	}
	return f
}

// slashed returns the path of a directory below the root as in texts.
func slashed(name string) string { return escape.Path(name) + "/" }
