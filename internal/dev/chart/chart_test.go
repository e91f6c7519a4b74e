// Package chart draws docs/benchmarks.svg: a chart of the benchmarks that compare the library with
// the floor, only the necessary system calls, and with the usual way of programs. Each bar is the
// median of a ratio over all runs in .ci/benchmarks.txt.
package chart

import (
	_ "embed"
	"encoding/xml"
	"flag"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

const svg = "../../../docs/benchmarks.svg"

var update = flag.Bool("update", false, "write docs/benchmarks.svg")

// read returns the text of a file.
func read(t *testing.T, file string) string {
	t.Helper()
	return strings.ReplaceAll(string(must.Get(os.ReadFile(file))(t)), "\r\n", "\n")
}

// measured returns the stored results of the benchmarks.
func measured(t *testing.T) string { return read(t, "../../../.ci/benchmarks.txt") }

func chartOf(t *testing.T, output string) string {
	t.Helper()
	return must.Get(draw(output))(t)
}

// TestChartOfTheDocumentsIsUpToDate compares docs/benchmarks.svg with the chart of the stored
// results.
func TestChartOfTheDocumentsIsUpToDate(t *testing.T) {
	got := chartOf(t, measured(t))
	if *update {
		must.Do(t, os.WriteFile(svg, []byte(got), 0o644))
	}
	must.Match(t, "the chart", read(t, svg), got)
}

// TestChartEscapesTheOutput reads the chart as XML. The name of a CPU must stay a text.
func TestChartEscapesTheOutput(t *testing.T) {
	const cpu = `</text><script href="x">alert(1)</script> & 'CPU' ]]>`
	decoder := xml.NewDecoder(strings.NewReader(chartOf(t, measured(t)+"cpu: "+cpu+"\n")))
	texts := ""
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		must.Do(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "script" {
				t.Error("the chart has an element of the name of the CPU")
			}
		case xml.CharData:
			texts += string(token)
		}
	}
	must.Contain(t, "the texts of the chart", texts, cpu)
}

func TestBarsAreTheMediansOfTheRuns(t *testing.T) {
	const runs = "BenchmarkTree-2 1 9 ours/floor\n"
	got := chartOf(t, measured(t)+strings.Repeat(runs, 5)+strings.Repeat(strings.Replace(runs, "9", "8", 1), 20))
	must.Contain(t, "the chart", got, ">8.0×<")
	must.NotContain(t, "the chart", got, ">9.0×<")
}

func TestMissingAndBrokenResultsAreErrors(t *testing.T) {
	for _, tt := range []struct{ name, output, want string }{
		{"no output", "", "no result of BenchmarkListCold/public in ours/floor"},
		{"a missing unit", strings.ReplaceAll(measured(t), "ours/os.ReadDir", "ours/ioutil"), "no result of BenchmarkListDir/10 in ours/os.ReadDir"},
		{"no number", "BenchmarkTree-2 1 many ours/floor\n", "not a result of a benchmark"},
		{"no unit", "BenchmarkTree-2 1 2 ours/floor 3\n", "not a result of a benchmark"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := draw(tt.output); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A row compares one call with its floor and, if usual is not empty, with the usual way of
// programs.
type row struct {
	title     string
	benchmark string // without "Benchmark"
	floor     string // the unit of the ratio of the library to the floor
	usual     string // the unit of the ratio of the library to the usual way
}

var rows = []row{
	{"List 10,000 commands, new catalog", "ListCold/public", "ours/floor", "ours/naive"},
	{"the same, only plain YAML headers", "ListCold/plain", "ours/floor", "ours/naive"},
	{"List 10,000 commands again", "ListWarm/10000", "ours/floor", ""},
	{"Get one of 10,000 commands again", "GetWarm", "ours/stat", "ours/read"},
	{"ListSkills of 5,000, new catalog", "ListSkills5000/cold/public", "cold/floor", "cold/naive"},
	{"ListSkills of 5,000 again", "ListSkills5000/warm", "warm/floor", "warm/naive"},
	{"ListDir of 10 files", "ListDir/10", "ours/floor", "ours/os.ReadDir"},
	{"ListDir of 1,000 files", "ListDir/1000", "ours/floor", "ours/os.ReadDir"},
	{"ListDir of 10,000 files", "ListDir/10000", "ours/floor", "ours/os.ReadDir"},
	{"Tree of 100,000 files", "Tree", "ours/floor", "ours/filepath.WalkDir"},
	{"FindFiles in 100,000 files", "FindFiles/names", "ours/floor", "ours/filepath.WalkDir"},
	{"the same, with Gitignore", "FindFiles/gitignore", "ours/floor", "ours/filepath.WalkDir"},
	{"first Search of 10,000 commands", "SearchFirst/public", "first/read", "first/naive"},
}

//go:embed chart.svg
var source string

var chart = template.Must(template.New("chart").Parse(source))

// The axis is logarithmic. The line of the floor, 1, separates faster from slower. A bar of a value
// outside the axis ends at the end of the axis.
const (
	axisStart, axisEnd   = 0.1, 50.0
	plotStart, plotWidth = 300, 430
	top, rowHeight       = 92, 36
)

// x is the horizontal position of a ratio.
func x(ratio float64) float64 {
	ratio = min(max(ratio, axisStart), axisEnd)
	return math.Round(plotStart + plotWidth*math.Log(ratio/axisStart)/math.Log(axisEnd/axisStart))
}

// A bar extends from the line of the floor to a ratio.
type bar struct {
	Class       string
	X, Width, Y float64
	Label       string
	LabelX      float64
}

func newBar(class string, ratio, y float64) bar {
	from, to := min(x(1), x(ratio)), max(x(1), x(ratio))
	return bar{class, from, max(to-from, 1), y, label(ratio), to + 5}
}

// label is a ratio with two significant digits.
func label(ratio float64) string {
	switch {
	case ratio >= 10:
		return fmt.Sprintf("%.0f×", ratio)
	case ratio >= 1:
		return fmt.Sprintf("%.1f×", ratio)
	case ratio >= 0.01:
		return fmt.Sprintf("%.2f×", ratio)
	}
	return fmt.Sprintf("1/%.0f", 1/ratio)
}

type drawnRow struct {
	Title, Benchmark string
	Y                float64
	Bars             []bar
}

// draw returns the chart of the output of go test -bench.
func draw(output string) (string, error) {
	r, err := parse(output)
	if err != nil {
		return "", err
	}
	var drawn []drawnRow
	for i, row := range rows {
		y := float64(top + i*rowHeight)
		ours, err := r.median(row.benchmark, row.floor)
		bars := []bar{newBar("ours", ours, y)}
		if row.usual != "" && err == nil {
			var ratio float64
			ratio, err = r.median(row.benchmark, row.usual)
			bars = append(bars, newBar("usual", ours/ratio, y+13))
		}
		if err != nil {
			return "", err
		}
		drawn = append(drawn, drawnRow{row.title, row.benchmark, y, bars})
	}
	ticks := map[float64]string{} // labels by their places
	for _, ratio := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50} {
		ticks[x(ratio)] = fmt.Sprintf("%g×", ratio)
	}
	var out strings.Builder
	err = chart.Execute(&out, map[string]any{
		"System": r.system, "Rows": drawn, "Ticks": ticks, "Floor": x(1),
		"Top": top - 8, "Bottom": top + len(rows)*rowHeight - 6, "Height": top + len(rows)*rowHeight + 30,
	})
	return out.String(), err
}

// results are the results of benchmarks.
type results struct {
	system string               // the operating system, the architecture and the CPU of the runs
	values map[string][]float64 // by the name of the benchmark without "Benchmark" and the number of CPUs, a blank and the unit
}

var procs = regexp.MustCompile(`-\d+$`)

// parse reads the output of go test -bench.
func parse(output string) (results, error) {
	r := results{values: map[string][]float64{}}
	config := map[string]string{}
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
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
	return r, nil
}

// median returns the median of all values of a unit of a benchmark.
func (r results) median(benchmark, unit string) (float64, error) {
	values := slices.Sorted(slices.Values(r.values[benchmark+" "+unit]))
	if len(values) == 0 {
		return 0, fmt.Errorf("no result of Benchmark%s in %s; run .ci/benchmarks -update", benchmark, unit)
	}
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2, nil
}
