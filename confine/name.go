package confine

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
)

// checkName rejects invalid names before any file is looked up.
//
// The rule is the rule of fs.ValidPath, except for invalid UTF-8: filesystems have such
// names, and a caller that lists a directory must be able to open its entries.
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

// checkWindowsElement rejects elements that Windows does not read as the name of a
// single file: a drive, an alternate data stream, several elements, a name with a
// stripped end, a device.
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
