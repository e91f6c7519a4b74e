package reports

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxName     = 100 // characters of a report's name; the contract of the tool report_feedback has the same limit
	maxStem     = 110 // bytes of a command's name in file names
	timeLayout  = "20060102_150405"
	localSuffix = "_local"
	extension   = ".md"

	// maxFileName leaves room for the suffix of confine.TempName. The longest name on
	// most filesystems has 255 bytes.
	maxFileName = 250
)

// An Info holds the data in a report's file name.
type Info struct {
	Name    string
	Time    time.Time // UTC, in whole seconds
	Version int
	Local   bool
}

// FileName returns the name of a report's file.
func FileName(stem string, r Info) string {
	suffix := ""
	if r.Local {
		suffix = localSuffix
	}
	return fmt.Sprintf("%s_%s_%s_v%d%s%s", stem, r.Name, r.Time.Format(timeLayout), r.Version, suffix, extension)
}

var filePattern = regexp.MustCompile(`^(.+)_([0-9]{8}_[0-9]{6})_v([1-9][0-9]{0,3})(` + localSuffix + `)?` + regexp.QuoteMeta(extension) + `$`)

// ParseFileName is the inverse of FileName for the files of a single command.
func ParseFileName(stem, file string) (r Info, ok bool) {
	rest, ok := strings.CutPrefix(file, stem+"_")
	if !ok {
		return Info{}, false
	}
	m := filePattern.FindStringSubmatch(rest)
	if m == nil || !validName(m[1]) {
		return Info{}, false
	}
	at, err := time.Parse(timeLayout, m[2])
	if err != nil {
		return Info{}, false
	}
	version, err := strconv.Atoi(m[3])
	return Info{Name: m[1], Time: at, Version: version, Local: m[4] != ""}, err == nil
}

// Compare orders reports by time and version, newest first, and then by name.
// Shared reports precede local reports.
func Compare(a, b Info) int {
	local := func(r Info) int {
		if r.Local {
			return 1
		}
		return 0
	}
	return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Version, a.Version), strings.Compare(a.Name, b.Name), cmp.Compare(local(a), local(b)))
}

// CheckName returns an error, which is a message for a user, for a name that no report of a command
// can have.
func CheckName(stem, name string) error {
	if !validName(name) {
		return fmt.Errorf(`invalid report name %q; use 1 to %d letters, digits, "_" and "-"`, name, maxName)
	}
	if limit := maxNameBytes(stem); len(name) > limit {
		return fmt.Errorf("the report name has %d bytes; use at most %d bytes, because the file name also contains the command name", len(name), limit)
	}
	return nil
}

// validName reports whether a report can have this name. A letter may consist of
// several code points, as in many Indic scripts.
func validName(name string) bool {
	n := 0
	for _, r := range name {
		n++
		switch {
		case r == utf8.RuneError: // also returned for invalid UTF-8
			return false
		case r == '_', r == '-', unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
		default:
			return false
		}
	}
	return 0 < n && n <= maxName
}

// maxNameBytes returns the length in bytes of the longest report name that fits
// into a file name.
func maxNameBytes(stem string) int {
	return maxFileName - len(FileName(stem, Info{Version: maxVersions, Local: true}))
}

// Stem returns a form of a command's name that every system accepts for files
// and directories. Plain names are unchanged. "frontend:component" becomes
// "frontend.component". WithLooseNames admits other names: in these names Stem
// writes a byte that is special on any system, including the dot, as %XX.
// Different names have different stems. A stem of more than 110 bytes is cut and
// ends with a hash that distinguishes the names.
func Stem(command string) string {
	var b strings.Builder
	for i := range len(command) {
		switch c := command[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == ' ', c >= utf8.RuneSelf:
			b.WriteByte(c)
		case c == ':' && 0 < i && i < len(command)-1:
			b.WriteByte('.')
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	stem := b.String()
	if isDevice(stem) {
		stem = fmt.Sprintf("%%%02X", stem[0]) + stem[1:]
	}
	if len(stem) > maxStem {
		sum := sha256.Sum256([]byte(command))
		hash := "~" + hex.EncodeToString(sum[:8])
		stem = strings.ToValidUTF8(stem[:maxStem-len(hash)], "") + hash
	}
	return stem
}

// isDevice reports whether Windows treats a name as a device, regardless of the
// text after a dot.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	switch base = strings.ToUpper(strings.TrimRight(base, " ")); base {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}
