package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"sync"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A remoteFs needs a long time to open the directory "remote": until the first report.
type remoteFs struct {
	afero.Fs
	reported chan struct{}
}

func (r remoteFs) Open(name string) (afero.File, error) {
	if name == "remote" {
		<-r.reported
	}
	return r.Fs.Open(name)
}

// A transport sends the reports of a request to the client, before the response.
func ExampleContextWithProgress() {
	fsys := remoteFs{afero.NewMemMapFs(), make(chan struct{})}
	if err := afero.WriteFile(fsys.Fs, "remote/notes.txt", []byte("Notes\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	var first sync.Once
	ctx := mcpadapter.ContextWithProgress(context.Background(), func(p mcpadapter.ProgressNotification) {
		first.Do(func() { // the number of further reports depends on the machine
			params, err := json.Marshal(p)
			fmt.Println("notifications/progress", string(params), err)
			close(fsys.reported)
		})
	})
	params := `{"name":"search_files","arguments":{"pattern":"*.txt"},"_meta":{"progressToken":"search-1",` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`
	result, err := adapter.NewSession().Handle(ctx, "tools/call", json.RawMessage(params))
	var found struct{ Content []struct{ Text string } }
	fmt.Println(json.Unmarshal(result, &found), found.Content, err)
	// Output:
	// notifications/progress {"progressToken":"search-1","progress":1,"message":"Entries seen: 1"} <nil>
	// <nil> [{Found 1 file:
	//
	// remote/notes.txt}] <nil>
}
