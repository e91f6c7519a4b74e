package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// slowFs takes 400 ms to open each file, opens one file at a time, and takes 100 ms to stat
// each file.
type slowFs struct {
	afero.Fs
	slot chan struct{}
}

func (s slowFs) Open(name string) (afero.File, error) {
	s.slot <- struct{}{}
	time.Sleep(400 * time.Millisecond) // of the clock of synctest
	<-s.slot
	return s.Fs.Open(name)
}

func (s slowFs) Stat(name string) (fs.FileInfo, error) {
	time.Sleep(100 * time.Millisecond)
	return s.Fs.Stat(name)
}

// SlowProject returns an adapter of a large project on a slow filesystem, for a test with
// synctest.
func SlowProject(t testing.TB, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	files := map[string]string{}
	for i := range 5 {
		for j := range 50 {
			files[fmt.Sprintf("dir-%d/file-%03d.md", i, j)] = "x"
		}
		files[fmt.Sprintf("commands/c%d.md", i)] = "Review the code.\n"
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = "Review the code.\n"
	}
	a := adapter(t, catalog(t, slowFs{catalogtest.Memory(t, files), make(chan struct{}, 1)}), opts...)
	t.Cleanup(func() { time.Sleep(time.Hour) }) // ends the calls of the filesystem, because Catalog.Close waits for them
	return a
}

// A Report is a notification of progress, as the client of an SDK receives the params.
type Report struct {
	Token    any
	Progress float64
	Total    float64
	Message  string
}

// ConnectReports connects a client of an SDK to a new server with an adapter. report gets
// the notifications of progress. call calls a tool without arguments. The request has the
// progress token, or none if the token is nil.
type ConnectReports func(t testing.TB, a *mcpadapter.Adapter, report func(Report)) (call func(ctx context.Context, tool string, token any) error)

// reports are the notifications that a client has received.
type reports struct {
	mu  sync.Mutex
	all []Report
}

func (r *reports) add(one Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
}

// received returns all notifications so far.
func (r *reports) received() []Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// TestProgress tests the notifications of progress of a binding.
func TestProgress(t *testing.T, connect ConnectReports) {
	for _, token := range []any{"one", "7", 7, 0, nil} {
		t.Run(fmt.Sprintf("token %#v", token), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testToken(t, connect, token) })
		})
	}
	t.Run("cancel", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { testCancel(t, connect) })
	})
	t.Run("concurrent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { testConcurrent(t, connect) })
	})
}

// testToken tests the reports of one call with a token, or of one without.
func testToken(t *testing.T, connect ConnectReports, token any) {
	var r reports
	call := connect(t, SlowProject(t), r.add)
	must.Do(t, call(t.Context(), "directory_tree", token))
	all := r.received()
	if token == nil {
		if all != nil {
			t.Errorf("a request without a token has the reports %v", all)
		}
		return
	}
	if len(all) < 3 {
		t.Fatalf("got %v", all)
	}
	if number, ok := token.(int); ok {
		token = float64(number) // as encoding/json decodes the token
	}
	for i, one := range all {
		if one.Token != token || one.Total != 0 || one.Message == "" || one.Progress < 1 || i > 0 && one.Progress <= all[i-1].Progress {
			t.Errorf("report %d is %+v", i, one)
		}
	}
	time.Sleep(time.Hour)
	if late := r.received()[len(all):]; len(late) > 0 {
		t.Errorf("%v after the response", late)
	}
}

func testCancel(t *testing.T, connect ConnectReports) {
	ctx, cancel := context.WithCancel(t.Context())
	var r reports
	call := connect(t, SlowProject(t), func(one Report) {
		r.add(one)
		cancel()
	})
	if err := call(ctx, "directory_tree", 1); err == nil {
		t.Error("no error of the context")
	}
	time.Sleep(time.Hour)
	if all := r.received(); len(all) != 1 {
		t.Errorf("got %v", all)
	}
}

func testConcurrent(t *testing.T, connect ConnectReports) {
	var r reports
	call := connect(t, SlowProject(t), r.add)
	var running sync.WaitGroup
	var errs [3]error
	for token := range errs {
		running.Go(func() { errs[token] = call(t.Context(), "directory_tree", token) })
	}
	running.Wait()
	must.Do(t, errors.Join(errs[:]...))
	last := map[any]float64{}
	for _, one := range r.received() {
		if one.Progress <= last[one.Token] {
			t.Errorf("%+v after %v", one, last)
		}
		last[one.Token] = one.Progress
	}
	if len(last) != 3 {
		t.Errorf("the last reports are %v", last)
	}
}
