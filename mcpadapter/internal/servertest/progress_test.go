package servertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// slowFs takes 400 ms to open each file.
type slowFs struct{ afero.Fs }

func (s slowFs) Open(name string) (afero.File, error) {
	time.Sleep(400 * time.Millisecond) // of the clock of synctest
	return s.Fs.Open(name)
}

// slowProject returns an adapter of directories on a slow filesystem, for a test with synctest.
func slowProject(t testing.TB) *mcpadapter.Adapter {
	t.Helper()
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("dir-%d/file.md", i)] = "x"
	}
	a := adapter(t, catalog(t, slowFs{catalogtest.Memory(t, files)}))
	// End the calls of the filesystem, because Catalog.Close waits for the calls.
	t.Cleanup(func() { time.Sleep(time.Hour) })
	return a
}

// A report is a notification of progress, as the client of an SDK receives the params.
type report struct {
	Token    any
	Progress float64
	Total    float64
	Message  string
}

// A connectReports connects a client of an SDK to a new server with an adapter. report gets
// the notifications of progress. call calls a tool without arguments. The request has the
// progress token, or none if the token is nil.
type connectReports func(t testing.TB, a *mcpadapter.Adapter, report func(report)) (call func(ctx context.Context, tool string, token any) error)

// reports are the notifications that a client has received.
type reports struct {
	mu  sync.Mutex
	all []report
}

func (r *reports) add(one report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
}

// received returns all notifications so far.
func (r *reports) received() []report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

func TestToolsReportTheirProgress(t *testing.T) {
	each(t, func(t *testing.T, b binding) {
		for revision, connect := range b.reports {
			t.Run(revision, func(t *testing.T) { testProgress(t, connect) })
		}
	})
}

// testProgress tests the notifications of progress of a binding.
func testProgress(t *testing.T, connect connectReports) {
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
func testToken(t *testing.T, connect connectReports, token any) {
	var r reports
	call := connect(t, slowProject(t), r.add)
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

func testCancel(t *testing.T, connect connectReports) {
	ctx, cancel := context.WithCancel(t.Context())
	var r reports
	call := connect(t, slowProject(t), func(one report) {
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

func testConcurrent(t *testing.T, connect connectReports) {
	var r reports
	call := connect(t, slowProject(t), r.add)
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
