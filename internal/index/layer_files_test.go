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

// The time to find an entry does not depend on the number of plugins that share the file.
func TestFilesOfManyPartsAreFarApart(t *testing.T) {
	var entries []*Entry
	for i := range 2000 {
		entries = append(entries, &Entry{Path: "commands/go.md", details: &details{part: newPart(Layer{}, partKey{plugin: strconv.Itoa(i)})}})
	}
	f := newLayerFiles(entries, nil)
	longest, run := 0, 0
	for _, slot := range f.slots {
		if run++; slot == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > 200 {
		t.Errorf("a find can look at %d entries", longest)
	}
	for _, e := range entries {
		if f.find(e.Path, e.Part()) != e {
			t.Fatalf("the entry of plugin %q is not found", e.Plugin())
		}
	}
}
