// Platforms reads the results of .ci/platforms, and prints the numbers of passed and skipped tests of
// each package with the reasons of the skips. DIR has a directory for each platform, with the events
// of its tests. Platforms fails if a test fails, if no test of a package runs, or if the example
// prints another text than on this machine.
//
//	go run ./internal/dev/platforms DIR
package main

import (
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func main() {
	log.SetFlags(0)
	if failed := run(os.Args[1]); failed > 0 {
		log.Fatalf("platforms: %d failures", failed)
	}
}

// run prints the results of all platforms, and returns the number of failures.
func run(dir string) (failed int) {
	names := must.Get(filepath.Glob(filepath.Join(dir, "*", "name")))(must.Program)
	for _, name := range names {
		failed += check(filepath.Dir(name), read(dir, "quickstart"))
	}
	return failed
}

func read(dir, name string) string {
	return string(must.Get(os.ReadFile(filepath.Join(dir, name)))(must.Program))
}

// check prints the results of a platform, and returns the number of failures.
func check(dir, example string) (failed int) {
	got := read(dir, "quickstart")
	packages := must.Get(count(strings.NewReader(read(dir, "tests.json"))))(must.Program)
	about := strings.ReplaceAll(strings.TrimSpace(read(dir, "name")), "\n", ", ")
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
