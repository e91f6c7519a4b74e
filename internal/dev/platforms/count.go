package main

import (
	"bufio"
	"cmp"
	"encoding/json"
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

// An outcome is the result of a test. The numbers count tests without subtests.
type outcome int

const (
	passed outcome = iota
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
	output, results, err := results(events)
	if err != nil {
		return nil, err
	}
	packages := map[string]*tested{}
	for at, result := range results {
		p := packages[at.pack]
		if p == nil {
			p = &tested{path: cmp.Or(strings.TrimPrefix(strings.TrimPrefix(at.pack, module), "/"), "."), reasons: map[string]int{}}
			packages[at.pack] = p
		}
		parent := false
		for other, also := range results {
			parent = parent || at.contains(other) && (result != broken || also == broken)
		}
		if parent || at.name == "" && result != broken {
			continue
		}
		p.numbers[result]++
		switch result {
		case skipped:
			p.reasons[why(output[at])]++
		case broken:
			p.failures = append(p.failures, output[at])
		}
	}
	for _, p := range packages {
		if p.numbers == [3]int{} {
			p.numbers[broken], p.failures = 1, []string{"no test ran\n"}
		}
	}
	return slices.SortedFunc(maps.Values(packages), func(a, b *tested) int { return strings.Compare(a.path, b.path) }), nil
}

// A test is a test or, without a name, the program of a package.
type test struct{ pack, name string }

// contains reports whether another test is a part of the test.
func (t test) contains(other test) bool {
	if other.pack != t.pack {
		return false
	}
	if t.name == "" {
		return other.name != ""
	}
	return strings.HasPrefix(other.name, t.name+"/")
}

// results returns the outputs and the results of the tests.
func results(events io.Reader) (map[test]string, map[test]outcome, error) {
	output, results := map[test]string{}, map[test]outcome{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, nil, err
		}
		at := test{e.Package, e.Test}
		switch e.Action {
		case "output":
			output[at] += e.Output
		case "pass":
			results[at] = passed
		case "skip":
			results[at] = skipped
		case "fail":
			results[at] = broken
		}
	}
	return output, results, lines.Err()
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
