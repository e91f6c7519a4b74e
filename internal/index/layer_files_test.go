package index

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestFindAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]*Entry{}
		var entries []*Entry
		for i := range rapid.IntRange(0, 200).Draw(t, "n") {
			e := &Entry{Path: "commands/" + strconv.Itoa(i)}
			entries, want[e.Path] = append(entries, e), e
		}
		f := newLayerFiles(entries, nil)
		for i := range 2*len(entries) + 1 {
			path := "commands/" + strconv.Itoa(i)
			if f.find(path, nil) != want[path] {
				t.Fatalf("find(%q) of %d entries is %v", path, len(entries), f.find(path, nil))
			}
		}
	})
	if e := new(layerFiles).find("a", nil); e != nil {
		t.Errorf("a layer before the first scan has %v", e)
	}
}
