package mcpgo_test

import (
	"fmt"
	"testing"

	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestRequestsScanTheCommandsOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 70 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "x\n"
	}
	fsys := &adaptertest.ScanFs{Fs: memory(t, files)}
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
		n := fsys.Scans(t, a, func() {
			if got := request(t, s, tt.method, tt.params); got.Error.Code != 0 {
				t.Errorf("%s: got %+v", tt.method, got.Error)
			}
		})
		if n != tt.want {
			t.Errorf("%s %s scanned the commands %g times, want %g", tt.method, tt.params, n, tt.want)
		}
	}
}
