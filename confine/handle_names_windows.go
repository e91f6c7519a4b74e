package confine

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/windows"
)

// errNameOfNoFile is the error of Windows for a name that no file can have, such as "a*b".
const errNameOfNoFile = windows.ERROR_INVALID_NAME

var ntQueryDirectoryFile = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtQueryDirectoryFile")

// checkSpelling returns fs.ErrNotExist for the short name of a file with another name, such as
// "PROGRA~1", and for a name with bytes that Windows replaces. Otherwise a file would have two
// names, and a rule for the listed name would not apply to the other name. Windows makes short
// names of at most 12 characters with a "~".
func (d *rootDir) checkSpelling(name string) error {
	if !utf8.ValidString(name) {
		units, err := windows.UTF16FromString(name) // half of a surrogate pair has a form as bytes
		if err != nil || windows.UTF16ToString(units) != name {
			return fs.ErrNotExist
		}
	}
	if len(name) > 3*12 || !strings.Contains(name, "~") {
		return nil
	}
	list, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer list.Close()
	listed, err := listedName(list, name)
	if err == nil && !strings.EqualFold(listed, name) || errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return fs.ErrNotExist
	}
	return err
}

// listedName returns the name in a listing of the directory for a name that opens a file.
func listedName(dir *os.File, name string) (string, error) {
	const fileNamesInformation = 12
	pattern, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return "", err
	}
	var entry struct { // FILE_NAMES_INFORMATION
		next, index, bytes uint32
		name               [windows.MAX_PATH]uint16
	}
	var status windows.IO_STATUS_BLOCK
	r, _, _ := ntQueryDirectoryFile.Call(dir.Fd(), 0, 0, 0, uintptr(unsafe.Pointer(&status)),
		uintptr(unsafe.Pointer(&entry)), unsafe.Sizeof(entry), fileNamesInformation, 1, uintptr(unsafe.Pointer(pattern)), 1)
	if result := windows.NTStatus(r); result != windows.STATUS_SUCCESS {
		return "", result.Errno()
	}
	n := min(int(entry.bytes/2), len(entry.name))
	return windows.UTF16ToString(entry.name[:n]), nil
}
