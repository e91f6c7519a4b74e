package adaptertest

import (
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestScansAreMultiplesOfOneList(t *testing.T) {
	fsys := &ScanFs{Fs: memory(t, project)}
	c := catalog(t, fsys)
	a := adapter(t, c)
	list := func() {
		if _, err := c.List(t.Context(), toolshelf.Page{}); err != nil {
			t.Fatal(err)
		}
	}
	for want, request := range []func(){func() {}, list, func() { list(); list() }} {
		if got := fsys.Scans(t, a, request); got != float64(want) {
			t.Errorf("got %g scans, want %d", got, want)
		}
	}
}
