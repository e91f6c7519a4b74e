package platforms

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// module is the path before the paths of the packages.
const module = "github.com/toolshelf-go/toolshelf"

// An event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// The indexes of the numbers of tests without subtests.
const (
	passed = iota
	skipped
	broken
)

// A tested package has the numbers of its tests, the reasons of the skipped tests, and the output
// of the failures.
type tested struct {
	path     string
	numbers  [3]int
	reasons  map[string]int
	failures []string
}

// reason is the text of a skip after the place in the test, or the first line of a failure.
var reason = regexp.MustCompile(`^\s+[\w.]+\.go:\d+: (.*)`)

// count counts the tests of each package. A package without a failed test that fails, such as a
// program that does not start, is a failure. A package without a result of a test, such as a
// program that ends without an error, is a failure too.
func count(events io.Reader) ([]*tested, error) {
	type test struct{ pack, name string } // without a name, the program of the package
	output, results := map[test]string{}, map[test]string{}
	parts := map[test]string{} // by test, the result of a subtest, if any failed the failure
	for d := json.NewDecoder(events); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		at := test{e.Package, e.Test}
		output[at] += e.Output
		if !slices.Contains([]string{"pass", "skip", "fail"}, e.Action) {
			continue
		}
		results[at] = e.Action
		for around := at; around.name != ""; {
			around.name = around.name[:max(0, strings.LastIndex(around.name, "/"))]
			if parts[around] != "fail" {
				parts[around] = e.Action
			}
		}
	}
	packages := map[string]*tested{}
	for at, result := range results {
		p := packages[at.pack]
		if p == nil {
			path := strings.TrimPrefix(strings.TrimPrefix(at.pack, module), "/")
			p = &tested{path: cmp.Or(path, "."), reasons: map[string]int{}}
			packages[at.pack] = p
		}
		switch {
		case result == "fail" && parts[at] != "fail":
			p.numbers[broken]++
			p.failures = append(p.failures, output[at])
		case parts[at] != "" || at.name == "":
		case result == "pass":
			p.numbers[passed]++
		case result == "skip":
			p.numbers[skipped]++
			p.reasons[why(output[at])]++
		}
	}
	for _, p := range packages {
		if p.numbers == [3]int{} {
			p.numbers[broken], p.failures = 1, []string{"no test ran\n"}
		}
	}
	byPath := func(a, b *tested) int { return cmp.Compare(a.path, b.path) }
	return slices.SortedFunc(maps.Values(packages), byPath), nil
}

// why returns the last reason in the output of a test, up to the advice after a semicolon.
func why(output string) (text string) {
	text = "no reason"
	for line := range strings.Lines(output) {
		if match := reason.FindStringSubmatch(line); match != nil {
			text, _, _ = strings.Cut(match[1], ";")
		}
	}
	return cmp.Or(text, "no reason")
}
