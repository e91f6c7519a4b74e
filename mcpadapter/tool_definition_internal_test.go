package mcpadapter

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

// strictly decodes JSON, and fails the test for a member that value does not have.
func strictly(t *testing.T, raw []byte, value any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}

func TestTheFileOfToolsHasOnlyKnownMembers(t *testing.T) {
	type parameter schema.Parameter // without the method UnmarshalJSON
	var file struct {
		Parameters map[string]parameter
		Tools      []definition
	}
	strictly(t, toolsFile, &file)
	needs := []string{"", "commands", "skills", "agents", "instructions", "reports"}
	var names []string
	for _, d := range file.Tools {
		names = append(names, d.Name)
		if _, ok := errorShapes[d.Errors]; !ok || !slices.Contains(needs, d.Needs) {
			t.Errorf("%s: errors %q, needs %q", d.Name, d.Errors, d.Needs)
		}
		for _, raw := range d.Parameters {
			var shared string
			if json.Unmarshal(raw, &shared) != nil {
				strictly(t, raw, new(parameter))
			} else if _, ok := file.Parameters[shared]; !ok {
				t.Errorf("%s: no shared parameter %s", d.Name, shared)
			}
		}
	}
	slices.Sort(names)
	must.Match(t, "tools", slices.Sorted(maps.Keys(runs)), names)
}
