package plugins

import (
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReaderReadsTheFixture compares the reader with the list of entries, which does not come from
// a program.
func TestReaderReadsTheFixture(t *testing.T) {
	market, err := Write(t.TempDir())
	if err != nil {
		t.Skip(err) // a system without links
	}
	for name, fsys := range map[string]fs.FS{"memory": Memory(), "disk": os.DirFS(market)} {
		set := Read(fsys, ".")
		var got []string
		for _, e := range set.Entries {
			got = append(got, e.Line())
		}
		want := Want()
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: entries (-want +got):\n%s", name, diff)
		}
		if len(set.Plugins) < 40 || len(set.Remote) != 6 {
			t.Errorf("%s: %d plugins and %d remote entries, want 40 and 6", name, len(set.Plugins), len(set.Remote))
		}
	}
}
