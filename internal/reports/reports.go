// Package reports names, saves and lists the reports of commands.
//
// A [Directory] holds the reports of all commands. Each command has a subdirectory
// that is named by the [Stem] of the command.
package reports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
)

// A Directory holds the shared reports or the local reports of all commands.
type Directory struct {
	FS    *confine.FS // nil if no directory is configured
	Path  string      // below the root of FS
	Name  string      // for errors
	Local bool        // the reports are local, not shared

	// Writing, if not nil, is locked during a write. A filesystem in memory needs the
	// lock if it does not create files exclusively.
	Writing sync.Locker
}

// A File is a saved report. The methods of a File are valid only until the
// iterator that returned the File continues.
type File struct {
	Info
	Stem     string
	FileName string
	Path     string       // the full path on the filesystem
	Stat     confine.Info // of the file

	dir *confine.Dir
}

// ReadHead reads the first len(buf) bytes of the report, and returns the metadata of the
// file at the time of the read.
func (f *File) ReadHead(buf []byte) (n int, info confine.Info, err error) {
	return f.dir.ReadHead(f.FileName, buf)
}

// A DirectoryError is the failure of a directory, and not of a report in the
// directory.
type DirectoryError struct {
	Name string // Directory.Name, followed by the stem if the subdirectory failed
	Err  error
}

func (e *DirectoryError) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *DirectoryError) Unwrap() error { return e.Err }

// maxVersions is the highest version. Only a hostile directory has more reports with the
// same name in the same second.
const maxVersions = 9999

// Save writes a report under the first free version. Save creates missing
// directories, then calls now for the time of the report. If a directory cannot be
// opened or created, the error is a [*DirectoryError].
func (d *Directory) Save(ctx context.Context, stem, name, content string, now func() time.Time) (File, error) {
	if d.Writing != nil {
		d.Writing.Lock()
		defer d.Writing.Unlock()
	}
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	dir, err := d.makeDir(stem)
	if err != nil {
		return File{}, err
	}
	defer dir.Close()
	report := Info{Name: name, Time: now().UTC(), Local: d.Local}
	var file string
	for report.Version = 1; report.Version <= maxVersions; report.Version++ {
		file = FileName(stem, report)
		if err = dir.WriteNew(ctx, file, content); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return File{}, err
	}
	return File{Info: report, Stem: stem, FileName: file, Path: d.path(stem, file)}, nil
}

// makeDir opens the subdirectory of a command, and creates missing directories. A
// symbolic link in place of the subdirectory is an error.
func (d *Directory) makeDir(stem string) (*confine.Dir, error) {
	top, err := d.FS.MakeDir(d.Path)
	if err != nil {
		return nil, &DirectoryError{d.Name, err}
	}
	defer top.Close()
	dir, err := top.MakeDir(stem)
	if err != nil {
		return nil, &DirectoryError{path.Join(d.Name, stem), err}
	}
	return dir, nil
}

// List ranges over the reports of a command in the order of [Compare]. A missing directory has no
// reports. List omits symbolic links, directories, and files whose names Save would not choose.
//
// An error is ctx.Err(), which ends the range, or a [*DirectoryError].
func (d *Directory) List(ctx context.Context, stem string) iter.Seq2[File, error] {
	return d.inside(func(top *confine.Dir, yield func(File, error) bool) {
		d.newest(ctx, math.MaxInt, top, stem, yield)
	})
}

// Newest ranges over the newest n reports of each command whose stem wanted accepts. For each
// directory that cannot be read, Newest yields a [*DirectoryError] and continues with the reports
// read so far. The other rules of List apply.
func (d *Directory) Newest(
	ctx context.Context, n int, wanted func(stem string) bool,
) iter.Seq2[File, error] {
	return d.inside(func(top *confine.Dir, yield func(File, error) bool) {
		var stems []string
		err := top.Each(ctx, func(stem string, _ fs.FileMode) error {
			if wanted(stem) {
				stems = append(stems, stem)
			}
			return nil
		})
		if err != nil && !d.fail(ctx, d.Name, err, yield) {
			return
		}
		for _, stem := range stems {
			if !d.newest(ctx, n, top, stem, yield) {
				return
			}
		}
	})
}

// inside calls list with the open directory, unless the directory is missing or not configured.
func (d *Directory) inside(
	list func(top *confine.Dir, yield func(File, error) bool),
) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		if d.FS == nil {
			return
		}
		top, err := d.FS.OpenDir(d.Path)
		switch {
		case err == nil:
			defer top.Close()
			list(top, yield)
		case !errors.Is(err, fs.ErrNotExist):
			yield(File{}, &DirectoryError{d.Name, err})
		}
	}
}

// fail yields an error of a directory with a name, and reports whether the range continues.
func (d *Directory) fail(
	ctx context.Context, name string, err error, yield func(File, error) bool,
) bool {
	if ctx.Err() != nil {
		yield(File{}, ctx.Err())
		return false
	}
	return yield(File{}, &DirectoryError{name, err})
}

// newest yields the newest n reports of a command, and reports whether the range continues.
func (d *Directory) newest(
	ctx context.Context, n int, top *confine.Dir, stem string, yield func(File, error) bool,
) bool {
	var found []File
	keep := func() {
		slices.SortFunc(found, func(a, b File) int { return Compare(a.Info, b.Info) })
		found = found[:min(n, len(found))]
	}
	dir, err := top.OpenDir(stem)
	if err == nil {
		defer dir.Close()
		err = dir.Each(ctx, func(name string, typ fs.FileMode) error {
			report, ok := ParseFileName(stem, name)
			if !ok || report.Local != d.Local || typ != 0 && typ != confine.TypeUnknown {
				return nil
			}
			found = append(found, File{Info: report, Stem: stem, FileName: name, dir: dir})
			if len(found)/2 > n {
				keep()
			}
			return nil
		})
	}
	keep()
	at := path.Join(d.Name, stem)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !d.fail(ctx, at, err, yield) {
		return false
	}
	for _, f := range found {
		f.Path = d.path(stem, f.FileName)
		f.Stat, err = dir.Lstat(f.FileName)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !f.Stat.Mode.IsRegular():
			continue
		case err != nil && !d.fail(ctx, at, err, yield), err == nil && !yield(f, nil):
			return false
		}
	}
	return true
}

func (d *Directory) path(stem, name string) string {
	return d.FS.Path(path.Join(d.Path, stem, name))
}

// Names are the names of the directories that a program configures; "" is no directory.
type Names struct{ Shared, Local string }

// Configured reports whether the program configures a directory.
func (n Names) Configured() bool { return n.Shared != "" || n.Local != "" }

// Directories are the opened directories. The FS of a directory is nil if the program does not
// configure the directory.
type Directories struct{ Shared, Local Directory }

// Open opens the directories.
func (d *Directories) Open(n Names, locate func(dir string) (*confine.FS, string), onOS bool) {
	var writing sync.Locker
	if !onOS {
		writing = new(sync.Mutex)
	}
	d.Shared, d.Local = Directory{Name: n.Shared}, Directory{Name: n.Local, Local: true}
	for _, each := range d.Both() {
		if each.Writing = writing; each.Name != "" {
			each.FS, each.Path = locate(each.Name)
		}
	}
}

// Both returns the shared and the local directory.
func (d *Directories) Both() []*Directory { return []*Directory{&d.Shared, &d.Local} }

// List returns the reports of a command in both directories, in the order of [Compare]. The rules
// and the errors of [Directory.List] apply.
func (d *Directories) List(ctx context.Context, stem string) (all []File, err error) {
	for _, each := range d.Both() {
		for file, err := range each.List(ctx, stem) {
			if err != nil {
				return nil, err
			}
			all = append(all, file)
		}
	}
	slices.SortFunc(all, func(a, b File) int { return Compare(a.Info, b.Info) })
	return all, nil
}

// Named returns the directories that the program configures.
func (d *Directories) Named() []*Directory {
	return slices.DeleteFunc(d.Both(), func(each *Directory) bool { return each.FS == nil })
}

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

// analysisWords mark a command that produces a report (contract get_command,
// "Analysis Command Detection").
var analysisWords = []string{"analyze", "analysis", "diagnostic", "debug", "inspect", "investigate", "report"}

// NextSteps is the default of toolshelf.WithNextSteps for a command with a name and a content, or
// "". The text names the report tool only if reports are configured.
func NextSteps(name, content string, configured bool) string {
	switch {
	case !isAnalysis(name) && !isAnalysis(content):
		return ""
	case configured:
		return "Important: when this command has finished and produced its report, be sure to call the 'report_feedback' tool to save it; ask the user first whether it may be shared."
	default:
		return "Important: when this command has finished and produced its report, show the report to the user and ask what to do with it before going on."
	}
}

// isAnalysis reports whether a text contains an analysis word in any letter case. A copy of the
// text in lower case would cost more than the rest of a first Get.
func isAnalysis(text string) bool {
	for i := range len(text) {
		switch text[i] | 0x20 {
		case 'a', 'd', 'i', 'r':
			for _, word := range analysisWords {
				if text[i]|0x20 == word[0] && len(text)-i >= len(word) && text[i+1]|0x20 == word[1] && strings.EqualFold(text[i:i+len(word)], word) {
					return true
				}
			}
		}
	}
	return false
}
