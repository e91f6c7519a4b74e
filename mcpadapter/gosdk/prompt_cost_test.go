package gosdk_test

import (
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestRequestsScanTheCommandsOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 70 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "x\n"
	}
	fsys := &adaptertest.ScanFs{Fs: memory(t, files)}
	a, _ := adapterOf(t, fsys, mcpadapter.WithPageSize(50))
	s := serverOf(t, nil, a)
	for i := range 100 {
		addPrompt(s, fmt.Sprintf("own%03d", i))
	}
	c := connect(t, s, revisions[0], nil)
	var pages [][]string
	if n := fsys.Scans(t, a, func() { pages = promptPages(t, c) }); len(pages) != 4 || n != 4 {
		t.Errorf("%d pages of prompts/list scanned the commands %g times, want 4 pages and 4 scans", len(pages), n)
	}
	for _, name := range []string{"own001", "c001", "none"} {
		n := fsys.Scans(t, a, func() {
			if _, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: name}); (err != nil) != (name == "none") {
				t.Errorf("%s: %v", name, err)
			}
		})
		if n > 1 {
			t.Errorf("prompts/get of %s scanned the commands %g times, want at most once", name, n)
		}
	}
	n := fsys.Scans(t, a, func() {
		if _, err := c.ListTools(ctx, nil); err != nil {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("tools/list scanned the commands %g times", n)
	}
}
