// Package api is a test, as the package cmd/api of Go. The test compares the exported API of the
// module's packages, and the tools of mcpadapter, with the file .ci/api.txt, which lists the API of
// the working tree. If the file is out of date, the test prints the difference and fails; with the
// flag -update, the test writes the file.
//
// The file of the last release, in the tag with the highest version, is the baseline. A line of the
// baseline that the API no longer has is an incompatible change. The test prints each incompatible
// change and fails, unless a section "Breaking" of CHANGELOG.md above the section of the last
// release names the identifier:
//
//   - `mcpadapter.Adapter.Answer` returns a `Result`.
//
// The name of a tool, such as `tool.list_commands`, stands for all its arguments and results, and
// the name of a type for all its fields and methods.
package api

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var (
	checked = flag.Bool("check", false, "compare the API with the file and with the last release")
	update  = flag.Bool("update", false, "write the file")
)

const (
	apiFile       = ".ci/api.txt"
	changelogFile = "CHANGELOG.md"
)

// The test requires the workspace, so .ci/api starts the test.
func TestTheAPIIsThatOfTheFile(t *testing.T) {
	if !*checked && !*update {
		t.Skip("without -check or -update")
	}
	t.Chdir("../../..")
	current := append(exported(t), offered(t)...)
	slices.Sort(current)
	if *update {
		text := strings.Join(current, "\n") + "\n"
		must.Do(t, os.WriteFile(apiFile, []byte(text), 0o644))
		return
	}
	listed := strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(apiFile))(t))), "\n")
	for _, line := range slices.Concat(listed, current) {
		switch {
		case !slices.Contains(current, line):
			t.Error("-", line)
		case !slices.Contains(listed, line):
			t.Error("+", line)
		}
	}
	if !slices.Equal(listed, current) {
		t.Fatalf("%s is out of date; run .ci/api -update, and review the difference", apiFile)
	}
	tags := must.Get(exec.Command("git", "tag", "--list", "v*", "--sort=-v:refname").Output())(t)
	last, _, _ := strings.Cut(string(tags), "\n")
	if last == "" {
		return // without a release, every API is compatible
	}
	baseline := must.Get(exec.Command("git", "show", last+":"+apiFile).Output())(t)
	changelog := must.Get(os.ReadFile(changelogFile))(t)
	since, _, _ := strings.Cut(string(changelog), "\n## ["+strings.TrimPrefix(last, "v")+"]")
	lines := strings.Split(strings.TrimSpace(string(baseline)), "\n")
	must.Do(t, compare(os.Stdout, lines, current, since))
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

const breakingHeading = "### Breaking"

var (
	code       = regexp.MustCompile("`[^`]*`")
	identifier = regexp.MustCompile(`[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)*`)
)

// breaking returns the identifiers in code spans of the sections Breaking. An identifier without a
// package is in the package toolshelf, or is a tool.
func breaking(changelog string) map[string]bool {
	named := map[string]bool{}
	section := ""
	for line := range strings.Lines(changelog) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") {
			section = line
		} else if section == breakingHeading {
			for _, span := range code.FindAllString(line, -1) {
				for _, name := range identifier.FindAllString(span, -1) {
					named[name] = true
					named["toolshelf."+name] = true
					named["tool."+name] = true
				}
			}
		}
	}
	return named
}
