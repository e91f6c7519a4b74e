package adaptertest

import (
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestScansAreMultiplesOfOneList(t *testing.T) {
	fsys := &ScanFs{Fs: catalogtest.Memory(t, project)}
	c := catalog(t, fsys)
	a := adapter(t, c)
	list := func() {
		must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	}
	for want, request := range []func(){func() {}, list, func() { list(); list() }} {
		if got := fsys.Scans(t, a, request); got != float64(want) {
			t.Errorf("got %g scans, want %d", got, want)
		}
	}
}
