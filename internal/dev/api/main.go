// Api compares the exported API of the module's packages, and the tools of mcpadapter, with the
// file .ci/api.txt, which lists the API of the working tree. If the file is out of date, api prints
// the difference and fails; with the flag -update, api writes the file.
//
// The file of the last release, in the tag with the highest version, is the baseline. A line of the
// baseline that the API no longer has is an incompatible change. Api prints each incompatible
// change and fails, unless a section "Breaking" of CHANGELOG.md above the section of the last
// release names the identifier:
//
//   - `mcpadapter.Adapter.Answer` returns a `Result`.
//
// The name of a tool, such as `tool.list_commands`, stands for all its arguments and results, and
// the name of a type for all its fields and methods. The program runs in the root directory:
//
//	go run ./internal/dev/api [-update]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	apiFile       = ".ci/api.txt"
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
	text := strings.Join(current, "\n") + "\n"
	if update {
		return os.WriteFile(apiFile, []byte(text), 0o644)
	}
	listed, err := os.ReadFile(apiFile)
	if err != nil {
		return err
	}
	if string(listed) != text {
		diff := exec.Command("diff", "-U0", apiFile, "-")
		diff.Stdin, diff.Stdout, diff.Stderr = strings.NewReader(text), os.Stdout, os.Stderr
		_ = diff.Run() // the status says that the texts differ
		return fmt.Errorf("%s is out of date; run .ci/api -update, and review the difference", apiFile)
	}
	tags, err := exec.Command("git", "tag", "--list", "v*", "--sort=-v:refname").Output()
	if err != nil || len(tags) == 0 {
		return err // without a release, every API is compatible
	}
	last, _, _ := strings.Cut(string(tags), "\n")
	baseline, err := exec.Command("git", "show", last+":"+apiFile).Output()
	if err != nil {
		return fmt.Errorf("git show %s:%s: %w", last, apiFile, err)
	}
	changelog, err := os.ReadFile(changelogFile)
	if err != nil {
		return err
	}
	since, _, _ := strings.Cut(string(changelog), "\n## ["+strings.TrimPrefix(last, "v")+"]")
	return compare(os.Stdout, strings.Split(strings.TrimSpace(string(baseline)), "\n"), current, since)
}

// compare prints the incompatible changes from the baseline to the current API, and returns an
// error that lists the changes without a line in the changelog since the last release.
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
		return fmt.Errorf("incompatible changes of the API: restore the API, or name these identifiers in %s, below %q: `%s`",
			changelogFile, breakingHeading, strings.Join(missing, "`, `"))
	}
	return nil
}

// typeOf returns the name of the type of a field or a method, and other names unchanged.
func typeOf(name string) string {
	parts := strings.SplitN(name, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
