package servertest

import (
	"encoding/json"
	"fmt"
	"path"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// A scanFs is a filesystem that counts the scans of the directory "commands".
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

// scans returns the number of scans during request, in multiples of a call of list_commands.
func (f *scanFs) scans(t testing.TB, a *mcpadapter.Adapter, request func()) float64 {
	t.Helper()
	f.opened.Store(0)
	must.Get(a.Call(t.Context(), "list_commands", nil))(t)
	once := f.opened.Swap(0)
	request()
	return float64(f.opened.Load()) / float64(once)
}

func TestScansAreMultiplesOfOneList(t *testing.T) {
	fsys := &scanFs{Fs: catalogtest.Memory(t, map[string]string{"commands/commit.md": "Commit.\n"})}
	c := catalog(t, fsys)
	list := func() {
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	}
	for want, request := range []func(){func() {}, list, func() { list(); list() }} {
		must.Equal(t, "scans", float64(want), fsys.scans(t, adapter(t, c), request))
	}
}

// TestRequestsScanTheCommandsAtMostOnce asks servers that have a prompt of their own, "own".
func TestRequestsScanTheCommandsAtMostOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "Do $1.\n"
	}
	fsys := &scanFs{Fs: catalogtest.Memory(t, files)}
	a := adapter(t, catalog(t, fsys), mcpadapter.WithPageSize(50))
	page := must.Get(a.ListPrompts(t.Context(), nil))(t)
	const complete = `{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":%q,"value":""}}`
	each(t, func(t *testing.T, b binding) {
		var client caller
		if b.start == nil {
			client = b.connect(t, hello, a)
		} else {
			server, call := b.start(t, nil, a, new(atomic.Int32))
			b.addOwn(server)
			client = call()
		}
		for _, of := range []struct {
			method, params string
			most           float64
		}{
			{"prompts/list", `{}`, 1},
			{"prompts/list", fmt.Sprintf(`{"cursor":%q}`, page.NextCursor), 1},
			{"tools/list", `{}`, 0},
			{"prompts/get", `{"name":"c007","arguments":{"1":"x"}}`, 1},
			{"prompts/get", `{"name":"own"}`, 1},
			{"prompts/get", `{"name":"none"}`, 1},
			{"completion/complete", fmt.Sprintf(complete, "c007", "1"), 1},
			{"completion/complete", fmt.Sprintf(complete, "get_command", "command_name"), 1},
			{"completion/complete", fmt.Sprintf(complete, "list_directory", "sort_by"), 1},
		} {
			code := 0
			n := fsys.scans(t, a, func() { _, code = client(t, of.method, json.RawMessage(of.params)) })
			if n > of.most {
				t.Errorf("%s of %s: %g scans, code %d", of.method, of.params, n, code)
			}
		}
	})
	must.Equal(t, "scans of Prompts", 1, fsys.scans(t, a, func() {
		must.Get(a.Prompts(t.Context()))(t)
	}))
	must.Equal(t, "scans of Contains", 0, fsys.scans(t, a, func() {
		for i := range 200 {
			must.Equal(t, "Contains", i < 120, page.Contains(fmt.Sprintf("c%03d", i)))
		}
	}))
}
