package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// reported holds the commands that have reports in the tests.
var reported = map[string]string{
	"commands/analyze.md":            "Analyze it.",
	"commands/hidden.md":             "---\nis_dependency: true\n---\n",
	"commands/frontend/component.md": "Debug it.",
}

// at is the clock of these tests. Its zone is not UTC, like the zone of many hosts.
func at() time.Time {
	return time.Date(2025, 11, 20, 13, 30, 0, 999, time.FixedZone("", 3*60*60))
}

// onReported runs a test over the files of reported, in memory and on the disk, with
// directories for reports. The afero.Fs is the root of the project.
func onReported(t *testing.T, test func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog, fsys afero.Fs)) {
	options := []toolshelf.Option{toolshelf.WithClock(at), toolshelf.WithReports("reports", "state/local"), toolshelf.WithNestedCommands()}
	t.Run("memory", func(t *testing.T) {
		m := memoryOf(t, reported)
		test(t, func(more ...toolshelf.Option) *toolshelf.Catalog {
			return catalog(t, slices.Concat(options, []toolshelf.Option{toolshelf.WithFs(m)}, more)...)
		}, m)
	})
	t.Run("disk", func(t *testing.T) {
		root := diskOf(t, reported)
		test(t, func(more ...toolshelf.Option) *toolshelf.Catalog {
			return catalog(t, slices.Concat(options, []toolshelf.Option{toolshelf.WithRoot(root)}, more)...)
		}, afero.NewBasePathFs(afero.NewOsFs(), root))
	})
}

// found returns the files below a directory, including hidden files. A missing
// directory has none.
func found(t *testing.T, fsys afero.Fs, dir string) []string {
	t.Helper()
	var files []string
	err := afero.Walk(fsys, dir, func(path string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files = append(files, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

func save(t *testing.T, c *toolshelf.Catalog, r toolshelf.Report) toolshelf.SavedReport {
	t.Helper()
	return must.Get(c.SaveReport(t.Context(), r))(t)
}

func TestSaveReportChoosesThePathOfTheContract(t *testing.T) {
	saves := string(must.Get(os.ReadFile("testdata/saved_reports.txt"))(t))
	onReported(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog, fsys afero.Fs) {
		c := open()
		must.Answer(t, saves, map[string]func(t *testing.T, a ...string) string{
			"save": func(t *testing.T, a ...string) string {
				var r toolshelf.Report
				must.Do(t, json.Unmarshal([]byte(a[0]), &r))
				saved := save(t, c, r)
				file := filepath.ToSlash(saved.Path)
				for _, dir := range []string{"reports/", "state/local/"} {
					if i := strings.LastIndex("/"+file, "/"+dir); i >= 0 {
						file = file[i:]
					}
				}
				saved.Path = "PATH"
				must.Equal(t, file, r.Content, string(must.Get(afero.ReadFile(fsys, file))(t)))
				return file + " " + string(must.Get(json.Marshal(saved))(t))
			},
		})
		if files := found(t, fsys, "."); slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, ".tmp") }) {
			t.Errorf("temporary files remain: %q", files)
		}
	})
}

func TestSaveReportLimitsTheSize(t *testing.T) {
	onReported(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog, fsys afero.Fs) {
		c := open(toolshelf.WithMaxFileSize(64)) // does not apply to reports
		for _, size := range []int{1, 10 << 20} {
			saved := save(t, c, toolshelf.Report{Command: "analyze", Content: strings.Repeat("x", size), Upload: true})
			all := must.Get(c.Reports(t.Context(), "analyze"))(t)
			must.Equal(t, size, int64(size), all[0].Size)
			must.Equal(t, size, saved.Version, all[0].Version)
		}
		before := found(t, fsys, "reports")
		_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: strings.Repeat("x", 10<<20+1), Upload: true})
		must.Is(t, "SaveReport", toolshelf.ErrSizeLimitExceeded, err)
		must.Match(t, "result", before, found(t, fsys, "reports"))
	})
}

// Each row has at least the mistakes of the row below. SaveReport reports the first
// mistake.
func TestSaveReportChecksItsArgumentsInOrder(t *testing.T) {
	long := strings.Repeat("n", 101)
	for _, tt := range []struct {
		report toolshelf.Report
		want   *toolshelf.Error
	}{
		{toolshelf.Report{Command: "../x", Content: "", Name: long}, toolshelf.ErrInvalidCommandName},
		{toolshelf.Report{Command: "", Content: "", Name: long}, toolshelf.ErrInvalidCommandName},
		{toolshelf.Report{Command: "missing", Content: "", Name: long}, toolshelf.ErrCommandNotFound},
		{toolshelf.Report{Command: "analyze", Content: "", Name: long}, toolshelf.ErrEmptyContent},
		{toolshelf.Report{Command: "analyze", Content: strings.Repeat("\xff", 10<<20+1), Name: long}, toolshelf.ErrSizeLimitExceeded},
		{toolshelf.Report{Command: "analyze", Content: "a\xffb", Name: long}, toolshelf.ErrLocalSave},
		{toolshelf.Report{Command: "analyze", Content: "a\xffb", Name: long, Upload: true}, toolshelf.ErrFileWrite},
		{toolshelf.Report{Command: "analyze", Content: "x", Name: long}, toolshelf.ErrInvalidReportName},
		{toolshelf.Report{Command: "analyze", Content: "x"}, toolshelf.ErrDirectoryPreparation},
	} {
		fsys := memoryOf(t, reported)
		c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithReports("", ""))
		_, err := c.SaveReport(t.Context(), tt.report)
		if !errors.Is(err, tt.want) || !strings.HasPrefix(err.Error(), "toolshelf: SaveReport: ") {
			t.Errorf("%q: %v, want %s", tt.report.Command, err, tt.want.Code)
		}
		must.Fail(fsys.Stat("reports"))(t, tt.want.Code, fs.ErrNotExist)
	}
}

func TestSaveReportRejectsInvalidNames(t *testing.T) {
	fsys := memoryOf(t, reported)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithReports("reports", ""))
	for _, name := range []string{
		"a b", "a.md", ".", "..", "../x", "a/b", `a\b`, "a:b", "a\x00", "a\n", "a*", "é!", "a\xff", "\ufffd", "😀", "a\u202eb", "½", "a\u200db",
		strings.Repeat("a", 101), strings.Repeat("日", 100),
	} {
		_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Name: name, Content: "x", Upload: true})
		must.Is(t, name, toolshelf.ErrInvalidReportName, err)
	}
	if files := found(t, fsys, "reports"); files != nil {
		t.Errorf("SaveReport has written %q", files)
	}
	for _, name := range []string{"a", "-", "__", "9", "٣", "नमस्ते", "e\u0301", strings.Repeat("a", 100), strings.Repeat("日", 70)} {
		must.Equal(t, name, name,
			save(t, c, toolshelf.Report{Command: "analyze", Name: name, Content: "x", Upload: true}).Name)
	}
	must.Len(t, "all", 9, must.Get(c.Reports(t.Context(), "analyze"))(t))
}

func TestSaveReportNeedsAConfiguredDirectory(t *testing.T) {
	for _, tt := range []struct {
		shared, local string
		upload        bool
		want          string // "" if the report is saved
	}{
		{"", "", true, "toolshelf: SaveReport: no directory for shared reports is configured; use WithReports (DIRECTORY_PREPARATION_FAILED)"},
		{"", "", false, "toolshelf: SaveReport: no directory for local reports is configured; use WithReports (DIRECTORY_PREPARATION_FAILED)"},
		{"", "l", true, "toolshelf: SaveReport: no directory for shared reports is configured; use WithReports, or set user_wants_upload to false if the user agrees (DIRECTORY_PREPARATION_FAILED)"},
		{"", "l", false, ""},
		{"s", "", true, ""},
		{"s", "", false, "toolshelf: SaveReport: no directory for local reports is configured; use WithReports, or set user_wants_upload to true if the user agrees (DIRECTORY_PREPARATION_FAILED)"},
	} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, reported)), toolshelf.WithReports("x", "y"), toolshelf.WithReports(tt.shared, tt.local))
		_, _, _, _, shared, local := bridgeOf(c).Configured()
		must.Equal(t, tt.shared, tt.shared != "", shared)
		must.Equal(t, tt.shared, tt.local != "", local)
		got := ""
		if _, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: tt.upload}); err != nil {
			got = err.Error()
		}
		must.Equal(t, tt.shared, tt.want, got)
		all, err := c.Reports(t.Context(), "analyze")
		if none := tt.shared == "" && tt.local == ""; none != errors.Is(err, toolshelf.ErrDirectoryNotFound) || !none && err != nil {
			t.Errorf("%q, %q: Reports returns %v, %v", tt.shared, tt.local, all, err)
		}
	}
}

func TestReportDirectories(t *testing.T) {
	root := diskOf(t, reported)
	elsewhere := filepath.Join(t.TempDir(), "not", "yet")
	for _, tt := range []struct{ given, want string }{
		{"reports", filepath.Join(root, "reports")},
		{"a/b/c", filepath.Join(root, "a", "b", "c")},
		{".", root},
		{filepath.Join(root, "inside"), filepath.Join(root, "inside")},
		{elsewhere, elsewhere},
		{"../beside", filepath.Join(filepath.Dir(root), "beside")},
	} {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithClock(at), toolshelf.WithReports(tt.given, tt.given))
		for _, upload := range []bool{true, false} {
			saved := save(t, c, toolshelf.Report{Command: "analyze", Content: "x", Upload: upload})
			must.Equal(t, tt.given, tt.want, filepath.Dir(filepath.Dir(saved.Path)))
			must.Equal(t, tt.given, 1, saved.Version)
			if text, err := os.ReadFile(saved.Path); string(text) != "x" {
				t.Errorf("%s: %q, %v", tt.given, text, err)
			}
		}
		must.Len(t, tt.given, 2, must.Get(c.Reports(t.Context(), "analyze"))(t))
	}
}

func TestReportsReturnsTheNewestFirst(t *testing.T) {
	lists := string(must.Get(os.ReadFile("testdata/listed_reports.txt"))(t))
	onReported(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog, fsys afero.Fs) {
		c := open()
		must.Answer(t, lists, map[string]func(t *testing.T, a ...string) string{
			"file": func(t *testing.T, a ...string) string {
				must.Do(t, errors.Join(fsys.MkdirAll(filepath.Dir(a[0]), 0o755), afero.WriteFile(fsys, a[0], []byte("text"), 0o644)))
				return ""
			},
			"reports": func(t *testing.T, a ...string) string {
				all, err := c.Reports(t.Context(), a[0])
				if err != nil {
					must.Contain(t, a[0], err, "toolshelf: Reports: ")
					return string(toolshelf.CodeOf(err))
				}
				must.Equal(t, a[0], false, all == nil)
				var rows []string
				for _, r := range all {
					must.Equal(t, r.Path, "analyze 4 UTC", fmt.Sprint(r.Command, " ", r.Size, " ", r.Time.Location()))
					local := map[bool]string{true: " local"}[r.Local]
					rows = append(rows, fmt.Sprintf("%s %s v%d%s %s", r.Time.Format(time.DateTime), r.Name, r.Version, local, filepath.Base(r.Path)))
				}
				return strings.Join(rows, "; ")
			},
		})
	})
}

func TestSixteenGoroutinesSaveOneReport(t *testing.T) {
	onReported(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog, fsys afero.Fs) {
		c := open()
		catalogOf := func(int) *toolshelf.Catalog { return c }
		if _, disk := fsys.(*afero.BasePathFs); disk {
			own := make([]*toolshelf.Catalog, 16)
			for i := range own {
				own[i] = open()
			}
			catalogOf = func(i int) *toolshelf.Catalog { return own[i] }
		}
		var writers sync.WaitGroup
		saved := make([]toolshelf.SavedReport, 16)
		text := func(i int) string { return strings.Repeat(fmt.Sprintf("writer %d\n", i), 1000) }
		for i := range saved {
			writers.Go(func() {
				var err error
				if saved[i], err = catalogOf(i).SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: text(i), Upload: true}); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		versions := map[int]bool{}
		for i, s := range saved {
			versions[s.Version] = true
			file := fmt.Sprintf("reports/analyze/analyze_report_20251120_103000_v%d.md", s.Version)
			if got, err := afero.ReadFile(fsys, file); string(got) != text(i) {
				t.Errorf("writer %d, %s: %d bytes, %v", i, file, len(got), err)
			}
		}
		if files := found(t, fsys, "reports"); len(versions) != 16 || len(files) != 16 || !versions[1] || !versions[16] {
			t.Errorf("versions %v of %q", versions, files)
		}
	})
}

// A filesystem of WithFs need not create files exclusively. A catalog therefore
// writes one report at a time.
func TestReportsInMemoryAreWrittenOneAtATime(t *testing.T) {
	f := &exclusiveFs{Fs: memoryOf(t, reported)}
	c := catalog(t, toolshelf.WithFs(f), toolshelf.WithReports("reports", "local"))
	var writers sync.WaitGroup
	for i := range 16 {
		writers.Go(func() {
			if _, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: i%2 == 0}); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
}

// An exclusiveFs opens no second file for writing before the first file has its
// final name.
type exclusiveFs struct {
	afero.Fs
	writing atomic.Bool
}

func (f *exclusiveFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	if f.writing.Swap(true) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("another file is being written")}
	}
	runtime.Gosched()
	return f.Fs.OpenFile(name, flag, mode)
}

func (f *exclusiveFs) Rename(from, to string) error {
	err := f.Fs.Rename(from, to)
	f.writing.Store(false)
	return err
}

// A failingFs is a filesystem on which one operation on reports fails.
type failingFs struct {
	afero.Fs
	open, mkdir, rename, write, sync, closed error
	blocked                                  chan struct{} // if not nil, Sync waits for this channel
	syncing                                  chan struct{} // closed when Sync waits
}

func (f *failingFs) Mkdir(name string, mode fs.FileMode) error {
	if f.mkdir != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: f.mkdir}
	}
	return f.Fs.Mkdir(name, mode)
}

func (f *failingFs) Rename(from, to string) error {
	if f.rename != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: f.rename}
	}
	return f.Fs.Rename(from, to)
}

func (f *failingFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	if f.open != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.open}
	}
	file, err := f.Fs.OpenFile(name, flag, mode)
	return &failingFile{file, f}, err
}

type failingFile struct {
	afero.File
	fs *failingFs
}

func (f *failingFile) WriteString(s string) (int, error) {
	if f.fs.write == nil {
		return f.File.WriteString(s)
	}
	n, _ := f.File.WriteString(s[:len(s)/2])
	return n, &fs.PathError{Op: "write", Path: f.Name(), Err: f.fs.write}
}

func (f *failingFile) Sync() error {
	if f.fs.blocked != nil {
		close(f.fs.syncing)
		<-f.fs.blocked
	}
	return errors.Join(f.File.Sync(), f.fs.sync)
}

func (f *failingFile) Close() error { return errors.Join(f.File.Close(), f.fs.closed) }

func TestAFailedSaveLeavesNoReport(t *testing.T) {
	for _, tt := range []struct {
		name      string
		fs        failingFs
		directory bool // the directory fails
		cause     error
		says      string
	}{
		{"a full disk on open", failingFs{open: syscall.ENOSPC}, false, syscall.ENOSPC, "no space left on device"},
		{"a full disk on write", failingFs{write: syscall.ENOSPC}, false, syscall.ENOSPC, "no space left on device"},
		{"a full disk on sync", failingFs{sync: syscall.ENOSPC}, false, syscall.ENOSPC, ""},
		{"a full disk on close", failingFs{closed: syscall.EDQUOT}, false, syscall.EDQUOT, ""},
		{"an interrupted write", failingFs{write: syscall.EIO}, false, syscall.EIO, "input/output error"},
		{"a failed rename", failingFs{rename: syscall.EIO}, false, syscall.EIO, "input/output error"},
		{"a filesystem that became read-only", failingFs{open: syscall.EROFS}, false, syscall.EROFS, "read-only file system"},
		{"a full disk for the directory", failingFs{mkdir: syscall.ENOSPC}, true, syscall.ENOSPC, "no space left on device"},
		{"a directory without permission", failingFs{mkdir: fs.ErrPermission}, true, fs.ErrPermission, "permission denied"},
	} {
		for _, upload := range []bool{true, false} {
			tt.fs.Fs = memoryOf(t, reported)
			c := catalog(t, toolshelf.WithFs(&tt.fs), toolshelf.WithRoot("."), toolshelf.WithReports("reports", "state/local"))
			_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "some text", Upload: upload})
			want := toolshelf.ErrLocalSave
			switch {
			case tt.directory:
				want = toolshelf.ErrDirectoryPreparation
			case upload:
				want = toolshelf.ErrFileWrite
			}
			if !errors.Is(err, want) || !errors.Is(err, tt.cause) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want %s", tt.name, err, want.Code)
			}
			if files := slices.Concat(found(t, tt.fs.Fs, "reports"), found(t, tt.fs.Fs, "state")); files != nil {
				t.Errorf("%s: SaveReport leaves %q", tt.name, files)
			}
		}
	}
}

func TestSaveReportEndsWithItsContext(t *testing.T) {
	f := &failingFs{Fs: memoryOf(t, reported), blocked: make(chan struct{}), syncing: make(chan struct{})}
	c := catalog(t, toolshelf.WithFs(f), toolshelf.WithReports("reports", ""))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-f.syncing
		cancel()
	}()
	if _, err := c.SaveReport(ctx, toolshelf.Report{Command: "analyze", Content: "x", Upload: true}); err != context.Canceled {
		t.Error(err)
	}
	if _, err := c.SaveReport(ctx, toolshelf.Report{Command: "analyze", Content: "x", Upload: true}); err != context.Canceled {
		t.Errorf("a context that has ended: %v", err)
	}
	close(f.blocked)
	must.Do(t, c.Close())
	if files := found(t, f.Fs, "reports"); files != nil {
		t.Errorf("SaveReport leaves %q", files)
	}
}

func TestCloseWaitsForSaveReport(t *testing.T) {
	for name, ctx := range map[string]context.Context{"with an end": t.Context(), "without an end": context.Background()} {
		t.Run("a context "+name, func(t *testing.T) {
			f := &failingFs{Fs: memoryOf(t, reported), blocked: make(chan struct{}), syncing: make(chan struct{})}
			c := catalog(t, toolshelf.WithFs(f), toolshelf.WithReports("reports", ""))
			saved := make(chan error, 1)
			go func() {
				_, err := c.SaveReport(ctx, toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
				saved <- err
			}()
			<-f.syncing
			closed := make(chan []string)
			go func() {
				c.Close()
				closed <- found(t, f.Fs, "reports")
			}()
			// Once Close has begun, calls fail.
			for {
				if _, err := c.Reports(ctx, "analyze"); errors.Is(err, toolshelf.ErrClosed) {
					break
				}
			}
			select {
			case files := <-closed:
				t.Errorf("Close has returned before the report was written: %q", files)
			default:
			}
			close(f.blocked)
			if files := <-closed; len(files) != 1 || strings.HasSuffix(files[0], ".tmp") {
				t.Errorf("after Close there is %q", files)
			}
			if err := <-saved; err != nil {
				t.Error(err)
			}
			must.Fail(c.SaveReport(ctx, toolshelf.Report{Command: "analyze", Content: "x", Upload: true}))(t, "after Close", toolshelf.ErrClosed)
		})
	}
}

// refusing records and refuses each change of a filesystem.
type refusing struct {
	afero.Fs
	mu      sync.Mutex
	changes []string
}

func (r *refusing) refuse(change, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, change+" "+name)
	return &fs.PathError{Op: change, Path: name, Err: fs.ErrPermission}
}

func (r *refusing) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag != os.O_RDONLY {
		return nil, r.refuse("open for writing", name)
	}
	return r.Fs.OpenFile(name, flag, perm)
}

func (r *refusing) Create(name string) (afero.File, error)    { return nil, r.refuse("create", name) }
func (r *refusing) Mkdir(name string, _ fs.FileMode) error    { return r.refuse("mkdir", name) }
func (r *refusing) MkdirAll(name string, _ fs.FileMode) error { return r.refuse("mkdir", name) }
func (r *refusing) Remove(name string) error                  { return r.refuse("remove", name) }
func (r *refusing) RemoveAll(name string) error               { return r.refuse("remove", name) }
func (r *refusing) Rename(name, _ string) error               { return r.refuse("rename", name) }
func (r *refusing) Chmod(name string, _ fs.FileMode) error    { return r.refuse("chmod", name) }
func (r *refusing) Chown(name string, _, _ int) error         { return r.refuse("chown", name) }
func (r *refusing) Chtimes(name string, _, _ time.Time) error { return r.refuse("chtimes", name) }

// otherMethods calls each exported method of a catalog, a skill and a command that
// everyMethod does not call. A new method needs a row.
func otherMethods(ctx context.Context, c *toolshelf.Catalog) map[string]func() error {
	onSkill := func(call func(toolshelf.Skill) error) func() error {
		return func() error {
			s, err := c.GetSkill(ctx, "s00")
			if err != nil {
				return err
			}
			return call(s)
		}
	}
	onCommand := func(call func(toolshelf.Command) error) func() error {
		return func() error {
			command, err := c.Get(ctx, "c00")
			if err != nil {
				return err
			}
			return call(command)
		}
	}
	return map[string]func() error{
		"Close": func() error { return c.Close() },
		"OnChange": func() error {
			c.OnChange(func(toolshelf.Change) {})()
			return nil
		},
		"Pending": func() error { return errorOf(c.Pending(ctx)) },
		"Plugins": func() error { return errorOf(c.Plugins(ctx)) },
		"MCPServers": func() error {
			project, err := c.MCPServers(ctx)
			if err == nil && len(project) > 0 {
				err = fmt.Errorf("%d servers without a client", len(project))
			}
			return err
		},
		"View": func() error { return errorOf(c.View()) },
		"Root": func() error { bridgeOf(c).Root(); return nil },
		"RelativePath": func() error {
			bridgeOf(c).RelativePath("commands", "commands/c00.md")
			return nil
		},
		"SkillLayers": func() error { bridgeOf(c).SkillLayers(); return nil },
		"SkillManifests": func() error {
			return lastError(bridgeOf(c).SkillManifests(ctx, nil))
		},
		"SkillSubdir": func() error {
			bridgeOf(c).SkillSubdir(toolshelf.SkillInfo{Layer: "skills", Path: "skills/s00/SKILL.md"})
			return nil
		},
		"Prompting":  func() error { bridgeOf(c).Prompting(true, true); return nil },
		"Configured": func() error { bridgeOf(c).Configured(); return nil },

		"Skill.FS": onSkill(func(s toolshelf.Skill) error {
			return errorOf(fs.ReadFile(s.FS(), "SKILL.md"))
		}),
		"Skill.MarshalJSON": onSkill(func(s toolshelf.Skill) error { return errorOf(s.MarshalJSON()) }),
		"Skill.Prompt":      onSkill(func(s toolshelf.Skill) error { s.Prompt(); return nil }),

		"Agent.MarshalJSON": func() error {
			a, err := c.GetAgent(ctx, "a00")
			return errors.Join(err, errorOf(a.MarshalJSON()))
		},

		"Command.Render": onCommand(func(c toolshelf.Command) error { return errorOf(c.Render("x")) }),
		"Renderer.Arguments": onCommand(func(c toolshelf.Command) error {
			return errorOf(toolshelf.Renderer{}.Arguments(context.Background(), c))
		}),
		"Renderer.Render": onCommand(func(c toolshelf.Command) error {
			args := toolshelf.Args{Named: map[string]string{"x": "y"}}
			return errorOf(toolshelf.Renderer{}.Render(context.Background(), c, args))
		}),
		"Skill.Render": onSkill(func(s toolshelf.Skill) error { return errorOf(s.Render("x")) }),
	}
}

// exportedMethods returns the calls of all exported methods, by name, and fails for a method
// without a call.
func exportedMethods(t *testing.T, c *toolshelf.Catalog) map[string]func() error {
	t.Helper()
	all := everyMethod(t.Context(), c)
	maps.Copy(all, otherMethods(t.Context(), c))
	for of, prefix := range map[reflect.Type]string{
		reflect.TypeFor[*toolshelf.Catalog]():                                       "",
		reflect.TypeFor[bridge.Catalog[toolshelf.SkillInfo, toolshelf.SkillFile]](): "",
		reflect.TypeFor[*toolshelf.Skill]():                                         "Skill.",
		reflect.TypeFor[*toolshelf.Command]():                                       "Command.",
		reflect.TypeFor[*toolshelf.Agent]():                                         "Agent.",
	} {
		for i := range of.NumMethod() {
			if name := prefix + of.Method(i).Name; all[name] == nil {
				t.Errorf("no test calls the method %s; add a row to everyMethod or otherMethods", name)
			}
		}
	}
	return all
}

func TestOnlySaveReportWritesToAFilesystem(t *testing.T) {
	files := busyProject(20)
	for name := range exportedMethods(t, nil) {
		fsys := &refusing{Fs: memoryOf(t, files)}
		c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithAgentsDir("agents"),
			toolshelf.WithReports("reports", "state"))
		err := exportedMethods(t, c)[name]()
		if name == "SaveReport" {
			if err == nil || len(fsys.changes) == 0 {
				t.Errorf("SaveReport: %v and no change; does the filesystem record changes?", err)
			}
		} else if err != nil || len(fsys.changes) > 0 {
			t.Errorf("%s: %v, and the changes %q", name, err, fsys.changes)
		}
	}
}

// state returns the mode, time and content of each file and directory below a directory.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if !d.IsDir() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			content = string(data)
		}
		all[strings.TrimPrefix(name, dir)] = info.Mode().String() + " " + info.ModTime().String() + " " + content
		return nil
	}))
	return all
}

func TestOnlySaveReportWritesToTheDisk(t *testing.T) {
	root := diskOf(t, busyProject(20))
	of := func() map[string]func() error {
		return exportedMethods(t, catalog(t, toolshelf.WithRoot(root),
			toolshelf.WithAgentsDir("agents"), toolshelf.WithReports("reports", "state")))
	}
	before := state(t, root)
	for name := range of() {
		if name != "SaveReport" {
			must.Is(t, name, nil, of()[name]())
		}
	}
	must.Match(t, "files and directories", before, state(t, root))
	must.Do(t, of()["SaveReport"]())
	must.Equal(t, "a report changes nothing", false, cmp.Equal(before, state(t, root)))
}
