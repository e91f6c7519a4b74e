// Package costs is the test of .ci/costs: it compares the counted costs with the table
// .ci/costs.txt, and checks how costs grow.
//
// The table, and the files allocations and blocks of the directory -counts, have the format of Go
// benchmarks. The file calls is the output of strace; without the file, the test does not check
// system calls.
package costs

import (
	"cmp"
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
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var (
	counted = flag.String("counts", "", "`directory` of the counts")
	update  = flag.Bool("update", false, "write the table")
)

const (
	table       = "../../../.ci/costs.txt"
	tabled      = "BenchmarkCosts/" // of the benchmarks of the table
	ceiling     = 1.03              // of allocations and bytes; system calls are equal
	maxExponent = 1.15              // of a cost, to the number of entries
	maxKinds    = 3                 // of queries without a hit, to queries for rare words
)

// counts are the costs of a call, by benchmark and unit, such as allocs/op, blocks/op and
// openat/op.
type counts map[string]map[string]float64

func TestTheCostsAreThoseOfTheTable(t *testing.T) {
	if *counted == "" {
		t.Skip("without -counts")
	}
	read := func(name string) string {
		return string(must.Get(os.ReadFile(filepath.Join(*counted, name)))(t))
	}
	calls, err := os.ReadFile(filepath.Join(*counted, "calls"))
	found := counts{}
	found.addBenchmarks(read("allocations") + read("blocks"))
	found.addCalls(string(calls))

	head := "toolchain: " + runtime.Version() + "\n"
	if *update {
		must.Do(t, err)
		must.Do(t, os.WriteFile(table, []byte(head+found.rows()), 0o644))
	}
	kept := string(must.Get(os.ReadFile(table))(t))
	problems := append(found.growth(), found.kinds()...)
	if strings.HasPrefix(kept, head) {
		problems = append(problems, found.compare(kept, err == nil)...)
	} else {
		fmt.Println("NOT CHECKED: the table of costs, which is of another release of Go")
	}
	for _, problem := range problems {
		t.Error(problem)
	}
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

const (
	row   = "BenchmarkCosts/Get 1 100 allocs/op 1000 B/op 1 statx/op\n"
	rare  = "BenchmarkGrowth/Search/rare/large 1 10 B/op 10 blocks/op\n"
	none  = "BenchmarkGrowth/Search/none/large 1 10 B/op 30 blocks/op\n"
	small = "BenchmarkGrowth/Get/small 1 10 B/op 1 entries\n"
	large = "BenchmarkGrowth/Get/large 1 100 B/op 10 entries\n"
)

func TestProblems(t *testing.T) {
	mark := func(divisor string) string {
		return "7 openat(AT_FDCWD, \"costs: BenchmarkCosts/Get " + divisor + "\", O_RDONLY) = -1\n"
	}
	const closed, ended = "7 close(3) = 0\n", "7 openat(AT_FDCWD, \"costs: \", O_RDONLY) = -1\n"
	for _, tt := range []struct{ name, found, calls, want string }{
		{"equal", row, "", ""},
		{"within 3 %", "BenchmarkCosts/Get 1 103 allocs/op 500 B/op 1 statx/op\n", "", ""},
		{"more allocations", "BenchmarkCosts/Get 1 104 allocs/op 9 B/op 1 statx/op\n", "",
			"BenchmarkCosts/Get: 104 allocs/op, not 100"},
		{"another row", row + "BenchmarkCosts/List 1 1 allocs/op\n", "",
			"BenchmarkCosts/List: a row without an operation, or a new operation"},
		{"a further system call", row, mark("1") + closed + "7 <... read resumed>) = 0\n",
			"BenchmarkCosts/Get: 1 close/op, not 0"},
		{"a system call fewer", strings.Replace(row, "1 statx/op", "", 1), "",
			"BenchmarkCosts/Get: 0 statx/op, not 1"},
		{"equal sections", row, mark("-2") + closed + mark("2") + closed + ended, ""},
		{"a system call between sections", row, mark("-2") + ended + closed + mark("2") + ended, ""},
		{"a system call of the runtime", row, mark("1") + "7 read(4<anon_inode:[eventfd]>) = 8\n", ""},
		{"quadratic growth", row + "BenchmarkGrowth/Get/large 1 900 B/op\n", "",
			"BenchmarkGrowth/Get: B/op has exponent 2.00"},
		{"growth of each of the entries", row + strings.ReplaceAll(small+large, "Get", "each/Call"), "",
			"BenchmarkGrowth/each/Call: B/op has exponent 2.00"},
		{"slow queries without a hit", row + none, "",
			"blocks/op of queries without a hit are 6.00 × rare words"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := counts{}
			found.addBenchmarks(tt.found + rare + none + small + large)
			found.addCalls(tt.calls)
			got := slices.Concat(found.compare(row, true), found.growth(), found.kinds())
			if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTheTableReadsBack(t *testing.T) {
	found := counts{}
	found.addBenchmarks(row + rare)
	if got := found.rows(); !strings.HasPrefix(got, "BenchmarkCosts/Get ") || strings.Contains(got, "rare") {
		t.Errorf("got %q", got)
	}
	must.Len(t, "compare", 0, found.compare(found.rows(), true))
}
