package follow_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/follow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A server stands for the server of an SDK.
type server struct {
	updates chan string
	name    string // contains a pointer, so that the allocation is not shared
}

// project is a catalog in memory with an adapter.
type project struct {
	*testing.T
	fsys    afero.Fs
	catalog *toolshelf.Catalog
	adapter *mcpadapter.Adapter
}

func newProject(t *testing.T) project {
	p := project{T: t, fsys: afero.NewMemMapFs()}
	var err error
	if p.catalog, err = toolshelf.New(toolshelf.WithFs(p.fsys)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.catalog.Close() })
	if p.adapter, err = mcpadapter.New(p.catalog); err != nil {
		t.Fatal(err)
	}
	p.write("first")
	return p
}

// write writes a command. The catalog detects the command at once.
func (p project) write(name string) {
	p.Helper()
	must.Do(p, afero.WriteFile(p.fsys, "commands/"+name+".md", []byte(name), 0o644))
	must.Get(p.catalog.List(context.Background(), toolshelf.Page{}))(p)
}

// wait runs the garbage collector until the channel has a value or is closed.
func wait[T any](t *testing.T, event string, c <-chan T) (value T) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		select {
		case value = <-c:
			return value
		default:
			runtime.GC()
		}
	}
	t.Fatalf("after 20 s: no %s", event)
	return value
}

func update(s *server) { s.updates <- s.name }

func TestPromptsUpdatesTheOwnerAfterChanges(t *testing.T) {
	p := newProject(t)
	owner := &server{make(chan string, 10), "owner"}
	follow.Prompts(context.Background(), p.adapter, owner, update)
	p.write("second")
	must.Equal(t, "update got the owner", "owner", wait(t, "update", owner.updates))
	runtime.KeepAlive(owner)
}

func TestPromptsEndsWithItsContext(t *testing.T) {
	p := newProject(t)
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(context.Background())
	owner := &server{make(chan string, 10), "owner"}
	follow.Prompts(ctx, p.adapter, owner, update)
	cancel()
	goleak.VerifyNone(t, before) // waits for the end of the subscription
	p.write("second")
	laterOwner, later := &server{name: "later"}, make(chan struct{}, 10)
	follow.Prompts(context.Background(), p.adapter, laterOwner, func(*server) { later <- struct{}{} })
	p.write("third")
	wait(t, "update of the later owner", later)
	must.Equal(t, "updates after the end of the context", 0, len(owner.updates))
	runtime.KeepAlive(owner)
	runtime.KeepAlive(laterOwner)
}

func TestPromptsDoesNotKeepTheOwnerReachable(t *testing.T) {
	p := newProject(t)
	before := goleak.IgnoreCurrent()
	freed := make(chan struct{})
	func() {
		owner := &server{make(chan string, 10), "owner"}
		runtime.AddCleanup(owner, func(c chan struct{}) { close(c) }, freed)
		follow.Prompts(context.Background(), p.adapter, owner, update)
	}()
	wait(t, "release of the owner", freed)
	goleak.VerifyNone(t, before)
	p.write("second")
}
