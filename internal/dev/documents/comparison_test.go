package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestComparisonNamesTheTestedVersions compares the versions in docs/comparison.md with the
// versions that the tests use.
func TestComparisonNamesTheTestedVersions(t *testing.T) {
	read := func(file string) string {
		return string(must.Get(os.ReadFile(filepath.FromSlash(file)))(t))
	}
	document := read("docs/comparison.md")
	for module, file := range map[string]string{
		"github.com/adrg/frontmatter":             "go.mod",
		"google.golang.org/adk/v2":                "examples/agents/go.mod",
		"github.com/cloudwego/eino":               "examples/agents/go.mod",
		"trpc.group/trpc-go/trpc-agent-go":        "examples/agents/loaders/go.mod",
		"@modelcontextprotocol/server-filesystem": "mcpadapter/gosdk/testdata/clients/package.json",
	} {
		version := regexp.MustCompile(`[\t"]` + regexp.QuoteMeta(module) + `(?: |": ")(v?[0-9.]+)`).FindStringSubmatch(read(file))
		if version == nil {
			t.Errorf("%s has no version of %s", file, module)
		} else if want := module + " " + version[1] + "\n"; !strings.Contains(document, want) {
			t.Errorf("the document does not have %q, the version of %s", want, file)
		}
	}
}
