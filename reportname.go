package toolshelf

import (
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
	maxReportName   = 100 // characters; the contract's
	maxReportStem   = 110 // bytes of a command's name in the names of files
	reportTime      = "20060102_150405"
	localReport     = "_local"
	reportExtension = ".md"

	// maxReportFile leaves room within 255 bytes, the longest name of most
	// filesystems, for what confine.TempName adds.
	maxReportFile = 250
)

// reportFile is the name of a report's file.
func reportFile(stem, name string, at time.Time, version int, local bool) string {
	suffix := ""
	if local {
		suffix = localReport
	}
	return fmt.Sprintf("%s_%s_%s_v%d%s%s", stem, name, at.Format(reportTime), version, suffix, reportExtension)
}

var reportPattern = regexp.MustCompile(`^(.+)_([0-9]{8}_[0-9]{6})_v([1-9][0-9]{0,3})(` + localReport + `)?` + regexp.QuoteMeta(reportExtension) + `$`)

// parseReportFile is the reverse of reportFile, for files of one command.
func parseReportFile(stem, file string) (r ReportInfo, ok bool) {
	rest, ok := strings.CutPrefix(file, stem+"_")
	if !ok {
		return ReportInfo{}, false
	}
	m := reportPattern.FindStringSubmatch(rest)
	if m == nil || !validReportName(m[1]) {
		return ReportInfo{}, false
	}
	at, err := time.Parse(reportTime, m[2])
	if err != nil {
		return ReportInfo{}, false
	}
	version, err := strconv.Atoi(m[3])
	return ReportInfo{Name: m[1], Time: at, Version: version, Local: m[4] != ""}, err == nil
}

// validReportName reports whether a report can have this name. A letter may
// consist of several code points, as many do in Indic scripts.
func validReportName(name string) bool {
	n := 0
	for _, r := range name {
		n++
		switch {
		case r == utf8.RuneError: // also what is no UTF-8
			return false
		case r == '_', r == '-', unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
		default:
			return false
		}
	}
	return 0 < n && n <= maxReportName
}

// checkReportName says what is wrong with the name of a report.
func checkReportName(stem, name string) error {
	if !validReportName(name) {
		return &Error{Code: ErrInvalidReportName.Code, Path: name,
			Message: fmt.Sprintf(`no report can be called %s; use 1 to %d letters, digits, "_" and "-"`, quote(name), maxReportName)}
	}
	fixed := len(reportFile(stem, "", time.Time{}, 9999, true))
	if over := fixed + len(name) - maxReportFile; over > 0 {
		return &Error{Code: ErrInvalidReportName.Code, Path: name,
			Message: fmt.Sprintf("the report name has %d bytes, which together with the command's name is too long for a file; use at most %d bytes", len(name), len(name)-over)}
	}
	return nil
}

// reportStem is a command's name as files and folders can have it on every
// system. Plain names stay as they are, and "frontend:component" becomes
// "frontend.component". In the looser names that WithLooseNames admits, what is
// special on some system is written as %XX, the dot among it. No two names have
// one stem, but for those of more than 110 bytes, which are cut and told apart
// by a hash.
func reportStem(command string) string {
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
	if len(stem) > maxReportStem {
		sum := sha256.Sum256([]byte(command))
		hash := "~" + hex.EncodeToString(sum[:8])
		stem = strings.ToValidUTF8(stem[:maxReportStem-len(hash)], "") + hash
	}
	return stem
}

// isDevice reports whether Windows takes a name for that of a device, whatever
// comes after a dot.
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
