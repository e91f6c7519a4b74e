package reports

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// now is a stopped clock. Its zone is not UTC, like the zone of many hosts.
func now() time.Time {
	return time.Date(2025, 11, 20, 13, 30, 0, 999, time.FixedZone("", 3*60*60))
}

func memory(t *testing.T, files ...string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for _, file := range files {
		must.Do(t, afero.WriteFile(fsys, file, []byte("text of "+path.Base(file)), 0o644))
	}
	return fsys
}

func directory(t *testing.T, fsys afero.Fs, local bool) *Directory {
	t.Helper()
	confined := must.Get(confine.Over(fsys, "/project"))(t)
	t.Cleanup(func() { confined.Close() })
	return &Directory{FS: confined, Path: "reports", Name: "the reports", Local: local, Writing: new(sync.Mutex)}
}

func TestSave(t *testing.T) {
	fsys := memory(t)
	shared, local := directory(t, fsys, false), directory(t, fsys, true)
	for _, tt := range []struct {
		directory *Directory
		name      string
		want      string
	}{
		{shared, "report", "/project/reports/a/a_report_20251120_103000_v1.md"},
		{shared, "report", "/project/reports/a/a_report_20251120_103000_v2.md"},
		{local, "report", "/project/reports/a/a_report_20251120_103000_v1_local.md"},
		{shared, "other", "/project/reports/a/a_other_20251120_103000_v1.md"},
	} {
		file, err := tt.directory.Save(t.Context(), "a", tt.name, "# "+tt.want, now)
		if err != nil || file.Path != tt.want || file.FileName != path.Base(tt.want) || file.Name != tt.name || file.Local != tt.directory.Local {
			t.Errorf("saved as %+v, %v; want %s", file, err, tt.want)
		}
		if text, err := afero.ReadFile(fsys, tt.want); string(text) != "# "+tt.want {
			t.Errorf("%s: %q, %v", tt.want, text, err)
		}
	}
}

func TestSaveAfterTheEndOfItsContext(t *testing.T) {
	fsys := memory(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := directory(t, fsys, false).Save(ctx, "a", "report", "x", now); err != context.Canceled {
		t.Error(err)
	}
	must.Fail(fsys.Stat("/project"))(t, "Save has made a directory", fs.ErrNotExist)
}

// A failingFs fails to create one directory or any file.
type failingFs struct {
	afero.Fs
	mkdir string
	write error
}

func (f failingFs) Mkdir(name string, mode fs.FileMode) error {
	if path.Base(name) == f.mkdir {
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOSPC}
	}
	return f.Fs.Mkdir(name, mode)
}

func (f failingFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	if f.write != nil && flag&os.O_CREATE != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.write}
	}
	return f.Fs.OpenFile(name, flag, mode)
}

func TestSaveReturnsTheDirectoryThatFails(t *testing.T) {
	for _, tt := range []struct{ mkdir, want string }{{"reports", "the reports"}, {"a", "the reports/a"}} {
		_, err := directory(t, failingFs{Fs: memory(t, "/project/x"), mkdir: tt.mkdir}, false).Save(t.Context(), "a", "report", "x", now)
		var failed *DirectoryError
		if !errors.As(err, &failed) || failed.Name != tt.want || !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), tt.want+": ") {
			t.Errorf("%s: %v", tt.mkdir, err)
		}
	}
	_, err := directory(t, failingFs{Fs: memory(t), write: syscall.EROFS}, false).Save(t.Context(), "a", "report", "x", now)
	if failed := (*DirectoryError)(nil); errors.As(err, &failed) || !errors.Is(err, syscall.EROFS) {
		t.Errorf("a file that cannot be written: %v", err)
	}
}

func TestSaveTriesALimitedNumberOfVersions(t *testing.T) {
	_, err := directory(t, failingFs{Fs: memory(t), write: fs.ErrExist}, false).Save(t.Context(), "a", "report", "x", now)
	if !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
}

// list returns the file names that a range yields, and the errors.
func list(files func(func(File, error) bool)) (names []string, failures []error) {
	for file, err := range files {
		if err != nil {
			failures = append(failures, err)
			continue
		}
		names = append(names, file.FileName)
	}
	return names, failures
}

var saved = []string{
	"/project/reports/a/a_report_20251120_103000_v2.md",
	"/project/reports/a/a_report_20251120_103000_v10.md",
	"/project/reports/a/a_b_20251120_103000_v2.md",
	"/project/reports/a/a_b_20261120_103000_v1.md",
	"/project/reports/a/a_report_20251120_103000_v2_local.md",
	"/project/reports/a/.a_report_20251120_103000_v3.md.tmp",
	"/project/reports/a/notes.md",
	"/project/reports/a/a_directory_20261120_103000_v1.md/x",
	"/project/reports/b/b_report_20251120_103000_v1.md",
	"/project/reports/b/a_report_20251120_103000_v1.md",
	"/project/reports/a_report_20251120_103000_v1.md",
}

func TestList(t *testing.T) {
	fsys := memory(t, saved...)
	for _, tt := range []struct {
		stem  string
		local bool
		want  []string
	}{
		{"a", false, []string{"a_b_20251120_103000_v2.md", "a_b_20261120_103000_v1.md", "a_report_20251120_103000_v10.md", "a_report_20251120_103000_v2.md"}},
		{"a", true, []string{"a_report_20251120_103000_v2_local.md"}},
		{"b", false, []string{"b_report_20251120_103000_v1.md"}},
		{"c", false, nil},
	} {
		d := directory(t, fsys, tt.local)
		names, failures := list(d.List(t.Context(), tt.stem))
		slices.Sort(names)
		if !slices.Equal(names, tt.want) || failures != nil {
			t.Errorf("%s, local=%v: %q, %v; want %q", tt.stem, tt.local, names, failures, tt.want)
		}
	}
	for file, err := range directory(t, fsys, true).List(t.Context(), "a") {
		want := "text of " + file.FileName
		text := make([]byte, 100)
		n, info, readErr := file.ReadHead(text)
		if err != nil || readErr != nil || string(text[:n]) != want || file.Stat.Size != int64(len(want)) || info.Size != file.Stat.Size {
			t.Errorf("%+v: %q, %v, %v", file, text[:n], err, readErr)
		}
	}
	for range directory(t, fsys, false).List(t.Context(), "a") {
		break
	}
}

func TestListReportsUnreadableDirectories(t *testing.T) {
	for _, tt := range []struct {
		directory *Directory
		want      []string
	}{
		{&Directory{}, nil},
		{directory(t, memory(t), false), nil},
		{directory(t, memory(t, "/project/reports"), false), []string{"the reports"}},
		{directory(t, memory(t, "/project/reports/a"), false), []string{"the reports/a"}},
		{directory(t, memory(t, "/project/reports/b/x"), false), nil},
	} {
		for name, files := range map[string]func(func(File, error) bool){
			"List":   tt.directory.List(t.Context(), "a"),
			"Newest": tt.directory.Newest(t.Context(), 1, func(stem string) bool { return stem == "a" }),
		} {
			names, failures := list(files)
			var failed []string
			for _, err := range failures {
				var e *DirectoryError
				if !errors.As(err, &e) || !errors.Is(err, confine.ErrNotDir) {
					t.Errorf("%s: %v", name, err)
					continue
				}
				failed = append(failed, e.Name)
			}
			if names != nil || !slices.Equal(failed, tt.want) {
				t.Errorf("%s: %q, %v; want %q", name, names, failures, tt.want)
			}
		}
	}
}

func TestListEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := directory(t, memory(t, saved...), false)
	for name, files := range map[string]func(func(File, error) bool){
		"List":   d.List(ctx, "a"),
		"Newest": d.Newest(ctx, 1, func(string) bool { return true }),
	} {
		names, failures := list(files)
		if names != nil || len(failures) != 1 || failures[0] != context.Canceled {
			t.Errorf("%s: %q, %v", name, names, failures)
		}
	}
}

func TestNewest(t *testing.T) {
	d := directory(t, memory(t, saved...), false)
	var stems []string
	wanted := func(stem string) bool {
		stems = append(stems, stem)
		return stem == "a"
	}
	names, failures := list(d.Newest(t.Context(), 3, wanted))
	want := []string{"a_b_20261120_103000_v1.md", "a_report_20251120_103000_v10.md", "a_b_20251120_103000_v2.md"}
	if !slices.Equal(names, want) || failures != nil {
		t.Errorf("%q, %v; want %q", names, failures, want)
	}
	if slices.Sort(stems); !slices.Equal(stems, []string{"a", "a_report_20251120_103000_v1.md", "b"}) {
		t.Errorf("wanted was asked for %q", stems)
	}
	for range d.Newest(t.Context(), 3, wanted) {
		break
	}
}

//go:embed testdata/stems.txt
var stems string

func TestStem(t *testing.T) {
	must.Answer(t, stems, map[string]func(t *testing.T, a ...string) string{
		"stem": func(_ *testing.T, a ...string) string {
			stem := Stem(a[0])
			if before, _, hashed := strings.Cut(stem, "~"); hashed && len(stem) == maxStem {
				return before + "~" // without the hash
			}
			return stem
		},
	})
}

// looseNames draws valid command names, including names that some system forbids.
func looseNames() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9_-]{1,12}`),
		rapid.StringMatching(`[ab:.% ~é]{1,6}`),
		rapid.StringMatching(`(con|NUL|com1|lpt9)[.: ]?[a-c]?`),
		rapid.StringMatching(`(%(2[0-9A-F]|3A|41|63)|[a-c.:]){1,5}`),
		rapid.StringMatching(`.{1,130}`),
	).Filter(names.Loose)
}

func TestDifferentCommandsHaveDifferentStems(t *testing.T) {
	stems := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		command := looseNames().Draw(t, "command")
		stem := Stem(command)
		if other, ok := stems[stem]; ok && other != command {
			t.Fatalf("%q and %q are both %q", command, other, stem)
		}
		stems[stem] = command
	})
}

func TestStemIsAFileNameOnEverySystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stem := Stem(looseNames().Draw(t, "command"))
		switch {
		case !utf8.ValidString(stem), stem == "", len(stem) > maxStem,
			strings.ContainsAny(stem, `/\<>:"|?*`), strings.ContainsFunc(stem, unicode.IsControl),
			strings.HasPrefix(stem, "."), strings.HasSuffix(stem, "."), strings.HasSuffix(stem, " "), isDevice(stem):
			t.Fatalf("%q", stem)
		}
	})
}

func reportNames() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9_-]{1,100}`),
		rapid.StringMatching(`(_local|_v1|_20251120|_103000|x){1,5}`),
		rapid.StringMatching(`[\p{L}\p{Mn}\p{Nd}_-]{1,30}`),
	)
}

func TestParseFileNameInvertsFileName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stem := Stem(looseNames().Draw(t, "command"))
		want := Info{
			Name:    reportNames().Draw(t, "name"),
			Time:    time.Unix(rapid.Int64Range(0, 253402300799).Draw(t, "time"), 0).UTC(),
			Version: rapid.IntRange(1, 9999).Draw(t, "version"),
			Local:   rapid.Bool().Draw(t, "local"),
		}
		got, ok := ParseFileName(stem, FileName(stem, want))
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", ok, diff)
		}
	})
}

func TestFileNameFitsInADirectory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stem := Stem(looseNames().Draw(t, "command"))
		name := rapid.OneOf(reportNames(), rapid.StringMatching(`[日aé]{60,100}`)).Draw(t, "name")
		longest := confine.TempName(FileName(stem, Info{Name: name, Time: time.Now(), Version: maxVersions, Local: true}))
		if fits := len(name) <= maxNameBytes(stem); fits != (len(longest) <= 255) {
			t.Fatalf("%d bytes: %v", len(longest), fits)
		}
		if most := maxNameBytes(stem); most < maxName {
			t.Fatalf("%d ASCII letters do not fit", most+1)
		}
	})
}

func FuzzParseFileName(f *testing.F) {
	for _, seed := range [][2]string{
		{"a", "a_report_20251120_103000_v1.md"},
		{"a", "a_report_20251120_103000_v12_local.md"},
		{"a_report", "a_report_20251120_103000_v1.md"},
		{"a", "a_x_20251120_103000_v1.md_20251120_103000_v1.md"},
		{"a", "a_report_20251399_103000_v1.md"},
		{"a", "a_report_20251120_103000_v01.md"},
		{"", "_"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, stem, file string) {
		r, ok := ParseFileName(stem, file)
		if !ok {
			return
		}
		if again := FileName(stem, r); again != file {
			t.Errorf("%q is read as %+v, which is %q", file, r, again)
		}
	})
}

func TestCheckNameTellsWhyAReportCannotHaveTheName(t *testing.T) {
	for name, want := range map[string]string{
		"weekly": "",
		"a/b":    `invalid report name "a/b"; use 1 to 100 letters, digits, "_" and "-"`,
		"":       `invalid report name ""; use 1 to 100 letters, digits, "_" and "-"`,
		strings.Repeat("界", 100): "the report name has 300 bytes; use at most " + strconv.Itoa(maxNameBytes("review")) +
			" bytes, because the file name also contains the command name",
	} {
		got := ""
		if err := CheckName("review", name); err != nil {
			got = err.Error()
		}
		must.Equal(t, name, want, got)
	}
}
