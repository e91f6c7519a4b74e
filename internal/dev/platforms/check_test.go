// Package platforms is the test of .ci/platforms: it prints the numbers of passed and skipped tests
// of each package with the reasons of the skips. The directory -results has a directory for each
// platform, with the events of its tests. The test fails if a test fails, if no test of a package
// runs, or if the example prints another text than on this machine.
package platforms

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var results = flag.String("results", "", "`directory` of the results")

func TestTheTestsPassOnEachPlatform(t *testing.T) {
	if *results == "" {
		t.Skip("without -results")
	}
	must.Equal(t, "failures", 0, run(t, *results))
}

// run prints the results of all platforms, and returns the number of failures.
func run(t *testing.T, dir string) (failed int) {
	names := must.Get(filepath.Glob(filepath.Join(dir, "*", "name")))(t)
	for _, name := range names {
		failed += check(t, filepath.Dir(name), read(t, dir, "quickstart"))
	}
	return failed
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t))
}

// check prints the results of a platform, and returns the number of failures.
func check(t *testing.T, dir, example string) (failed int) {
	got := read(t, dir, "quickstart")
	packages := must.Get(count(strings.NewReader(read(t, dir, "tests.json"))))(t)
	about := strings.ReplaceAll(strings.TrimSpace(read(t, dir, "name")), "\n", ", ")
	if got != example {
		fmt.Printf("--- FAIL: %s: the example prints\n%s", about, got)
		failed++
	}
	if len(packages) == 0 {
		failed++
	}
	for _, p := range packages {
		fmt.Printf("%s, %s: %d passed, %d skipped, %d failed\n", about, p.path, p.numbers[passed],
			p.numbers[skipped], p.numbers[broken])
		for _, reason := range slices.Sorted(maps.Keys(p.reasons)) {
			fmt.Printf("\t%d × %s\n", p.reasons[reason], reason)
		}
		for _, failure := range p.failures {
			fmt.Printf("--- FAIL: %s, %s\n%s", about, p.path, failure)
		}
		failed += p.numbers[broken]
	}
	return failed
}
