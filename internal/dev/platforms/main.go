// Platforms reads the results of .ci/platforms: a directory for each platform, with the events of
// its tests. Platforms fails if a test fails, if no test of a package runs, if the example prints
// another text than on this machine, or if the table of results.md has other packages or lacks the
// reason of a skip. With the flag -update, platforms writes the table. The rows of platforms that
// did not run stay. The program runs in the root directory of the repository:
//
//	go run ./internal/dev/platforms [-update] DIR
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const document = "internal/dev/platforms/results.md"

func main() {
	update := flag.Bool("update", false, "write the table")
	flag.Parse()
	if err := run(flag.Arg(0), *update); err != nil {
		fmt.Fprintln(os.Stderr, "platforms:", err)
		os.Exit(1)
	}
}

func run(dir string, update bool) error {
	ran, err := read(dir)
	if err != nil {
		return err
	}
	failed := 0
	for _, p := range ran {
		fmt.Printf("%s, %s, %s: %d passed, %d skipped, %d failed\n", p.name, p.emulator, p.example, p.sum(passed), p.sum(skipped), p.sum(broken))
		failed += p.sum(broken)
		for _, pack := range p.packages {
			for _, failure := range pack.failures {
				fmt.Printf("--- FAIL: %s, %s\n%s", p.name, pack.path, failure)
			}
		}
		if p.example != same || len(p.packages) == 0 {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d failures", failed)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, table, after, err := cut(string(text))
	if err != nil {
		return err
	}
	if update {
		return os.WriteFile(document, []byte(before+merged(table, ran)+after), 0o644)
	}
	if stale := differences(table, ran); len(stale) > 0 {
		return fmt.Errorf("%s lacks these rows, or has these rows for packages that did not run; run .ci/platforms -update:\n%s", document, strings.Join(stale, "\n"))
	}
	return nil
}

// read returns the results of the platforms in the order of their names.
func read(dir string) (all []*platform, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "name"))
	if err != nil {
		return nil, err
	}
	want, err := os.ReadFile(filepath.Join(dir, "quickstart"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(text), "\n")
		p := &platform{name: lines[0], emulator: lines[1], date: time.Now().UTC().Format(time.DateOnly), release: runtime.Version()}
		got, err := os.ReadFile(filepath.Join(filepath.Dir(name), "quickstart"))
		if err != nil {
			return nil, err
		}
		if p.example = same; string(got) != string(want) {
			p.example = fmt.Sprintf("the example prints\n%s", got)
		}
		events, err := os.Open(filepath.Join(filepath.Dir(name), "tests.json"))
		if err != nil {
			return nil, err
		}
		p.packages, err = count(events)
		events.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
