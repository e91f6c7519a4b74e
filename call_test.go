package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// misstating returns a filesystem that reports a wrong size of each file.
func misstating(fsys afero.Fs, size int64) afero.Fs {
	return hook{Fs: fsys, info: func(info fs.FileInfo) fs.FileInfo {
		if info.IsDir() {
			return info
		}
		return misstatedInfo{info, size}
	}}
}

type misstatedInfo struct {
	fs.FileInfo
	size int64
}

func (i misstatedInfo) Size() int64 { return i.size }

// TestAnySizeThatAFilesystemReports reads files with a reported size that exceeds the
// memory or the int of a 32-bit platform, but not the limit of the catalog.
func TestAnySizeThatAFilesystemReports(t *testing.T) {
	const text = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n"
	for _, size := range []int64{math.MinInt64, -1, 0, math.MaxInt32, 3 << 30, 1 << 62, math.MaxInt64 - 1, math.MaxInt64} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			files := memoryOf(t, map[string]string{
				"commands/review.md": text, "skills/pdf/SKILL.md": text, "skills/pdf/.gitignore": strings.Repeat("#\n", 4096)})
			c := catalog(t, toolshelf.WithFs(misstating(files, size)),
				toolshelf.WithMaxFileSize(math.MaxInt64))
			command, err := c.Get(t.Context(), "review")
			skill, skillErr := c.GetSkill(t.Context(), "pdf", toolshelf.Digests())
			raw, rawErr := c.ReadSkillFile(t.Context(), "pdf", "SKILL.md")
			if size >= math.MaxInt { // a slice of size+1 bytes is impossible
				for _, err := range []error{err, skillErr, rawErr} {
					must.Is(t, "err", toolshelf.ErrFileTooLarge, err)
				}
			} else {
				must.Do(t, errors.Join(err, skillErr, rawErr))
				if command.Content != "Read.\n" || skill.Content != "Read.\n" || string(raw) != text {
					t.Errorf("got %q, %q and %q", command.Content, skill.Content, raw)
				}
			}
			must.Get(c.Search(t.Context(), "pdf", 0))(t)
			must.Get(c.Lint(t.Context()))(t)
			must.Get(c.Tree(t.Context(), ".", toolshelf.Gitignore()))(t)
		})
	}
}

// TestFileOfThreeGiB reads a file on the disk whose size exceeds the int of a 32-bit
// platform.
func TestFileOfThreeGiB(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/small.md": "Small.", "commands/large.md": "Large."})
	if err := os.Truncate(filepath.Join(root, "commands", "large.md"), 3<<30); err != nil {
		t.Skip("no sparse file: ", err)
	}
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithMaxFileSize(3<<30-1))
	must.Len(t, "list.Commands", 1, must.Get(c.List(t.Context(), toolshelf.Page{}))(t).Commands)
	must.Fail(c.Get(t.Context(), "large"))(t, "error", toolshelf.ErrFileTooLarge)
	must.Equal(t, "info.Size", 3<<30, must.Get(c.Stat(t.Context(), "commands/large.md"))(t).Size)
}

// TestAFileThatGrowsWhileItIsRead reads a command, a SKILL.md and a file of a
// skill that become longer than their reported size. The whole content is
// returned, up to WithMaxFileSize.
func TestAFileThatGrowsWhileItIsRead(t *testing.T) {
	const header, limit = "---\nname: a\ndescription: d\n---\n", 50_000
	for _, length := range []int{100, 5_000, limit, limit + 1, 2 * limit} {
		text := header + strings.Repeat("x", length-len(header))
		files := memoryOf(t, map[string]string{"commands/a.md": text, "skills/a/SKILL.md": text, "skills/a/x.txt": text})
		c := catalog(t, toolshelf.WithFs(misstating(files, int64(len(header)))),
			toolshelf.WithMaxFileSize(limit))
		command, err := c.Get(t.Context(), "a")
		skill, skillErr := c.GetSkill(t.Context(), "a")
		raw, rawErr := c.ReadSkillFile(t.Context(), "a", "x.txt")
		if length > limit {
			for _, err := range []error{err, skillErr, rawErr} {
				must.Is(t, length, toolshelf.ErrFileTooLarge, err)
			}
			continue
		}
		must.Do(t, errors.Join(err, skillErr, rawErr))
		if want := text[len(header):]; command.Content != want || skill.Content != want || string(raw) != text {
			t.Errorf("%d bytes: got %d, %d and %d bytes", length, len(command.Content), len(skill.Content), len(raw))
		}
	}
}

// TestAHeaderThatGrowsIsListedWhole lists a command and a skill whose header is
// longer than the reported size and than the first read.
func TestAHeaderThatGrowsIsListedWhole(t *testing.T) {
	text := "---\nname: a\nother: " + strings.Repeat("x", 10_000) + "\ndescription: d\n---\n"
	files := memoryOf(t, map[string]string{"commands/a.md": text, "skills/a/SKILL.md": text})
	c := catalog(t, toolshelf.WithFs(misstating(files, 100)))
	must.Match(t, "commands with the descriptions", []string{"d"}, descriptions(t, c))
	skills, err := c.ListSkills(t.Context())
	if err != nil || len(skills) != 1 || skills[0].Description != "d" || skills[0].Diagnostics != nil {
		t.Errorf("skills: %+v, %v", skills, err)
	}
}

func descriptions(t *testing.T, c *toolshelf.Catalog) (all []string) {
	t.Helper()
	for info, err := range c.All(t.Context()) {
		must.Do(t, err)
		all = append(all, info.Description)
	}
	return all
}

func TestMaxFileSizeIsInclusive(t *testing.T) {
	for size, want := range map[int]error{9: nil, 10: nil, 11: toolshelf.ErrFileTooLarge} {
		c := catalog(t, toolshelf.WithMaxFileSize(10), toolshelf.WithFs(memoryOf(t, map[string]string{"commands/a.md": strings.Repeat("x", size)})))
		must.Fail(c.Get(t.Context(), "a"))(t, size, want)
		must.Equal(t, size, want == nil, len(names(t, c)) == 1)
	}
}

// expected are the errors of calls while files are created and removed.
func expected(err error) bool {
	return err == nil || errors.Is(err, toolshelf.ErrCommandNotFound) || errors.Is(err, toolshelf.ErrFileRead) && errors.Is(err, fs.ErrNotExist)
}

func TestSixteenGoroutinesWhileFilesChange(t *testing.T) {
	files := map[string]string{"skills/one/SKILL.md": "---\nname: one\ndescription: one\n---\n"}
	for i := range 20 {
		files[fmt.Sprintf("commands/c%02d.md", i)] = "---\ndescription: steady\n---\nBody.\n"
	}
	for kind, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, files))},
		"disk":   {toolshelf.WithRoot(diskOf(t, files))},
	} {
		t.Run(kind, func(t *testing.T) {
			c := catalog(t, options...)
			var readers, writer sync.WaitGroup
			stop := make(chan struct{})
			writer.Go(func() {
				if kind != "disk" {
					return
				}
				info, err := c.Get(t.Context(), "c00")
				if err != nil {
					t.Error(err)
					return
				}
				dir := filepath.Dir(info.Metadata.Path)
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					name := filepath.Join(dir, fmt.Sprintf("moving%d.md", i%5))
					if err := catalogtest.Replace(name, "---\ndescription: moving\n---\nBody.\n"); err != nil {
						t.Error(err)
						return
					}
					if i%2 == 1 {
						os.Remove(name)
					}
				}
			})
			for g := range 16 {
				readers.Go(func() {
					for i := range catalogtest.Rounds(50, 200) {
						if err := oneCall(t.Context(), c, (g+i)%5, i); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			readers.Wait()
			close(stop)
			writer.Wait()
		})
	}
}

func oneCall(ctx context.Context, c *toolshelf.Catalog, kind, i int) error {
	switch kind {
	case 0:
		l, err := c.List(ctx, toolshelf.Page{Size: 100})
		if err != nil || l.Pagination.Total < 20 {
			return fmt.Errorf("List: %d commands, %w", l.Pagination.Total, err)
		}
	case 1:
		command, err := c.Get(ctx, fmt.Sprintf("c%02d", i%20))
		if err != nil || command.Content != "Body.\n" {
			return fmt.Errorf("Get: %q, %w", command.Content, err)
		}
		command.Raw[0] = 'x' // results belong to the caller
	case 2:
		if command, err := c.Get(ctx, fmt.Sprintf("moving%d", i%5)); !expected(err) || err == nil && command.Content != "Body.\n" {
			return fmt.Errorf("Get of a file that comes and goes: %q, %w", command.Content, err)
		}
	case 3:
		if skills, err := c.ListSkills(ctx); err != nil || len(skills) != 1 {
			return fmt.Errorf("ListSkills: %d, %w", len(skills), err)
		}
	case 4:
		if _, err := c.Lint(ctx); err != nil {
			return fmt.Errorf("Lint: %w", err)
		}
	}
	return nil
}

func TestCloseDuringCalls(t *testing.T) {
	for range 50 {
		c := must.Get(toolshelf.New(toolshelf.WithFs(memory(t, "."))))(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for {
					_, err := c.Get(t.Context(), "Build")
					if err != nil {
						must.Is(t, "err", toolshelf.ErrClosed, err)
						return
					}
				}
			})
		}
		c.Close()
		all.Wait()
	}
}

func TestTheContextEndsACallOnAFilesystemThatHangs(t *testing.T) {
	gate := make(chan struct{})
	c := catalog(t, toolshelf.WithFs(hook{Fs: memory(t, "."), before: untilClosed(gate)}))
	defer close(gate)
	for op, call := range map[string]func(context.Context) error{
		"List":       func(ctx context.Context) error { _, err := c.List(ctx, toolshelf.Page{}); return err },
		"Get":        func(ctx context.Context) error { _, err := c.Get(ctx, "Build"); return err },
		"ListSkills": func(ctx context.Context) error { _, err := c.ListSkills(ctx); return err },
		"Lint":       func(ctx context.Context) error { _, err := c.Lint(ctx); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		must.Equal(t, op, context.DeadlineExceeded, call(ctx))
		cancel()
	}
}

func TestAGetOfAKnownCommandEndsWithItsContext(t *testing.T) {
	hanging := &hook{Fs: memory(t, ".")}
	c := catalog(t, toolshelf.WithFs(hanging))
	must.Get(c.Get(t.Context(), "Build"))(t)
	shut := make(chan struct{})
	hanging.before = untilClosed(shut)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Get(ctx, "Build"); err != context.DeadlineExceeded {
		t.Error(err)
	}
	close(shut)
}

func TestASlowFilesystemIsReadInParallel(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "---\ndescription: d\n---\n"
	}
	fsys := memoryOf(t, files)
	synctest.Test(t, func(t *testing.T) { // the clock stands still while a goroutine can run
		slow := hook{Fs: fsys, before: func(string, string) error {
			time.Sleep(20 * time.Millisecond)
			return nil
		}}
		c := must.Get(toolshelf.New(toolshelf.WithFs(slow)))(t)
		defer c.Close()
		begin := time.Now()
		l, err := c.List(t.Context(), toolshelf.Page{})
		if took := time.Since(begin); err != nil || l.Pagination.Total != 500 || took > 1500*time.Millisecond {
			t.Errorf("%d commands in %v, %v", l.Pagination.Total, took, err)
		}
	})
}

// TestNeverStale changes a file in every way that a cache could miss, without pauses, and
// calls every method after each change.
func TestNeverStale(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/other.md": "Other."})
	dir := filepath.Join(root, "commands")
	file := filepath.Join(dir, "a.md")
	c := catalog(t, toolshelf.WithRoot(root))
	random := rand.New(rand.NewPCG(1, 2))
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }
	last := ""
	for i := range catalogtest.Rounds(1000, 3000) {
		text := fmt.Sprintf("%04d", i) // every text has the same size
		hidden := false
		var err error
		switch way := random.IntN(7); {
		case way == 0 || last == "":
			err = write(file, text)
		case way == 1: // its time set back
			var info os.FileInfo
			if info, err = os.Stat(file); err == nil {
				err = errors.Join(write(file, text), os.Chtimes(file, info.ModTime(), info.ModTime()))
			}
		case way == 2: // replaced
			err = errors.Join(write(file+".new", text), os.Rename(file+".new", file))
		case way == 3: // removed
			err, text = os.Remove(file), ""
		case way == 4: // removed and made again
			err = errors.Join(os.Remove(file), write(file, text))
		case way == 5: // twice within a tick
			err = errors.Join(write(file, "xxxx"), write(file, text))
		case way == 6: // hidden
			err, hidden = write(file, "---\nis_dependency: true\n---\n"+text), true
		}
		must.Do(t, err)
		last = text

		list := must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
		var listed []string
		for _, info := range list.Commands {
			if info.Name == "a" {
				listed = append(listed, info.Description)
			}
		}
		var want []string
		if text != "" && !hidden {
			want = []string{text}
		}
		must.Match(t, i, want, listed)
		got, err := c.Get(t.Context(), "a")
		if text == "" && !errors.Is(err, toolshelf.ErrCommandNotFound) || text != "" && !strings.HasSuffix(got.Content, text) {
			t.Fatalf("change %d: Get %q, %v; want %q", i, got.Content, err, text)
		}
	}
}

// writing is a filesystem whose file a.md is empty at a number of opens, like a file that a
// program has truncated and writes again.
type writing struct {
	afero.Fs
	t     *testing.T
	empty int
	still bool // the program never finishes
}

func (w *writing) Open(name string) (afero.File, error) {
	if filepath.Base(name) != "a.md" || w.empty == 0 {
		return w.Fs.Open(name)
	}
	w.empty--
	at := time.Now()
	if !w.still {
		at = at.Truncate(time.Hour).Add(time.Hour + 1) // a time in the future counts as just changed
	}
	fsys := afero.NewMemMapFs()
	if err := errors.Join(afero.WriteFile(fsys, "a.md", nil, 0o644), fsys.Chtimes("a.md", at, at)); err != nil {
		w.t.Fatal(err)
	}
	return fsys.Open("a.md")
}

func TestAFileIsNotSeenHalfWritten(t *testing.T) {
	for _, tt := range []struct {
		name  string
		empty int
		still bool
		want  string
	}{
		{"written in a moment", 2, false, "new"},
		{"written on and on", 1000, true, "old"},
		{"left empty", 1000, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := &writing{Fs: memoryOf(t, map[string]string{"commands/a.md": "old"}), t: t}
			c := catalog(t, toolshelf.WithFs(fsys))
			names(t, c)
			must.Do(t, afero.WriteFile(fsys.Fs, "commands/a.md", []byte("new"), 0o644))
			fsys.empty, fsys.still = tt.empty, tt.still
			list := must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
			must.Len(t, "list.Commands", 1, list.Commands)
			must.Equal(t, "Description", tt.want, list.Commands[0].Description)
		})
	}
}

func TestAFileThatStaysEmptyIsListed(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "text"})
	c := catalog(t, toolshelf.WithRoot(root))
	names(t, c)
	write(t, "", root, "commands", "a.md")
	list, err := c.List(t.Context(), toolshelf.Page{})
	if err != nil || len(list.Commands) != 1 || list.Commands[0].Description != "" || list.Commands[0].Size != 0 {
		t.Errorf("%+v, %v", list.Commands, err)
	}
}

// slowOpens takes 400 ms to open each of the command files, and opens at most two files at a time.
func slowOpens(t *testing.T) afero.Fs {
	slots := make(chan struct{}, 2)
	return onOpen(memoryOf(t, commandFiles()), func(string) {
		slots <- struct{}{}
		time.Sleep(200 * time.Millisecond) // of the clock of synctest
		<-slots
	})
}

func longCalls(
	c *toolshelf.Catalog,
) map[string]func(context.Context, toolshelf.WithProgress) error {
	type ctx = context.Context
	type option = toolshelf.WithProgress
	return map[string]func(ctx, option) error{
		"ListDir":   func(x ctx, o option) error { return errorOf(c.ListDir(x, ".", o)) },
		"Tree":      func(x ctx, o option) error { return errorOf(c.Tree(x, ".", o)) },
		"FindFiles": func(x ctx, o option) error { return errorOf(c.FindFiles(x, ".", "*", o)) },
		"Grep":      func(x ctx, o option) error { return errorOf(c.Grep(x, ".", "Review", o)) },
		"Search":    func(x ctx, o option) error { return errorOf(c.Search(x, "review", 0, o)) },
		"Lint":      func(x ctx, o option) error { return errorOf(c.Lint(x, o)) },
	}
}

func commandFiles() map[string]string {
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("commands/dir/c%d.md", i)] = "Review the code.\n"
	}
	return files
}

func TestProgressOfLongCalls(t *testing.T) {
	// The three directories have 8 entries, and 6 of the entries are files.
	for name, want := range map[string]toolshelf.Progress{
		"ListDir":   {Entries: 1, Done: true},
		"Tree":      {Entries: 8, Done: true},
		"FindFiles": {Entries: 8, Done: true},
		"Grep":      {Entries: 8, Files: 6, Done: true},
		"Search":    {Entries: 6, Files: 6, Done: true},
		"Lint":      {Entries: 6, Files: 6, Done: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := catalog(t, toolshelf.WithFs(slowOpens(t)), toolshelf.WithNestedCommands())
				var reports []toolshelf.Progress
				var times []time.Time
				must.Do(t, longCalls(c)[name](t.Context(), toolshelf.WithProgress(func(p toolshelf.Progress) {
					reports = append(reports, p) // the race detector finds a report on another goroutine
					times = append(times, time.Now())
				})))
				if len(reports) < 2 {
					t.Fatalf("%d reports", len(reports))
				}
				for i, p := range reports {
					last := i == len(reports)-1
					if p.Done != last || i > 0 && (p.Entries < reports[i-1].Entries || p.Files < reports[i-1].Files) {
						t.Errorf("report %d of %d: %+v after %+v", i, len(reports), p, reports[max(i-1, 0)])
					}
					if i >= 10 && times[i].Sub(times[i-10]) < time.Second {
						t.Errorf("%v for ten reports", times[i].Sub(times[i-10]))
					}
				}
				must.Equal(t, "the last report", want, reports[len(reports)-1])
			})
		})
	}
}

// TestShortCallsReportTheirEnd also checks calls whose context cannot end, and local disks.
func TestShortCallsReportTheirEnd(t *testing.T) {
	c := catalog(t, toolshelf.WithRoot(diskOf(t, commandFiles())), toolshelf.WithNestedCommands())
	for name, call := range longCalls(c) {
		done := 0
		report := toolshelf.WithProgress(func(p toolshelf.Progress) {
			if p.Done {
				done++
			}
		})
		must.Do(t, errors.Join(call(context.Background(), report), call(t.Context(), report), call(t.Context(), toolshelf.WithProgress(nil)), call(t.Context(), nil)))
		must.Equal(t, name, 2, done)
	}
}

func TestFailedCallsDoNotReportTheirEnd(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(catalogtest.Faulty{Fs: memoryOf(t, commandFiles()), Opens: map[string]error{"commands": fs.ErrPermission, ".": fs.ErrPermission}}))
	for name, call := range longCalls(c) {
		err := call(t.Context(), toolshelf.WithProgress(func(p toolshelf.Progress) {
			must.Equal(t, name, false, p.Done)
		}))
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAPanicOfAReportEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		opened := 0
		hanging := catalogtest.Faulty{Fs: memoryOf(t, commandFiles()), Hang: hang}
		c := catalog(t, toolshelf.WithFs(onOpen(hanging, func(string) { opened++ })))
		func() {
			defer func() {
				must.Equal(t, "the panic", "report", recover())
			}()
			_, err := c.Tree(context.Background(), ".", toolshelf.WithProgress(func(toolshelf.Progress) { panic("report") }))
			t.Errorf("Tree returns %v", err)
		}()
		close(hang)
		synctest.Wait()
		must.Equal(t, "directories that Tree opens", 1, opened)
	})
}

func TestASlowReportDelaysOnlyTheNextReport(t *testing.T) {
	for range 20 { // the order of two channels that are ready is random
		synctest.Test(t, func(t *testing.T) {
			c := catalog(t, toolshelf.WithFs(slowOpens(t)))
			var reports []bool
			_, err := c.Tree(t.Context(), ".", toolshelf.WithProgress(func(p toolshelf.Progress) {
				reports = append(reports, p.Done)
				time.Sleep(time.Hour) // of the clock of synctest
			}))
			if err != nil || len(reports) != 2 || reports[0] || !reports[1] {
				t.Fatalf("got %v, %v; want a report and the end", reports, err)
			}
		})
	}
}

// A restore of 20 uses reads each file at most twice: the bytes of the text, and the header for the
// list of its kind.
func TestRestorePromptReadsEachFileAtMostTwice(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		text := strings.Repeat(fmt.Sprintf("Rule %d of a long text. ", i), 200)
		files[fmt.Sprintf("skills/s%02d/SKILL.md", i)] = fmt.Sprintf("---\ndescription: Skill %d\n---\n%s", i, text)
		files[fmt.Sprintf("commands/c%02d.md", i)] = fmt.Sprintf("---\ndescription: Command %d\n---\n%s", i, text)
	}
	tokens := func(s string) int { return len(s) / 4 }
	for kind, fsys := range map[string]afero.Fs{"memory": memoryOf(t, files), "disk": afero.NewBasePathFs(afero.NewOsFs(), diskOf(t, files))} {
		t.Run(kind, func(t *testing.T) {
			var used []toolshelf.Item
			reads := &catalogtest.Reads{Fs: fsys}
			c := catalog(t, toolshelf.WithFs(reads), toolshelf.WithObserver(func(_ context.Context, e toolshelf.Event) {
				if e.Action == toolshelf.EventLoaded {
					used = append(used, toolshelf.Item{Kind: e.Kind, Name: e.Name, Digest: e.Digest})
				}
			}))
			for i := range 10 {
				must.Get(c.GetSkill(t.Context(), fmt.Sprintf("s%02d", i)))(t)
				must.Get(c.Get(t.Context(), fmt.Sprintf("c%02d", i)))(t)
			}
			reads.Take()
			restored := must.Get(c.RestorePrompt(t.Context(), used[:20:20], toolshelf.Tokens(25_000, tokens)))(t)
			if n := tokens(restored.Text); len(restored.Included) != 20 || n > 25_000 || n < 20_000 {
				t.Errorf("%d of 20 texts, with %d tokens", len(restored.Included), n)
			}
			for file, n := range reads.Take() {
				if size := len(files[filepath.ToSlash(file)]); n > 2*size {
					t.Errorf("%s: %d bytes of a file of %d", file, n, size)
				}
			}
		})
	}
}
