package faults_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/meaning"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/vector"
	"github.com/toolshelf-go/toolshelf/trust"
)

// A write changes a file of a directory to state 1 or 2. The function state returns the state, and
// writes once more.
type write struct {
	write func(ctx context.Context, dir string, state int) error
	state func(t *testing.T, dir string) (int, error)
}

// writes are the writes of the module. Package wellknown has tests of its own.
var writes = map[string]write{
	"trust": {
		func(ctx context.Context, dir string, state int) error {
			store, err := trust.Open(filepath.Join(dir, "trust"))
			if err != nil {
				return err
			}
			return store.Approve(ctx, approval(state))
		},
		func(t *testing.T, dir string) (state int, err error) {
			store, err := trust.Open(filepath.Join(dir, "trust"))
			for err == nil && state < 2 && store.Allowed(t.Context(), approval(state+1).Item) {
				state++
			}
			if err == nil {
				err = store.Approve(t.Context(), approval(3))
			}
			return state, err
		},
	},
	"report": {
		func(ctx context.Context, dir string, state int) error { return saveReport(ctx, dir, state) },
		func(t *testing.T, dir string) (int, error) {
			c, err := reporting(dir)
			if err != nil {
				return 0, err
			}
			defer c.Close()
			all, err := c.Reports(t.Context(), "c")
			for _, r := range all {
				text, failed := os.ReadFile(r.Path)
				if string(text) != reportText {
					err = errors.Join(err, failed, fmt.Errorf("a report has %d bytes", len(text)))
				}
			}
			return len(all), errors.Join(err, saveReport(t.Context(), dir, 3))
		},
	},
	"vectors": {
		func(ctx context.Context, dir string, state int) error { _, err := embed(ctx, dir, state); return err },
		func(t *testing.T, dir string) (int, error) {
			n, err := embed(t.Context(), dir, 2)
			return 2 - n, err
		},
	},
}

func approval(n int) toolshelf.Pending {
	return toolshelf.Pending{Item: toolshelf.Item{Kind: toolshelf.KindCommand, Name: fmt.Sprint("c", n), Layer: "/p/commands", Digest: fmt.Sprintf("sha256:%064d", n)}, New: map[string]string{"c.md": "text"}}
}

var reportText = strings.Repeat("Report.\n", 4000)

func reporting(dir string) (*toolshelf.Catalog, error) {
	commands := filepath.Join(dir, "commands")
	if err := errors.Join(os.MkdirAll(commands, 0o755), os.WriteFile(filepath.Join(commands, "c.md"), []byte("Do.\n"), 0o644)); err != nil {
		return nil, err
	}
	return toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithHome(""), toolshelf.WithReports("reports", ""))
}

func saveReport(ctx context.Context, dir string, state int) error {
	c, err := reporting(dir)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.SaveReport(ctx, toolshelf.Report{Command: "c", Name: fmt.Sprint("r", state), Content: reportText, Upload: true})
	return err
}

// embed makes the vectors of n texts known, and returns the number of vectors that the file did not
// have.
func embed(ctx context.Context, dir string, n int) (embedded int, err error) {
	left := make(chan struct{}, 8) // after the load, and after the save
	s := meaning.New(meaning.Config{ID: "model", Dir: filepath.Join(dir, "vectors"), Lifetime: ctx, Enter: func() bool { return true }, Leave: func() { left <- struct{}{} },
		Logger: slog.New(slog.DiscardHandler), Embed: func(_ context.Context, texts []string, _ bool) (all [][]float32, err error) {
			embedded += len(texts)
			for range texts {
				all = append(all, []float32{1, 2, 3, 4, 5, 6, 7, 8})
			}
			return all, nil
		}})
	var kept []*vector.Cell
	for i := range n {
		kept = append(kept, s.Vector(rank.Document{Name: fmt.Sprint("c", i), Description: "text"}))
	}
	s.Fill(ctx)
	<-left
	if embedded > 0 {
		<-left
	}
	for _, v := range kept {
		if p := v.Point(); p == nil || len(p.Values()) != 8 {
			err = errors.New("a vector is unknown")
		}
	}
	return embedded, err
}

// task is the variable for a process that writes: the name, the state and the directory.
const task = "TOOLSHELF_FAULTS_WRITE"

func TestMain(m *testing.M) {
	if name, rest, ok := strings.Cut(os.Getenv(task), " "); ok {
		var state int
		var dir string
		_, err := fmt.Sscan(rest, &state, &dir)
		if err == nil {
			err = writes[name].write(context.Background(), dir, state)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// traced are the system calls that can change a file.
var traced = []string{"openat", "openat2", "mkdirat", "write", "fsync", "linkat", "renameat", "renameat2", "unlinkat"}

// writer runs a process that writes state 2, with options of strace.
func writer(t *testing.T, strace, name, dir string, options ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), strace, append(append([]string{"-f", "-qq", "-o", filepath.Join(dir, "calls")}, options...), hosttest.Self(t))...)
	cmd.Env = append(os.Environ(), task+"="+name+" 2 "+dir)
	return cmd.Run()
}

// TestAFaultOfAWriteLeavesTheOldOrTheNewState fails each system call of each write, and ends the
// process there. With TOOLSHELF_NIGHTLY, these are all calls, and otherwise the last calls that
// give the file its name.
func TestAFaultOfAWriteLeavesTheOldOrTheNewState(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if err := exec.CommandContext(t.Context(), strace, "-qq", "-o", os.DevNull, hosttest.Self(t), "-test.run=^$").Run(); err != nil {
		t.Skip("strace traces no process")
	}
	nightly := os.Getenv("TOOLSHELF_NIGHTLY") != ""
	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := func() string {
				dir := t.TempDir()
				must.Do(t, w.write(t.Context(), dir, 1))
				return dir
			}
			dir := old()
			must.Do(t, writer(t, strace, name, dir, "-e", "trace="+strings.Join(traced, ",")))
			calls := countCalls(t, filepath.Join(dir, "calls"))
			faults := 0
			for _, call := range traced {
				for n := 1; n <= calls[call]; n++ {
					if !nightly && (n < calls[call] || !slices.Contains([]string{"fsync", "linkat", "renameat", "renameat2"}, call)) {
						continue
					}
					for _, fault := range []string{"error=EIO", "error=ENOSPC", "signal=KILL"} {
						faults++
						dir := old()
						failed := writer(t, strace, name, dir, "-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, n))
						state, err := w.state(t, dir)
						if err != nil || state != 2 && (state != 1 || failed == nil && name != "vectors") {
							t.Errorf("%s of %s %d (%v): the state is %d, %v", fault, call, n, failed, state, err)
						}
					}
				}
			}
			if t.Logf("%d faults", faults); faults < 3 {
				t.Error("no faults of", calls)
			}
		})
	}
}

// countCalls counts the calls in a file of strace.
func countCalls(t *testing.T, file string) map[string]int {
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	counts := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 {
			name, _, _ := strings.Cut(fields[1], "(")
			counts[name]++
		}
	}
	return counts
}
