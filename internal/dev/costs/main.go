// Costs compares the costs that .ci/costs counts with the table .ci/costs.txt, and checks how costs
// grow.
//
//	costs [-update] TABLE DIRECTORY
//
// The table, and the files allocations and blocks of the directory, have the format of Go
// benchmarks. The file calls is the output of strace; without the file, the program does not check
// system calls.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

const (
	tabled      = "BenchmarkCosts/" // of the benchmarks of the table
	ceiling     = 1.03              // of allocations and bytes; system calls are equal
	maxExponent = 1.15              // of a cost, to the number of entries
	maxKinds    = 3                 // of queries without a hit, to queries for rare words
)

// counts are the costs of a call, by benchmark and unit, such as allocs/op, blocks/op and
// openat/op.
type counts map[string]map[string]float64

func main() {
	update := flag.Bool("update", false, "write the table")
	flag.Parse()
	if err := run(*update, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(update bool, table, dir string) error {
	allocations, err := os.ReadFile(filepath.Join(dir, "allocations"))
	blocks, blocksErr := os.ReadFile(filepath.Join(dir, "blocks"))
	calls, callsErr := os.ReadFile(filepath.Join(dir, "calls"))
	traced := callsErr == nil
	if err := errors.Join(err, blocksErr); err != nil {
		return err
	}
	found := counts{}
	found.addBenchmarks(string(allocations) + string(blocks))
	found.addCalls(string(calls))

	head := "toolchain: " + runtime.Version() + "\n"
	if update {
		return cmp.Or(callsErr, os.WriteFile(table, []byte(head+found.rows()), 0o644))
	}
	kept, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	problems := append(found.growth(), found.kinds()...)
	if strings.HasPrefix(string(kept), head) {
		problems = append(problems, found.compare(string(kept), traced)...)
	} else {
		fmt.Println("NOT CHECKED: the table of costs, which is of another release of Go")
	}
	if len(problems) > 0 {
		return fmt.Errorf("costs:\n%s", strings.Join(problems, "\n"))
	}
	return nil
}

func (c counts) add(benchmark, unit string, n float64) {
	if c[benchmark] == nil {
		c[benchmark] = map[string]float64{}
	}
	c[benchmark][unit] += n
}

// addBenchmarks adds the costs of lines such as "BenchmarkCosts/Render 1 23 allocs/op".
func (c counts) addBenchmarks(text string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		for pair := range slices.Chunk(fields[2:], 2) {
			if n, err := strconv.ParseFloat(pair[0], 64); err == nil && len(pair) == 2 {
				c.add(fields[0], pair[1], n)
			}
		}
	}
}

var (
	mark = regexp.MustCompile(`"costs: (?:(\S+) (-?\d+))?"`)
	call = regexp.MustCompile(`^\d+ +(\w+)\(`)
)

// addCalls adds the system calls of an output of strace. A mark names the benchmark of the
// following system calls, and the divisor of their number. Reads of anonymous files are of the
// runtime.
func (c counts) addCalls(text string) {
	benchmark, divisor := "", 0.0
	for line := range strings.Lines(text) {
		if m := mark.FindStringSubmatch(line); m != nil {
			benchmark = m[1]
			divisor, _ = strconv.ParseFloat(cmp.Or(m[2], "0"), 64)
			continue
		}
		m := call.FindStringSubmatch(line)
		if m != nil && divisor != 0 && !strings.Contains(line, "anon_inode:") {
			unit := "calls/op"
			if strings.HasPrefix(benchmark, tabled) {
				unit = m[1] + "/op"
			}
			c.add(benchmark, unit, 1/divisor)
		}
	}
}

// compare returns the differences of the benchmarks of the table to the table.
func (c counts) compare(text string, traced bool) (problems []string) {
	table := counts{}
	table.addBenchmarks(text)
	for _, name := range union(c, table) {
		switch {
		case !strings.HasPrefix(name, tabled):
			continue
		case c[name] == nil || table[name] == nil:
			problems = append(problems, name+": a row without an operation, or a new operation")
			continue
		}
		for _, unit := range union(c[name], table[name]) {
			got, want := c[name][unit], table[name][unit]
			bad := traced && got != want
			if unit == "allocs/op" || unit == "B/op" {
				bad = got > ceiling*want
			}
			if bad {
				problems = append(problems, fmt.Sprintf("%s: %.10g %s, not %.10g", name, got, unit, want))
			}
		}
	}
	return problems
}

// rows returns the rows of the table.
func (c counts) rows() string {
	var s strings.Builder
	for _, name := range union(c, nil) {
		if !strings.HasPrefix(name, tabled) {
			continue
		}
		fmt.Fprintf(&s, "%-36s 1", name)
		for _, unit := range union(c[name], nil) {
			if n := c[name][unit]; n != 0 {
				fmt.Fprintf(&s, "  %s %s", strconv.FormatFloat(n, 'f', -1, 64), unit)
			}
		}
		s.WriteString("\n")
	}
	return s.String()
}

// union returns the sorted keys of two maps.
func union[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// growth prints the exponents of the costs of BenchmarkGrowth, and returns the exponents that are
// too large. A benchmark below "each" makes the calls for four of the entries in place of the calls
// for all entries, so the exponent is one more.
func (c counts) growth() (problems []string) {
	for _, small := range union(c, nil) {
		name, ok := strings.CutSuffix(small, "/small")
		if !ok {
			continue
		}
		few, many := c[small], c[name+"/large"]
		for _, unit := range []string{"calls/op", "B/op", "blocks/op"} {
			if many[unit] == 0 {
				continue
			}
			factor := many[unit] / max(few[unit], 1)
			exponent := math.Log(factor) / math.Log(many["entries"]/few["entries"])
			if strings.Contains(name, "/each/") {
				exponent++
			}
			line := fmt.Sprintf("%s: %s has exponent %.2f", name, unit, exponent)
			fmt.Printf("%s, at most %g\n", line, maxExponent)
			if exponent > maxExponent || math.IsNaN(exponent) {
				problems = append(problems, line)
			}
		}
	}
	return problems
}

// kinds prints the costs of two kinds of queries, and returns the costs that differ too much.
func (c counts) kinds() (problems []string) {
	none, rare := c["BenchmarkGrowth/Search/none/large"], c["BenchmarkGrowth/Search/rare/large"]
	for _, unit := range []string{"B/op", "blocks/op"} {
		factor := none[unit] / rare[unit]
		line := fmt.Sprintf("%s of queries without a hit are %.2f × rare words", unit, factor)
		fmt.Printf("%s, at most %d\n", line, maxKinds)
		if factor > maxKinds || math.IsNaN(factor) {
			problems = append(problems, line)
		}
	}
	return problems
}
