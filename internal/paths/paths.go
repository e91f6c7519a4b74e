// Package paths converts paths between the host and the root of a project.
package paths

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Absolute returns the full path of a path that does not begin at the root. On Windows, a path
// that begins with a slash begins at the top of another filesystem or, on the
// operating system's filesystem, at the top of the drive of the working directory.
func Absolute(given string, onOS bool) (full string, ok bool) {
	abs := path.IsAbs(filepath.ToSlash(given)) || filepath.IsAbs(given)
	if !onOS {
		return given, abs
	}
	if !abs && filepath.VolumeName(given) == "" {
		return "", false
	}
	full, err := filepath.Abs(filepath.FromSlash(given))
	return full, err == nil
}

// A Root is the directory of a project.
type Root struct {
	Dir  string // full path
	OnOS bool   // on the operating system's filesystem
}

// Relative returns the path relative to the root, with slashes. The given path is relative to the
// root or absolute. If the path leads out of the root, ok is false.
func (r Root) Relative(given string) (name string, ok bool) {
	name = filepath.ToSlash(given)
	if full, absolute := Absolute(given, r.OnOS); absolute {
		if name, ok = r.below(full); !ok {
			return "", false
		}
	}
	name = path.Clean(name)
	return name, name != ".." && !strings.HasPrefix(name, "../")
}

// below removes the root from a result of Absolute. On the operating system's
// filesystem, the path may also begin with the root free of links, as a program finds the root
// in its working directory.
func (r Root) below(full string) (string, bool) {
	if !r.OnOS {
		root := path.Clean(filepath.ToSlash(r.Dir))
		if root != "/" {
			root += "/"
		}
		_, absolute := Absolute(root, false)
		full := path.Clean(filepath.ToSlash(full)) + "/"
		return "./" + strings.TrimPrefix(full, root), absolute && strings.HasPrefix(full, root)
	}
	for _, root := range r.All() {
		if below, err := filepath.Rel(root, full); err == nil && filepath.IsLocal(below) {
			return filepath.ToSlash(below), true
		}
	}
	return "", false
}

// All returns the full path of the root and, on the operating system's filesystem, the path
// free of links if both differ.
func (r Root) All() []string {
	roots := []string{r.Dir}
	if r.OnOS {
		if real, err := filepath.EvalSymlinks(r.Dir); err == nil && real != r.Dir {
			roots = append(roots, real)
		}
	}
	return roots
}

// Below replaces dir at the beginning of a full path by shown, and returns the result with slashes.
// If the path is not below dir, ok is false.
func Below(dir, shown, full string) (name string, ok bool) {
	below, err := filepath.Rel(dir, full)
	if err != nil || !filepath.IsLocal(below) {
		return "", false
	}
	return path.Join(shown, filepath.ToSlash(below)), true
}

// Absolute returns the full path of a directory, which may be relative to the root.
func (r Root) Absolute(dir string) string {
	if full, ok := Absolute(dir, r.OnOS); ok {
		return full
	}
	return filepath.Join(r.Dir, dir)
}

// User returns the home directory of the user and the directory of the user's configuration:
// $XDG_CONFIG_HOME or ~/.config, and on Windows %APPDATA%. If given is not nil, given is the home
// directory, with its .config. An unknown directory is "". A home directory that is the root is "".
func (r Root) User(given *string) (home, config string) {
	home, config, isRoot := r.user(given)
	if isRoot {
		home = ""
	}
	return home, config
}

// OfUser returns the path of a directory of the user below the root: a directory below the home
// directory or the directory of the user's configuration.
func (r Root) OfUser(given *string, ofConfig bool, dir string) (below string, ok bool) {
	base, config, isRoot := r.user(given)
	switch {
	case ofConfig:
		base = config
	case isRoot:
		base = r.Dir
	}
	if base == "" {
		return "", false
	}
	return r.Relative(filepath.Join(base, dir))
}

func (r Root) user(given *string) (home, config string, isRoot bool) {
	switch {
	case given != nil && *given != "":
		home = r.Absolute(*given)
		config = filepath.Join(home, ".config")
	case given == nil && r.OnOS:
		home, config = systemUser()
	}
	return home, config, home != "" &&
		(filepath.Clean(home) == r.Dir || r.OnOS && sameDir(home, r.Dir))
}

func systemUser() (home, config string) {
	if dir, err := os.UserHomeDir(); err == nil && filepath.IsAbs(dir) {
		home, config = dir, filepath.Join(dir, ".config")
	}
	variable := "XDG_CONFIG_HOME"
	if runtime.GOOS == "windows" {
		variable = "APPDATA"
	}
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		config = dir
	}
	return home, config
}

// sameDir reports whether two paths name the same directory, also through links.
func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
