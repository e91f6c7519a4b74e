//go:build unix

package toolshelf_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestReportsThroughLinks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		links   map[string]string
		options []toolshelf.Option
		save    error
		list    error
	}{
		{"the directory of the command is a link outside", map[string]string{"reports/analyze": "OUTSIDE"}, nil, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
		{"the directory of the command is a link inside", map[string]string{"reports/analyze": "../commands"}, nil, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
		{"the directory of the command is a dangling link", map[string]string{"reports/analyze": "nothing"}, nil, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
		{"the directory is a link outside", map[string]string{"reports": "OUTSIDE"}, nil, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
		{"the directory is a dangling link", map[string]string{"reports": "nothing"}, nil, toolshelf.ErrDirectoryPreparation, nil},
		{"the directory is a link inside", map[string]string{"reports": "commands"}, nil, nil, nil},
		{"the directory is a link inside, and links are denied", map[string]string{"reports": "commands"},
			[]toolshelf.Option{toolshelf.WithSymlinks(toolshelf.SymlinksDeny)}, toolshelf.ErrDirectoryPreparation, toolshelf.ErrOutsideRoot},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, outside := diskOf(t, reported), t.TempDir()
			for link, target := range tt.links {
				full := filepath.Join(root, link)
				must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
				hosttest.Symlink(t, strings.ReplaceAll(target, "OUTSIDE", outside), full)
			}
			before := found(t, afero.NewBasePathFs(afero.NewOsFs(), root), ".")
			c := catalog(t, append([]toolshelf.Option{toolshelf.WithRoot(root), toolshelf.WithReports("reports", "")}, tt.options...)...)
			_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
			if !errors.Is(err, tt.save) || err != nil && (strings.Contains(err.Error(), root) || strings.Contains(err.Error(), outside)) {
				t.Errorf("SaveReport: %v, want %v", err, tt.save)
			}
			if _, err := c.Reports(t.Context(), "analyze"); !errors.Is(err, tt.list) {
				t.Errorf("Reports: %v, want %v", err, tt.list)
			}
			if entries, err := os.ReadDir(outside); len(entries) != 0 || err != nil {
				t.Errorf("the directory outside holds %v, %v", entries, err)
			}
			if after := found(t, afero.NewBasePathFs(afero.NewOsFs(), root), "."); tt.save != nil && !cmp.Equal(before, after) {
				t.Errorf("the files have changed to %q", after)
			}
		})
	}
}

func TestAFileInPlaceOfAReportDirectory(t *testing.T) {
	for file, want := range map[string]string{"reports": "reports", "reports/analyze": "reports/analyze"} {
		root := diskOf(t, reported)
		full := filepath.Join(root, file)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, nil, 0o644)))
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""))
		_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
		var e *toolshelf.Error
		if !errors.Is(err, toolshelf.ErrDirectoryPreparation) || !errors.As(err, &e) || e.Path != want || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("%s: %v", file, err)
		}
		if _, err := c.Reports(t.Context(), "analyze"); !errors.Is(err, toolshelf.ErrNotADirectory) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestModesOfReports(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	root := diskOf(t, reported)
	saved := save(t, catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("new/reports", "")), toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
	for path, want := range map[string]fs.FileMode{
		saved.Path: 0o640, filepath.Dir(saved.Path): fs.ModeDir | 0o750, filepath.Join(root, "new"): fs.ModeDir | 0o750,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// reportsIn is the environment variable with the project of a test that runs in a
// process of its own.
const reportsIn = "TEST_REPORTS_IN"

// child returns the command that runs the current test in another process.
func child(t *testing.T, root string) *exec.Cmd {
	cmd := exec.Command(hosttest.Self(t), "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), reportsIn+"="+root)
	return cmd
}

func TestReportDirectoriesWithoutPermission(t *testing.T) {
	root := os.Getenv(reportsIn)
	if root == "" {
		root = diskOf(t, reported)
		for _, dir := range []struct {
			path string
			mode fs.FileMode
		}{{"readonly/analyze", 0o555}, {"readonly", 0o555}, {"closed", 0}, {"half/analyze", 0o555}, {"half", 0o777}, {".", 0o555}, {"..", 0o755}} {
			full := filepath.Join(root, dir.path)
			must.Do(t, os.MkdirAll(full, 0o755))
			hosttest.Chmod(t, full, dir.mode)
		}
		if os.Getuid() == 0 {
			runAsNobody(t, reportsIn+"="+root)
			return
		}
	}
	for _, tt := range []struct {
		dir    string
		upload bool
		save   *toolshelf.Error
		list   error
	}{
		{"new", true, toolshelf.ErrDirectoryPreparation, nil},
		{"closed", true, toolshelf.ErrDirectoryPreparation, toolshelf.ErrPermissionDenied},
		{"readonly", true, toolshelf.ErrFileWrite, nil},
		{"readonly", false, toolshelf.ErrLocalSave, nil},
		{"half", true, toolshelf.ErrFileWrite, nil},
	} {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports(tt.dir, tt.dir))
		_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: tt.upload})
		if !errors.Is(err, tt.save) || !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v, want %s", tt.dir, err, tt.save.Code)
		}
		if all, err := c.Reports(t.Context(), "analyze"); !errors.Is(err, tt.list) || len(all) > 0 {
			t.Errorf("%s: Reports returns %v, %v", tt.dir, all, err)
		}
	}
}

func TestSixteenProcessesSaveOneReport(t *testing.T) {
	if root := os.Getenv(reportsIn); root != "" {
		save(t, catalog(t, toolshelf.WithRoot(root), toolshelf.WithClock(at), toolshelf.WithReports("reports", "")),
			toolshelf.Report{Command: "analyze", Content: strings.Repeat(fmt.Sprintln(os.Getpid()), 1000), Upload: true})
		return
	}
	root := diskOf(t, reported)
	var writers sync.WaitGroup
	for range 16 {
		cmd := child(t, root)
		writers.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	writers.Wait()
	pids := map[string]bool{}
	for v := 1; v <= 16; v++ {
		text, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("reports/analyze/analyze_report_20251120_103000_v%d.md", v)))
		pid, _, _ := strings.Cut(string(text), "\n")
		if err != nil || string(text) != strings.Repeat(pid+"\n", 1000) {
			t.Errorf("version %d: %d bytes, %v", v, len(text), err)
		}
		pids[pid] = true
	}
	if len(pids) != 16 {
		t.Errorf("reports of %d processes", len(pids))
	}
}

// A limit on the size of files ends a write early, like a full disk.
func TestAPartialWriteLeavesNoReport(t *testing.T) {
	if root := os.Getenv(reportsIn); root != "" {
		var before syscall.Rlimit
		must.Do(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
		limit := before
		limit.Cur = 100_000
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) // with -cover, the process writes a larger file at its end
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithClock(at), toolshelf.WithReports("reports", "reports"))
		for _, upload := range []bool{true, false} {
			_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: strings.Repeat("x", 100_001), Upload: upload})
			if want := map[bool]error{true: toolshelf.ErrFileWrite, false: toolshelf.ErrLocalSave}[upload]; !errors.Is(err, want) || !errors.Is(err, syscall.EFBIG) {
				t.Errorf("over the limit: %v, want %v", err, want)
			}
		}
		save(t, c, toolshelf.Report{Command: "analyze", Content: strings.Repeat("x", 100_000), Upload: true})
		return
	}
	root := diskOf(t, reported)
	if out, err := child(t, root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := []string{"reports/analyze/analyze_report_20251120_103000_v1.md"}
	must.Match(t, "result", want, found(t, afero.NewBasePathFs(afero.NewOsFs(), root), "reports"))
}

// A process that is killed during SaveReport leaves at most a hidden temporary file.
func TestAKilledProcessLeavesNoPartialReport(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 1<<16)
	if root := os.Getenv(reportsIn); root != "" {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""))
		for {
			save(t, c, toolshelf.Report{Command: "analyze", Content: text, Upload: true})
		}
	}
	root := diskOf(t, reported)
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""))
	for range 4 {
		before := unfinished(t, root)
		cmd := child(t, root)
		must.Do(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for cmp.Equal(before, unfinished(t, root)) {
			select {
			case err := <-ended:
				t.Fatalf("the process has ended: %v", err)
			default:
			}
		}
		must.Do(t, cmd.Process.Kill())
		<-ended
		saved := save(t, c, toolshelf.Report{Command: "analyze", Content: text, Upload: true})
		all := must.Get(c.Reports(t.Context(), "analyze"))(t)
		mine := false
		for _, r := range all {
			mine = mine || r.Path == saved.Path
			if r.Size != int64(len(text)) {
				t.Errorf("%s has %d bytes", r.Path, r.Size)
			}
		}
		if !mine {
			t.Errorf("%s is not among %v", saved.Path, all)
		}
	}
}

func unfinished(t *testing.T, root string) []string {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(root, "reports/analyze/.*.tmp")))(t)
	return files
}

// Another goroutine replaces the directory of the command by a link outside, and the
// link by a directory.
func TestSaveReportFollowsNoLinkThatReplacesTheDirectory(t *testing.T) {
	root, outside := diskOf(t, reported), t.TempDir()
	dir := filepath.Join(root, "reports", "analyze")
	must.Do(t, os.MkdirAll(dir, 0o755))
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", ""))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Each of these calls can fail because of a concurrent save.
			os.RemoveAll(dir)
			os.Symlink(outside, dir)
			os.Remove(dir)
			os.Mkdir(dir, 0o755)
		}
	})
	count := map[toolshelf.Code]int{}
	for range 500 {
		_, err := c.SaveReport(t.Context(), toolshelf.Report{Command: "analyze", Content: "x", Upload: true})
		count[toolshelf.CodeOf(err)]++
	}
	close(stop)
	swapper.Wait()
	if entries, err := os.ReadDir(outside); len(entries) != 0 || err != nil {
		t.Errorf("the directory outside holds %v, %v", entries, err)
	}
	for code := range count {
		if code != "" && code != "DIRECTORY_PREPARATION_FAILED" && code != "FILE_WRITE_FAILED" {
			t.Errorf("%d saves returned %q", count[code], code)
		}
	}
	t.Logf("saves by error code: %v", count)
}
