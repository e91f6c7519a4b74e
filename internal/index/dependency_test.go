package index

import (
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// If a broken header leaves is_dependency unclear, the command is a dependency.
func TestIsDependency(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                                           false,
		"is_dependency: true\n":                                      false,
		"---\na: b\n---\nis_dependency: true\n":                      false,
		"---\nis_dependency: true\n---\n":                            true,
		"---\nis_dependency: \"true\"\n---\n":                        true,
		"---\nis_dependency: yes\n---\n":                             true,
		"---\nis_dependency: 1\n---\n":                               true,
		"---\nis_dependency: false\n---\n":                           false,
		"---\nis_dependency: no\n---\n":                              false,
		"---\nis_dependency:\n---\n":                                 false,
		"---\nis_dependency: null\n---\n":                            false,
		"---\nis_dependency: maybe\n---\n":                           true,
		"---\nis_dependency: [true]\n---\n":                          true,
		"---\nis_dependency: true\nis_dependency: false\n---\n":      false,
		"+++\nis_dependency = true\n+++\n":                           true,
		"{\"is_dependency\": true}\n":                                true,
		"---\n- is_dependency: true\n---\n":                          false,
		"---\nx: [\nis_dependency: true\n---\n":                      true,
		"---\nx: [\n'is_dependency': true\n---\n":                    true,
		"---\nx: [\ny: is_dependency\n---\n":                         false,
		"---\nis_dependency: true\nno end\n":                         true,
		"---\nno end\n":                                              false,
		"---yaml\nis_dependency: true\n---\n":                        true,
		"--- \nname: [x\n  is_dependency : true\n---\nBody.\n":       true,
		"---\ndescription: about is_dependency: [true\n---\nText.\n": false,
	} {
		doc, _ := matter.Parse([]byte(text), true)
		must.Equal(t, text, want, IsDependency(doc, []byte(text)))
	}
}
