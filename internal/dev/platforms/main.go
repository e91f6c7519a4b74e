// Platforms reads the results of .ci/platforms, and prints the numbers of passed and skipped tests of
// each package with the reasons of the skips. DIR has a directory for each platform, with the events
// of its tests. Platforms fails if a test fails, if no test of a package runs, or if the example
// prints another text than on this machine.
//
//	go run ./internal/dev/platforms DIR
package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "platforms:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*", "name"))
	if err != nil {
		return err
	}
	want, err := os.ReadFile(filepath.Join(dir, "quickstart"))
	if err != nil {
		return err
	}
	failed := 0
	for _, name := range names {
		n, err := check(filepath.Dir(name), string(want))
		if err != nil {
			return err
		}
		failed += n
	}
	if failed > 0 {
		return fmt.Errorf("%d failures", failed)
	}
	return nil
}

// check prints the results of a platform, and returns the number of failures.
func check(dir, example string) (failed int, err error) {
	name, err := os.ReadFile(filepath.Join(dir, "name"))
	got, errGot := os.ReadFile(filepath.Join(dir, "quickstart"))
	events, errEvents := os.Open(filepath.Join(dir, "tests.json"))
	if err := errors.Join(err, errGot, errEvents); err != nil {
		return 0, err
	}
	defer events.Close()
	about := strings.ReplaceAll(strings.TrimSpace(string(name)), "\n", ", ")
	if string(got) != example {
		fmt.Printf("--- FAIL: %s: the example prints\n%s", about, got)
		failed++
	}
	packages, err := count(events)
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
	return failed, err
}
