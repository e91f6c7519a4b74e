package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// slowOpens takes 400 ms to open each file, and opens at most two files at a time.
type slowOpens struct {
	afero.Fs
	slots chan struct{}
}

func (s slowOpens) Open(name string) (afero.File, error) {
	s.slots <- struct{}{}
	time.Sleep(400 * time.Millisecond) // of the clock of synctest
	<-s.slots
	return s.Fs.Open(name)
}

func longCalls(c *toolshelf.Catalog) map[string]func(ctx context.Context, o toolshelf.WithProgress) error {
	return map[string]func(ctx context.Context, o toolshelf.WithProgress) error{
		"ListDir": func(ctx context.Context, o toolshelf.WithProgress) error {
			_, err := c.ListDir(ctx, ".", o)
			return err
		},
		"Tree": func(ctx context.Context, o toolshelf.WithProgress) error { _, err := c.Tree(ctx, ".", o); return err },
		"FindFiles": func(ctx context.Context, o toolshelf.WithProgress) error {
			_, err := c.FindFiles(ctx, ".", "*", o)
			return err
		},
		"Grep": func(ctx context.Context, o toolshelf.WithProgress) error {
			_, err := c.Grep(ctx, ".", "Review", o)
			return err
		},
		"Search": func(ctx context.Context, o toolshelf.WithProgress) error {
			_, err := c.Search(ctx, "review", 0, o)
			return err
		},
		"Lint": func(ctx context.Context, o toolshelf.WithProgress) error { _, err := c.Lint(ctx, o); return err },
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
				fsys := slowOpens{memoryOf(t, commandFiles()), make(chan struct{}, 2)}
				c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithNestedCommands())
				var reports []toolshelf.Progress
				var times []time.Time
				err := longCalls(c)[name](t.Context(), toolshelf.WithProgress(func(p toolshelf.Progress) {
					reports = append(reports, p) // the race detector finds a report on another goroutine
					times = append(times, time.Now())
				}))
				if err != nil {
					t.Fatal(err)
				}
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
				if last := reports[len(reports)-1]; last != want {
					t.Errorf("the last report is %+v, want %+v", last, want)
				}
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
		if err := errors.Join(call(context.Background(), report), call(t.Context(), report), call(t.Context(), toolshelf.WithProgress(nil)), call(t.Context(), nil)); err != nil || done != 2 {
			t.Errorf("%s: %d reports of an end, %v", name, done, err)
		}
	}
}

func TestFailedCallsDoNotReportTheirEnd(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(faulty{Fs: memoryOf(t, commandFiles()), open: map[string]error{"commands": fs.ErrPermission, ".": fs.ErrPermission}}))
	for name, call := range longCalls(c) {
		err := call(t.Context(), toolshelf.WithProgress(func(p toolshelf.Progress) {
			if p.Done {
				t.Errorf("%s reports its end", name)
			}
		}))
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAPanicOfAReportEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		opened := make(chan string, 10)
		c := catalog(t, toolshelf.WithFs(observed{faulty{Fs: memoryOf(t, commandFiles()), hang: hang}, opened}))
		func() {
			defer func() {
				if r := recover(); r != "report" {
					t.Errorf("the panic is %v", r)
				}
			}()
			_, err := c.Tree(context.Background(), ".", toolshelf.WithProgress(func(toolshelf.Progress) { panic("report") }))
			t.Errorf("Tree returns %v", err)
		}()
		close(hang)
		synctest.Wait()
		if len(opened) != 1 {
			t.Errorf("Tree opens %d directories after the panic", len(opened)-1)
		}
	})
}

// observed sends the name of each opened file.
type observed struct {
	afero.Fs
	opened chan<- string
}

func (o observed) Open(name string) (afero.File, error) {
	o.opened <- name
	return o.Fs.Open(name)
}

func TestASlowReportDelaysOnlyTheNextReport(t *testing.T) {
	for range 20 { // the order of two channels that are ready is random
		synctest.Test(t, func(t *testing.T) {
			c := catalog(t, toolshelf.WithFs(slowOpens{memoryOf(t, commandFiles()), make(chan struct{}, 2)}))
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
