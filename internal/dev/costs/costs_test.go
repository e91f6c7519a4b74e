package main

import (
	"slices"
	"strings"
	"testing"
)

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
	if got := found.compare(found.rows(), true); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}
