package servertest

import (
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestScansAreMultiplesOfOneList(t *testing.T) {
	files := map[string]string{"commands/commit.md": "Commit.\n"}
	fsys := &adaptertest.ScanFs{Fs: catalogtest.Memory(t, files)}
	c := catalogtest.Open(t, toolshelf.WithFs(fsys))
	a := must.Get(mcpadapter.New(c))(t)
	list := func() {
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	}
	for want, request := range []func(){func() {}, list, func() { list(); list() }} {
		must.Equal(t, "Scans", float64(want), fsys.Scans(t, a, request))
	}
}
