package gosdk_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestServersShareOneSubscription(t *testing.T) {
	adaptertest.Collect(t, "ended: the subscriptions of earlier tests", func() bool { return adaptertest.Subscriptions(t) == 0 })
	a, _ := adapterOf(t, memory(t, map[string]string{"commands/commit.md": "x\n"}), mcpadapter.WithTools("list_commands", "get_command"))
	servers := make([]*mcp.Server, 1000)
	for i := range servers {
		servers[i] = serverOf(t, nil, a)
	}
	must.Equal(t, "subscriptions of the servers", 1, adaptertest.Subscriptions(t))
	runtime.KeepAlive(servers)
}

func TestDroppedServersAreFreed(t *testing.T) {
	a, _ := adapterOf(t, memory(t, map[string]string{"commands/commit.md": "x\n"}), mcpadapter.WithTools("list_commands", "get_command"))
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var freed atomic.Int32
	const servers = 1000
	for i := range servers {
		s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		var err error
		if i%2 == 0 {
			err = gosdk.Register(s, a)
		} else {
			err = gosdk.RegisterUntil(ctx, s, a)
		}
		must.Do(t, err)
		runtime.AddCleanup(s, func(int) { freed.Add(1) }, i)
	}
	adaptertest.Collect(t, "freed: every server", func() bool { return freed.Load() == servers })
	adaptertest.Collect(t, "ended: all subscriptions", func() bool { return adaptertest.Subscriptions(t) == 0 })
	goleak.VerifyNone(t, before)
	runtime.KeepAlive(a)
}

// A program may also make a new adapter for each server.
func TestDroppedAdaptersAreFreed(t *testing.T) {
	c := must.Get(toolshelf.New(toolshelf.WithFs(memory(t, map[string]string{"commands/commit.md": "x\n"}))))(t)
	defer c.Close()
	var freed atomic.Int32
	const adapters = 100
	for i := range adapters {
		a := must.Get(mcpadapter.New(c, mcpadapter.WithTools("list_commands", "get_command")))(t)
		serverOf(t, nil, a)
		runtime.AddCleanup(a, func(int) { freed.Add(1) }, i)
	}
	adaptertest.Collect(t, "freed: every adapter", func() bool { return freed.Load() == adapters })
	runtime.KeepAlive(c)
}

func TestServersOfSingleRequestsAreFreed(t *testing.T) {
	a, _ := adapterOf(t, memory(t, map[string]string{"commands/commit.md": "x\n"}), mcpadapter.WithTools("list_commands", "get_command"))
	before := goleak.IgnoreCurrent()
	var made, freed atomic.Int32 // the SDK may ask for more than one server per request
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := serverOf(t, nil, a)
		made.Add(1)
		runtime.AddCleanup(s, func(int) { freed.Add(1) }, 0)
		return s
	}, &mcp.StreamableHTTPOptions{Stateless: true})
	for range 50 {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		must.Equal(t, "w.Code", http.StatusOK, w.Code)
		must.Contain(t, "String", w.Body.String(), `"commit"`)
	}
	adaptertest.Collect(t, "freed: every server", func() bool { return freed.Load() == made.Load() })
	adaptertest.Collect(t, "ended: all subscriptions", func() bool { return adaptertest.Subscriptions(t) == 0 })
	goleak.VerifyNone(t, before)
}

// A server that only its sessions hold announces changes.
func TestServerLivesAsLongAsItsSessions(t *testing.T) {
	fsys := afero.NewMemMapFs()
	a, catalog := adapterOf(t, fsys)
	told := make(chan struct{}, 100)
	promptPages(t, connect(t, serverOf(t, nil, a), revisions[0], &mcp.ClientOptions{
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { told <- struct{}{} },
	}))
	write(t, fsys, "commands/first.md", "x\n")
	if _, err := catalog.List(ctx, toolshelf.Page{}); err != nil { // detects changes from now on
		t.Fatal(err)
	}
	for range 3 {
		runtime.GC()
	}
	write(t, fsys, "commands/commit.md", "x\n")
	must.Get(catalog.List(ctx, toolshelf.Page{}))(t)
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Fatal("the client was not told")
	}
}

func TestRegisterUntilEndsWithItsContext(t *testing.T) {
	adaptertest.Collect(t, "ended: the subscriptions of earlier tests", func() bool { return adaptertest.Subscriptions(t) == 0 })
	a, _ := adapterOf(t, memory(t, map[string]string{"commands/commit.md": "x\n"}), mcpadapter.WithTools("list_commands", "get_command"))
	ctx, cancel := context.WithCancel(ctx)
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	must.Do(t, gosdk.RegisterUntil(ctx, s, a))
	must.Equal(t, "adaptertest.Subscriptions(t)", 1, adaptertest.Subscriptions(t))
	cancel()
	for deadline := time.Now().Add(10 * time.Second); adaptertest.Subscriptions(t) != 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the subscription outlives the context")
		}
	}
	if got := promptPages(t, connect(t, s, revisions[0], nil)); len(got) != 1 || len(got[0]) != 1 {
		t.Errorf("the server no longer serves: got %q", got)
	}
}

// TestASlowClientReceivesFewerReports has a client that reads nothing during the call.
func TestASlowClientReceivesFewerReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, serverOf(t, nil, adaptertest.SlowProject(t)))
		id := must.Get(jsonrpc.MakeID("call"))(t)
		params := json.RawMessage(`{"name":"directory_tree","_meta":{"progressToken":1}}`)
		must.Do(t, w.conn.Write(ctx, &jsonrpc.Request{ID: id, Method: "tools/call", Params: params}))
		time.Sleep(time.Hour)
		for reports := 0; ; reports++ {
			message := must.Get(w.conn.Read(ctx))(t)
			if r, ok := message.(*jsonrpc.Response); ok {
				if reports != 2 || r.Error != nil { // the SDK's connection of the client reads one message ahead
					t.Errorf("%d reports before the response %v", reports, r.Error)
				}
				return
			}
		}
	})
}
