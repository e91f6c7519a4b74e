// Api compares the exported API of the module's packages, and the tools of mcpadapter, with the baseline .ci/api.txt,
// the API of the last release.
// A line of the baseline that the API no longer has is an incompatible change. Api prints each incompatible change and
// fails, unless the section "Unreleased" of CHANGELOG.md names the identifier below "### Breaking":
//
//   - `mcpadapter.Adapter.Answer` returns a `Result`.
//
// The name of a tool, such as `tool.list_commands`, stands for all its arguments and results. The prefix is optional.
// The name of a type stands for all its fields and methods. Additions are compatible. With the flag -update, api writes
// the baseline. The program runs in the root directory of the repository:
//
//	go run ./internal/dev/api [-update]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

const (
	baselineFile  = ".ci/api.txt"
	changelogFile = "CHANGELOG.md"
)

func main() {
	update := flag.Bool("update", false, "write the baseline")
	flag.Parse()
	if err := run(*update); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func run(update bool) error {
	current, err := exported()
	if err != nil {
		return err
	}
	tools, err := offered()
	if err != nil {
		return err
	}
	current = append(current, tools...)
	slices.Sort(current)
	if update {
		return os.WriteFile(baselineFile, []byte(strings.Join(current, "\n")+"\n"), 0o644)
	}
	baseline, err := os.ReadFile(baselineFile)
	if err != nil {
		return err
	}
	changelog, err := os.ReadFile(changelogFile)
	if err != nil {
		return err
	}
	return compare(os.Stdout, strings.Split(strings.TrimSpace(string(baseline)), "\n"), current, string(changelog))
}

// compare prints the incompatible changes from the baseline to the current API, and returns an error that lists the
// changes without a line in the changelog.
func compare(out io.Writer, baseline, current []string, changelog string) error {
	named := breaking(changelog)
	var missing []string
	for _, feature := range baseline {
		if slices.Contains(current, feature) {
			continue
		}
		name, _, _ := strings.Cut(feature, ": ")
		fmt.Fprintln(out, "-", feature)
		for _, now := range current {
			if strings.HasPrefix(now, name+": ") && !slices.Contains(baseline, now) {
				fmt.Fprintln(out, "+", now)
			}
		}
		if !named[name] && !named[typeOf(name)] && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("incompatible changes of the API: restore the API, or name these identifiers in %s, below %q of %q: `%s`",
			changelogFile, breakingHeading, unreleasedHeading, strings.Join(missing, "`, `"))
	}
	return nil
}

// typeOf returns the name of the type of a field or a method, and other names unchanged.
func typeOf(name string) string {
	parts := strings.SplitN(name, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
