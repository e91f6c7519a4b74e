package gosdk_test

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

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

// slowFs takes 400 ms to open each file.
type slowFs struct{ afero.Fs }

func (s slowFs) Open(name string) (afero.File, error) {
	time.Sleep(400 * time.Millisecond) // of the clock of synctest
	return s.Fs.Open(name)
}

// TestASlowClientReceivesFewerReports has a client that reads nothing during the call.
func TestASlowClientReceivesFewerReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := adapterOf(t, slowFs{catalogtest.Memory(t, map[string]string{"a/b/c": "", "d/e/f": ""})})
		w := dial(t, serverOf(t, nil, a))
		id := must.Get(jsonrpc.MakeID("call"))(t)
		params := json.RawMessage(`{"name":"directory_tree","_meta":{"progressToken":1}}`)
		must.Do(t, w.conn.Write(ctx, &jsonrpc.Request{ID: id, Method: "tools/call", Params: params}))
		time.Sleep(time.Hour)
		for reports := 0; ; reports++ {
			if r, ok := must.Get(w.conn.Read(ctx))(t).(*jsonrpc.Response); ok {
				if reports != 2 || r.Error != nil { // the SDK's connection of the client reads one message ahead
					t.Errorf("%d reports before the response %v", reports, r.Error)
				}
				return
			}
		}
	})
}
