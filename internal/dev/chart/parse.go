package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are the results of benchmarks.
type results struct {
	system string               // the operating system, the architecture and the CPU of the runs
	values map[string][]float64 // by the name of the benchmark without "Benchmark" and the number of CPUs, a blank and the unit
}

var procs = regexp.MustCompile(`-\d+$`)

// parse reads the output of go test -bench.
func parse(in io.Reader) (results, error) {
	r := results{values: map[string][]float64{}}
	config := map[string]string{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "Benchmark") {
			config[key] = value
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := procs.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		for pair := range slices.Chunk(fields[2:], 2) {
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil || len(pair) != 2 {
				return results{}, fmt.Errorf("not a result of a benchmark: %q", line)
			}
			r.values[name+" "+pair[1]] = append(r.values[name+" "+pair[1]], value)
		}
	}
	r.system = config["goos"] + "/" + config["goarch"] + ", " + config["cpu"]
	return r, lines.Err()
}

// median returns the median of all values of a unit of a benchmark.
func (r results) median(benchmark, unit string) (float64, error) {
	values := slices.Sorted(slices.Values(r.values[benchmark+" "+unit]))
	if len(values) == 0 {
		return 0, fmt.Errorf("no result of Benchmark%s in %s; run .ci/benchmarks -update", benchmark, unit)
	}
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2, nil
}
