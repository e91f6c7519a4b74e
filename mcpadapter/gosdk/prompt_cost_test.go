package gosdk_test

import (
	"fmt"
	"path"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// scanFs counts the scans of the directory of commands.
type scanFs struct {
	afero.Fs
	opened atomic.Int32
}

func (f *scanFs) Open(name string) (afero.File, error) {
	if path.Clean(name) == "commands" {
		f.opened.Add(1)
	}
	return f.Fs.Open(name)
}

// scans returns how often a request scans the commands, compared with one call of
// list_commands.
func (f *scanFs) scans(t *testing.T, a *mcpadapter.Adapter, request func()) float64 {
	t.Helper()
	f.opened.Store(0)
	if _, err := a.Call(ctx, "list_commands", nil); err != nil {
		t.Fatal(err)
	}
	once := f.opened.Swap(0)
	request()
	return float64(f.opened.Load()) / float64(once)
}

func TestRequestsScanTheCommandsOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 70 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "x\n"
	}
	fsys := &scanFs{Fs: memory(t, files)}
	a, _ := adapterOf(t, fsys)
	s := serverOf(t, nil, a)
	for i := range 100 {
		addPrompt(s, fmt.Sprintf("own%03d", i))
	}
	c := connect(t, s, revisions[0], nil)
	var pages [][]string
	if n := fsys.scans(t, a, func() { pages = promptPages(t, c) }); len(pages) != 4 || n != 4 {
		t.Errorf("%d pages of prompts/list looked %g times through the commands, want 4 pages and 4 looks", len(pages), n)
	}
	for _, name := range []string{"own001", "c001", "none"} {
		n := fsys.scans(t, a, func() {
			if _, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: name}); (err != nil) != (name == "none") {
				t.Errorf("%s: %v", name, err)
			}
		})
		if n > 1 {
			t.Errorf("prompts/get of %s looked %g times through the commands, want at most once", name, n)
		}
	}
	n := fsys.scans(t, a, func() {
		if _, err := c.ListTools(ctx, nil); err != nil {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("tools/list looked %g times through the commands", n)
	}
}
