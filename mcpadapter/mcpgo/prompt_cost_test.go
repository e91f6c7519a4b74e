package mcpgo_test

import (
	"fmt"
	"path"
	"sync/atomic"
	"testing"

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
	a := adapterOf(t, fsys)
	s := serverOf(t, a)
	for i := range 100 {
		s.AddPrompt(ownPrompt(fmt.Sprintf("own%03d", i)))
	}
	for _, tt := range []struct {
		method, params string
		want           float64
	}{
		{"prompts/list", `{}`, 1},
		{"tools/list", `{}`, 0},
		{"prompts/get", `{"name":"own001"}`, 1},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"get_command"},"argument":{"name":"command_name","value":""}}`, 1},
	} {
		n := fsys.scans(t, a, func() {
			if got := request(t, s, tt.method, tt.params); got.Error.Code != 0 {
				t.Errorf("%s: got %+v", tt.method, got.Error)
			}
		})
		if n != tt.want {
			t.Errorf("%s %s looked %g times through the commands, want %g", tt.method, tt.params, n, tt.want)
		}
	}
}
