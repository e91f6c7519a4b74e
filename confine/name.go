package confine

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
)

// checkName rejects invalid names before any file is looked up.
//
// The rule is the rule of fs.ValidPath, but invalid UTF-8 is allowed: a caller that lists a
// directory must be able to open all of its entries.
func checkName(name string) error {
	if name == "." {
		return nil
	}
	if strings.HasPrefix(name, "/") {
		return ErrEscape
	}
	var invalid error
	for elem := range strings.SplitSeq(name, "/") {
		switch err := checkElement(elem); err {
		case nil:
		case ErrEscape:
			return err
		default:
			invalid = err
		}
	}
	return invalid
}

// below returns the part of a name below a directory. inside is false if the name is neither
// the directory nor below.
func below(dir, name string) (rest string, inside bool) {
	switch {
	case dir == ".":
		return name, true
	case name == dir:
		return ".", true
	}
	if rest, inside = strings.CutPrefix(name, dir); !inside {
		return "", false
	}
	return strings.CutPrefix(rest, "/")
}

// checkElement is checkName for a single element.
func checkElement(elem string) error {
	switch {
	case elem == "..":
		return ErrEscape
	case elem == "" || elem == "." || strings.IndexByte(elem, '/') >= 0 || strings.IndexByte(elem, 0) >= 0:
		return fs.ErrInvalid
	case runtime.GOOS == "windows":
		return checkWindowsElement(elem)
	default:
		return nil
	}
}

// checkWindowsElement rejects elements with a special meaning on Windows: a drive, an
// alternate data stream, a separator, a device, and an end that Windows removes.
func checkWindowsElement(elem string) error {
	switch {
	case strings.Contains(elem, `\`):
		return ErrEscape
	case strings.Contains(elem, ":"), strings.HasSuffix(elem, "."), strings.HasSuffix(elem, " "), !filepath.IsLocal(elem):
		return fs.ErrInvalid
	default:
		return nil
	}
}
