package gosdk_test

import (
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/measure"
)

// scans returns the number of scans of the commands during a request, in multiples of
// one call of list_commands.
func scans(t *testing.T, fsys *measure.ScanFs, a *mcpadapter.Adapter, request func()) float64 {
	t.Helper()
	return fsys.Scans(func() {
		if _, err := a.Call(ctx, "list_commands", nil); err != nil {
			t.Fatal(err)
		}
	}, request)
}

func TestRequestsScanTheCommandsOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 70 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "x\n"
	}
	fsys := &measure.ScanFs{Fs: memory(t, files)}
	a, _ := adapterOf(t, fsys)
	s := serverOf(t, nil, a)
	for i := range 100 {
		addPrompt(s, fmt.Sprintf("own%03d", i))
	}
	c := connect(t, s, revisions[0], nil)
	var pages [][]string
	if n := scans(t, fsys, a, func() { pages = promptPages(t, c) }); len(pages) != 4 || n != 4 {
		t.Errorf("%d pages of prompts/list scanned the commands %g times, want 4 pages and 4 scans", len(pages), n)
	}
	for _, name := range []string{"own001", "c001", "none"} {
		n := scans(t, fsys, a, func() {
			if _, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: name}); (err != nil) != (name == "none") {
				t.Errorf("%s: %v", name, err)
			}
		})
		if n > 1 {
			t.Errorf("prompts/get of %s scanned the commands %g times, want at most once", name, n)
		}
	}
	n := scans(t, fsys, a, func() {
		if _, err := c.ListTools(ctx, nil); err != nil {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("tools/list scanned the commands %g times", n)
	}
}
